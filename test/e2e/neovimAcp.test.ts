import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import t from 'tap';
import { needs } from '../support/parts.ts';
import { startStandIn } from '../support/runnerStandIn.ts';
import { patience } from '../support/waiting.ts';

/** A chat in Lua alone: one prompt to its end, and one that is cancelled at its first words. */
const script = `
local answers, chunks, rest = {}, {}, ''
local function take(line)
  local message = vim.json.decode(line)
  if message.id then answers[message.id] = message.result or message.error end
  local update = message.params and message.params.update
  if update and update.sessionUpdate == 'agent_message_chunk' then chunks[#chunks + 1] = update.content.text end
end
local job = vim.fn.jobstart({ vim.env.NODE, vim.env.RUNNERD, '--acp' }, {
  on_stdout = function(_, pieces)
    for index, piece in ipairs(pieces) do
      if index > 1 then take(rest); rest = '' end
      rest = rest .. piece
    end
  end,
})
local function send(id, method, params)
  vim.fn.chansend(job, vim.json.encode({ jsonrpc = '2.0', id = id, method = method, params = params }) .. '\\n')
end
local function answer(id)
  assert(vim.wait(8000, function() return answers[id] end, 5), 'no answer to ' .. id)
  return answers[id]
end
send(1, 'initialize', { protocolVersion = 1 })
answer(1)
send(2, 'session/new', { cwd = vim.fn.getcwd(), mcpServers = {} })
local opened = answer(2)
local function ask(id, text)
  chunks = {}
  send(id, 'session/prompt', { sessionId = opened.sessionId, prompt = { { type = 'text', text = text } } })
end
ask(3, 'Why?')
local whole = { reason = answer(3).stopReason, text = table.concat(chunks) }
ask(4, 'Count')
assert(vim.wait(8000, function() return #chunks > 0 end, 5), 'nothing came')
send(nil, 'session/cancel', { sessionId = opened.sessionId })
local cut = { reason = answer(4).stopReason }
local file = io.open(vim.env.OUT, 'w')
file:write(vim.fn.json_encode({ model = opened.configOptions[1].currentValue, whole = whole, cut = cut }))
file:close()
vim.cmd('qa!')
`;

t.test('Neovim chats with a model without a plugin', needs('systemNeovim'), async (t) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'runner-neovim-acp-')));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const runner = await startStandIn({ models: [{ name: 'small:1b' }] });
  t.teardown(() => runner.close());
  runner.say('Because of its *light*: „blau“.');
  runner.tokens(1_000_000, { perSecond: 200 });
  const [recipe, out] = [join(folder, 'recipe.lua'), join(folder, 'out.json')];
  writeFileSync(recipe, script);
  const nvim = spawn('nvim', ['--clean', '--headless', '-c', `luafile ${recipe}`, '-c', 'cq'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: patience,
    env: {
      ...{ PATH: process.env['PATH'], HOME: folder, XDG_STATE_HOME: folder, XDG_CACHE_HOME: folder },
      ...{ NODE: process.execPath, RUNNERD: resolve('dist/runnerd.cjs'), OUT: out, OLLAMA_HOST: runner.url },
    },
  });
  let stderr = '';
  nvim.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  await once(nvim, 'close');
  t.equal(stderr, '');
  t.same(JSON.parse(readFileSync(out, 'utf8')), {
    model: 'small:1b',
    whole: { reason: 'end_turn', text: 'Because of its *light*: „blau“.' },
    cut: { reason: 'cancelled' },
  });
  t.ok(await runner.waitFor(({ path, aborted }) => path === '/api/chat' && aborted));
});
