import { spawnSync } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import t from 'tap';
import { createLog } from '../../daemon/base/log.ts';
import { ConfigurationStore } from '../../daemon/config/configuration.ts';
import { createSettingsReader } from '../../daemon/config/settingsReader.ts';
import type { RunnerOptions } from '../../protocol/messages/settings.ts';
import {
  chat,
  choosing,
  isFree,
  startWithRunner as start,
  text,
  toolServers,
} from '../support/neovimChat.ts';
import { llamaHeaders, llamaRoutes, startOpenaiStandIn } from '../support/openaiStandIn.ts';
import { needs } from '../support/parts.ts';
import { type RunnerStandIn, startStandIn } from '../support/runnerStandIn.ts';
import { patience } from '../support/waiting.ts';

const parts = needs('neovim');

const line = 'return vim.api.nvim_get_current_line()';
const ghost = `
local namespace = vim.api.nvim_get_namespaces()['nvim.lsp.inline_completion']
local mark = namespace and vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, { details = true })[1]
return mark and mark[4].virt_text[1][1] or ''
`;
/** Suggests it behind a text, and nowhere else: a request for half of what is typed may come before. */
function says(runner: RunnerStandIn, behind: string, suggestion: string): void {
  const asksBehind = ({ body }: { readonly body: unknown }) =>
    String((body as { prompt?: string } | undefined)?.prompt).endsWith(behind);
  runner.on('/api/generate', Number.POSITIVE_INFINITY, asksBehind).say(suggestion);
}

/** Completion was registered, and the key is mapped. */
const isReady = "return vim.fn.maparg('<Tab>', 'i', false, true).buffer == 1";

t.test('Modelfiles have diagnostics and hover', parts, async (t) => {
  const files = { Modelfile: 'FROM qwen3:4b\nPARAMETER temperature warm\n' };
  const { neovim } = await start(t, { files });
  t.equal(await neovim.lua('return vim.bo.filetype'), 'modelfile');
  const [found] = await neovim.until<readonly { lnum: number; message: string }[]>(
    'return vim.diagnostic.get(0)',
    ({ length }) => length === 1,
  );
  t.match(found, { lnum: 1, message: 'temperature needs a number.' });
  const hover = await neovim.lua(`
    return vim.lsp.buf_request_sync(0, 'textDocument/hover', {
      textDocument = { uri = vim.uri_from_bufnr(0) }, position = { line = 1, character = 12 },
    }, 4000)`);
  t.match(JSON.stringify(hover), /How freely the model chooses/);
  t.equal(await neovim.until('return vim.lsp.get_clients()[1].name'), 'runnerd');
  t.equal(await neovim.until("return require('runner').status() == 'Runner: online'"), true);
});

t.test("Modelfiles have colours, and the editor's key comments their lines", parts, async (t) => {
  const cases: readonly (readonly [line: string, ...groups: (readonly [at: string, group: string])[]])[] = [
    ['# FROM', ['FROM', 'Comment']],
    ['FROM qwen3:4b', ['FROM', 'Command'], ['4b', 'Source']],
    ['  parameter temperature 0.7', ['para', 'Command'], ['temp', 'Parameter'], ['0.7', 'Number']],
    ['PARAMETER Seed -1', ['Seed', 'Unknown'], ['-1', 'Number']],
    ['FORM here', ['FORM', '']],
    ['SYSTEM """Be "terse" """ now', ['SYS', 'Command'], ['terse', 'Text'], ['now', 'Text']],
    ['so """ ', ['so', 'Text']],
    ['MESSAGE user FROM whom?', ['user', 'Role'], ['FROM', '']],
    ['Template """{{- if .System }}at', ['Temp', 'Command'], ['{{', 'Delimiter'], ['if', 'Keyword']],
    ['{{ $m.Content | json }} if {{/*', ['$m', 'Variable'], ['.Con', 'Field'], ['json', 'Function']],
  ];
  const files = { Modelfile: cases.map(([line]) => `${line}\n`).join('') };
  const { neovim } = await start(t, { files });
  const groupsAt = (places: readonly (readonly [row: number, column: number])[]) =>
    neovim.lua<readonly string[]>(
      `return vim.tbl_map(function(place)
        return (vim.fn.synIDattr(vim.fn.synID(place[1], place[2], 1), 'name'):gsub('^modelfile', ''))
      end, ...)`,
      places,
    );
  for (const [index, [line, ...wanted]] of cases.entries()) {
    const shown = await groupsAt(wanted.map(([at]) => [index + 1, line.indexOf(at) + 1] as const));
    t.strictSame(
      shown,
      wanted.map(([, group]) => group),
      line,
    );
  }

  await neovim.type('gg2jgcc');
  await neovim.until<string>(line, (now) => now === '  # parameter temperature 0.7');
  await neovim.lua("vim.bo.filetype = 'text'");
  t.notMatch(await neovim.lua('return vim.bo.commentstring .. vim.bo.comments'), /^# %s|^:#$/);
});

t.test('completion as you type', parts, async (t) => {
  const options = { setup: { completionModel: 'practice' }, files: { 'sum.lua': '\n' } };

  t.test('is shown, and accepted by Tab or by typing it', async (t) => {
    const { runner, neovim } = await start(t, options);
    says(runner, 'local total = ', 'compute(first)');
    await neovim.until(isReady);
    await neovim.type('ilocal total = ');
    t.equal(await neovim.until(ghost), 'compute(first)');
    t.equal(await neovim.lua(line), 'local total = ', 'nothing is in the text');
    await neovim.type('<Tab>');
    await neovim.until<string>(line, (now) => now === 'local total = compute(first)');

    says(runner, 'local other = ', 'compute(second)');
    await neovim.type('<CR>local other = ');
    t.equal(await neovim.until(ghost), 'compute(second)');
    await neovim.type('compute(');
    t.match(await neovim.until<string>(ghost, (now) => !now.startsWith('compute')), /^second\)?/);
    await neovim.type('second)');
    await neovim.until<string>(line, (now) => now === 'local other = compute(second)');

    t.strictSame(await neovim.told(), []);
  });

  t.test('closes superseded requests at the runner', async (t) => {
    const { runner, neovim } = await start(t, options);
    runner.on('/api/generate').hang();
    await neovim.until(isReady);
    await neovim.type('ilocal total = ');
    await runner.waitFor(({ path }) => path === '/api/generate');
    says(runner, 'local total = 1 + ', 'compute(all)');
    await neovim.type('1 + ');
    t.ok(await runner.waitFor(({ path, aborted }) => path === '/api/generate' && aborted));
    t.equal(await neovim.until(ghost), 'compute(all)');
  });

  t.test('Tab does what it did before if nothing is shown', async (t) => {
    const before = "vim.keymap.set('i', '<Tab>', function() return 'mine' end, { expr = true })";
    const { neovim } = await start(t, { ...options, before });
    await neovim.until(isReady);
    await neovim.type('i<Tab>');
    await neovim.until<string>(line, (now) => now === 'mine');
    for (const [mapping, want] of [
      ["vim.keymap.set('i', '<Tab>', 'yours')", 'mineyours'],
      ["vim.keymap.set('i', '<Tab>', function() vim.api.nvim_set_current_line('theirs') end)", 'theirs'],
      ["vim.keymap.del('i', '<Tab>')", 'theirs\t'],
    ] as const) {
      await neovim.lua(mapping);
      await neovim.type('<End><Tab>');
      await neovim.until<string>(line, (now) => now === want);
    }
  });

  t.test('starts and ends with a model that is set later', async (t) => {
    const { runner, neovim } = await start(t, { files: { Modelfile: 'FROM qwen3:4b\n' } });
    await neovim.until('return #vim.lsp.get_clients({ bufnr = 0 }) > 0');
    const setup = "require('runner').setup({ host = (...).host, completionModel = (...).model })";
    await neovim.lua(setup, { host: runner.url, model: 'practice' });
    await neovim.until(isReady);
    await neovim.lua("vim.cmd.edit('sum.py')");
    await neovim.until(isReady);
    says(runner, 'local total = ', 'compute(first)');
    await neovim.type('ilocal total = ');
    t.equal(await neovim.until(ghost), 'compute(first)');
    await neovim.lua(setup, { host: runner.url });
    const registered = "return #vim.lsp.get_clients({ bufnr = 0, method = 'textDocument/inlineCompletion' })";
    await neovim.until<number>(registered, (count) => count === 0);
  });

  t.test('works without a key, and does nothing without a model', async (t) => {
    const { neovim } = await start(t, { ...options, setup: { ...options.setup, keymap: false } });
    await neovim.until(
      "return #vim.lsp.get_clients({ bufnr = 0, method = 'textDocument/inlineCompletion' }) > 0",
    );
    t.equal(await neovim.lua("return vim.fn.maparg('<Tab>', 'i', false, true).buffer or 0"), 0);
    const { neovim: without } = await start(t, { files: options.files });
    t.equal(await without.lua('return #vim.lsp.get_clients()'), 0, 'no document is read');
  });
});

const silent = createLog(
  () => 'error',
  (text) => text,
);

t.test('a second setup', parts, async (t) => {
  const again = "require('runner').setup(...)";
  const clientId = 'return (vim.lsp.get_clients({ name = "runnerd" })[1] or {}).id';
  /** Keeps the settings that the daemon is told. */
  const listen = `
    local client = vim.lsp.get_clients()[1]
    local notify = client.notify
    _G.settings = {}
    client.notify = function(self, method, params)
      if method == 'workspace/didChangeConfiguration' then table.insert(_G.settings, params.settings.runner) end
      return notify(self, method, params)
    end`;

  t.test('resets what it leaves out, in the running daemon', async (t) => {
    const other = await startStandIn({ models: [{ name: 'other:latest' }] });
    t.teardown(() => other.close());
    const first = {
      ...{
        servers: [{ name: 'box', url: other.url }],
        contextLength: 5_000,
        exclude: ['*.py'],
        logLevel: 'warn',
      },
      ...{ timeouts: { list: 4_000 }, streamLogs: true, catalogUrl: other.url, completionModel: 'practice' },
    };
    const before = `vim.env.OLLAMA_HOST = '${other.url}'`;
    const { runner, neovim } = await start(t, {
      setup: first,
      before,
      files: { Modelfile: 'FROM qwen3:4b\n' },
    });
    await neovim.until("return require('runner').status() == 'Runner: online'");
    const id = await neovim.lua<number>(clientId);
    await neovim.lua(listen);
    await neovim.lua(again, { host: runner.url, ...first });
    t.strictSame(await neovim.lua('return _G.settings'), [], 'what is the same is not told');

    await neovim.lua(again, {});
    const told = await neovim.until<readonly RunnerOptions[]>(
      'return _G.settings',
      ({ length }) => length > 0,
    );
    const { cacheDir = '' } = told[0] ?? {};
    const running = new ConfigurationStore(other.url);
    running.start({ host: runner.url, ...(first as RunnerOptions), cacheDir, sendsUserSettings: true });
    running.change(createSettingsReader(silent).change(told[0]));
    const fresh = new ConfigurationStore(other.url);
    fresh.start({ cacheDir, sendsUserSettings: true });
    t.strictSame(running.current, fresh.current);
    await chat({ runner: other, neovim }, 'where?', 'Here.');
    t.match(other.bodies('/api/chat'), [{ model: 'other:latest' }]);
    t.equal(await neovim.lua(clientId), id, 'it was not started anew');
  });

  t.test('resets also what only a restart can reset, during an answer', async (t) => {
    const { runner, neovim } = await start(t, { setup: { keepAlive: '7m', trusted: false } });
    await chat({ runner, neovim }, 'first', 'One.');
    await neovim.until(isFree);
    runner.hang();
    await neovim.type('Gisecond<Esc><CR>');
    await runner.waitFor(() => runner.bodies('/api/chat').length === 2);
    const id = await neovim.lua<number>(clientId);
    await neovim.lua(again, { host: runner.url });
    await neovim.until('return vim.lsp.get_clients()[1].settings.runner.keepAlive == vim.NIL');
    t.notOk(runner.requests.some(({ path, aborted }) => path === '/api/chat' && aborted));
    await neovim.type('<C-c>');
    await neovim.until(isFree);
    runner.say('Two.');
    await neovim.type('Gothird<Esc><CR>');
    await neovim.until<string>(text, (now) => now.includes('Two.'));
    await neovim.until<string>("return require('runner').status()", (now) => now === 'Runner: online');
    const [asked, , last] = runner.bodies('/api/chat') as readonly Readonly<Record<string, unknown>>[];
    t.equal(asked?.['keep_alive'], '7m');
    t.notOk(last && 'keep_alive' in last);
    t.equal(await neovim.lua(clientId), id, 'it was not started anew');
    t.strictSame(await neovim.told(), []);

    const cmd = [process.execPath, resolve('dist/runnerd.cjs'), '--stdio'];
    await neovim.lua(again, { host: runner.url, cmd });
    await neovim.until<number>(`${clientId} or 0`, (now) => now !== id && now !== 0);
  });

  t.test('corrects options that the daemon refused, which are reported once', async (t) => {
    const setup = { caFile: 'ca.pem', completionModel: 'practice' };
    const { runner, neovim } = await start(t, { setup, files: { 'sum.lua': '\n', 'other.py': '\n' } });
    const [refused] = await neovim.until<readonly string[]>('return _G.told', ({ length }) => length > 0);
    t.match(refused, /^Runner: The option caFile is wrong: /);
    await neovim.lua("vim.cmd.edit('other.py')");
    await neovim.lua("vim.cmd.RunnerChat('hello')");
    await neovim.until<string>(text, (now) => now.includes('**Error:** The option caFile is wrong'));
    t.match(await neovim.lua(text), /## You\n\nhello$/);
    t.strictSame(await neovim.told(), [refused]);
    t.equal(await neovim.lua('return #vim.api.nvim_get_proc_children(vim.fn.getpid())'), 0);

    await neovim.lua(again, { host: runner.url });
    runner.say('Here.');
    await neovim.type('<CR>');
    await neovim.until<string>(text, (now) => now.includes('Here.'));
    await neovim.lua(again, { host: runner.url, exclude: 'x' });
    await neovim.until<readonly string[]>('return _G.told', ({ length }) => length > 1);
    t.match(await neovim.told(), [refused, /^Runner: The option exclude is wrong: /]);
  });

  t.test('maps another key, and restores the one before', async (t) => {
    const before = "vim.api.nvim_create_autocmd('BufRead', { command = 'inoremap <buffer> <C-l> mine' })";
    const completes = { completionModel: 'practice' };
    const setup = { ...completes, keymap: '<C-l>' };
    const { runner, neovim } = await start(t, { before, setup, files: { 'sum.lua': '\n' } });
    const { url: host } = runner;
    const mapped = `return vim.iter({ '<C-l>', '<Tab>' }):map(function(key)
      local mapping = vim.fn.maparg(key, 'i', false, true)
      return mapping.buffer == 1 and (mapping.rhs or mapping.desc) or '-'
    end):join(', ')`;
    const takes = 'Takes the suggestion that is shown';
    await neovim.until<string>(mapped, (now) => now === `${takes}, -`);
    for (const [options, want] of [
      [{ host, ...completes }, `mine, ${takes}`],
      [{ host, ...completes, keymap: false }, 'mine, -'],
      [{ host, ...setup }, `${takes}, -`],
      [{ host }, 'mine, -'],
    ] as const) {
      await neovim.lua(again, options);
      t.equal(await neovim.lua(mapped), want, JSON.stringify(options));
    }
    t.equal(
      await neovim.lua('return #vim.lsp.get_clients({ bufnr = 0 })'),
      0,
      'no document is read any more',
    );
  });
});

t.test('the chat', parts, async (t) => {
  t.test('streams, folds thinking, and continues', async (t) => {
    const { runner, neovim } = await start(t);
    const reader = new EventEmitter();
    const hasMoved = once(reader, 'moved');
    runner.answer({
      kind: 'speech',
      async *pieces() {
        yield { kind: 'thinking', text: 'Light.\n' };
        await hasMoved;
        yield { kind: 'thinking', text: 'Air.\n' };
        for (const text of ['It scatters.\n', 'Mostly ', 'blue.']) yield { kind: 'text', text };
      },
    });
    await neovim.lua("vim.cmd.RunnerChat('why is the sky blue')");
    await neovim.until<string>(text, (now) => now.includes('> Light.'));
    t.match(await neovim.lua('return vim.wo.winbar'), /practice:latest.*<C-c> cancels/);
    // Whoever reads above is not moved.
    await neovim.lua('vim.api.nvim_win_set_cursor(0, { 1, 0 })');
    reader.emit('moved');
    await neovim.until(isFree);
    t.strictSame(await neovim.lua('return vim.api.nvim_win_get_cursor(0)'), [1, 0]);
    t.match(
      await neovim.lua(text),
      /^## You\n\nwhy is the sky blue\n\n## practice:latest\n\n> Light.\n> Air.\n\nIt scatters.\nMostly blue.\n+## You\n\n$/,
    );
    const closed = 'local all = {} for row = 1, 11 do all[row] = vim.fn.foldclosed(row) end return all';
    t.strictSame(await neovim.lua(closed), [-1, -1, -1, -1, -1, -1, 7, 7, -1, -1, -1]);
    t.equal(await neovim.lua('return vim.fn.foldtextresult(7)'), '> Thought, 2 lines (zo opens)');

    // In a narrow window the winbar has what it has room for.
    t.match(await neovim.lua('return vim.wo.winbar'), /practice:latest .*<C-s> sends $/);
    await neovim.lua('vim.api.nvim_win_set_width(0, 60)');

    // The next one is typed below the last heading.
    runner.say('Longer waves.');
    await neovim.type('Gired?<Esc><CR>');
    await neovim.until<string>(text, (now) => now.includes('Longer waves.'));
    await neovim.until(isFree);
    // How fast it was, and how full the window is, as far as the runner has said.
    t.match(await neovim.lua('return vim.wo.winbar'), /1 %% of 131,072 tokens · <C-s> sends $/);
    t.match(runner.bodies('/api/chat').at(-1), {
      messages: [
        { role: 'user', content: 'why is the sky blue' },
        { role: 'assistant', content: 'It scatters.\nMostly blue.' },
        { role: 'user', content: 'red?' },
      ],
    });
    t.match(await neovim.lua(text), /\n## You\n\nred\?\n\n## practice:latest\n\nLonger waves.\n+## You\n\n$/);
  });

  t.test('is cancelled at the runner, and keeps the partial answer and the typed text', async (t) => {
    const { runner, neovim } = await start(t);
    // So fast that the editor mostly takes the key for an interrupt, which no mapping sees.
    runner.tokens(100_000, { perSecond: 500 });
    await neovim.lua("vim.cmd.RunnerChat('count')");
    await neovim.until<string>(text, (now) => now.includes('1 2 3'));
    await neovim.type('Gistop');
    await neovim.until<string>(text, (now) => now.endsWith('stop'));
    await neovim.type('<C-c>');
    t.ok(await runner.waitFor(({ path, aborted }) => path === '/api/chat' && aborted));
    await neovim.until(isFree);
    t.match(await neovim.lua(text), /\n1 2 3 [\d ]*\n\n\*Cancelled\.\*\n+## You\n\nstop$/);

    runner.hang();
    await neovim.type('<Esc><CR>');
    await runner.waitFor(() => runner.bodies('/api/chat').length === 2);
    await neovim.lua('vim.cmd.RunnerCancel()');
    await neovim.until(isFree);
    t.match(
      await neovim.lua(text),
      /\n## You\n\nstop\n\n## practice:latest\n\n\*Cancelled\.\*\n+## You\n\n$/,
    );
  });

  t.test('shows a failure, after which the prompt can be sent again', async (t) => {
    const { runner, neovim } = await start(t);
    runner.failWith(500, { error: 'out of memory' });
    await neovim.lua("vim.cmd.RunnerChat('again')");
    await neovim.until<string>(text, (now) => now.includes('**Error:**'));
    t.match(await neovim.until<string>(text, (now) => now.endsWith('## You\n\nagain')), /out of memory/);
    runner.say('Here.');
    await neovim.type('<CR>');
    await neovim.until<string>(text, (now) => now.includes('Here.'));
    t.match(runner.bodies('/api/chat').at(-1), { messages: [{ role: 'user', content: 'again' }] });
  });

  t.test('reports a daemon that dies, and restarts it', async (t) => {
    const { runner, neovim } = await start(t);
    runner.hang();
    await neovim.lua("vim.cmd.RunnerChat('hello')");
    await runner.waitFor(({ path, body }) => path === '/api/chat' && body !== undefined);
    await neovim.lua("vim.uv.kill(vim.api.nvim_get_proc_children(vim.fn.getpid())[1], 'sigkill')");
    await neovim.until<string>(text, (now) => now.includes('**Error:** The daemon ended'));
    runner.say('Here again.');
    await neovim.type('<CR>');
    await neovim.until<string>(text, (now) => now.includes('Here again.'));
  });

  t.test('names the log of a daemon that does not start', async (t) => {
    const { neovim } = await start(t);
    const cmd = [process.execPath, resolve('dist/runnerd.cjs')];
    await neovim.lua("require('runner').setup(...)", { cmd });
    await neovim.lua("vim.cmd.RunnerChat('hello')");
    const said = await neovim.until<string>(text, (now) => now.includes('**Error:**'));
    const [, log = ''] =
      /The daemon ended \(code 2, signal 0\)\.\s+What it said is in (\S+)\./.exec(said) ?? [];
    const path = await neovim.lua<string>('return vim.fn.expand(...)', log);
    t.match(readFileSync(path, 'utf8'), /say how to speak: --stdio or --acp/);
  });

  t.test('says what to do if no runner answers, and keeps the prompt', async (t) => {
    const { runner, neovim } = await start(t);
    await runner.close();
    await neovim.lua("vim.cmd.RunnerChat('hello')");
    const said = await neovim.until<string>(text, (now) => now.includes('**Error:**'));
    t.match(said, /^\*\*Error:\*\* .*\n\n## You\n\nhello$/);
    await neovim.until("return require('runner').status() == 'Runner!: offline'");
    const problem = /^Runner: No runner answers at \S+ :RunnerEngine offers .* or set `host` in setup\(\)\.$/;
    t.match(await neovim.told(), [problem]);
    t.match(said, 'or set `host` in setup()');
    for (const command of ['RunnerModels', 'RunnerPull practice-guest']) {
      await neovim.lua('_G.told = {} vim.cmd(...)', command);
      const [told] = await neovim.until<readonly string[]>('return _G.told', ({ length }) => length > 0);
      t.match(told, /^Runner: .* or set `host` in setup\(\)\./, command);
    }
    await neovim.lua("vim.cmd.checkhealth('runner')");
    const report = await neovim.until<string>(text, (now) => now.includes('No runner answers'));
    t.match(report, 'or set `host` in setup()');
    t.notMatch(report, 'set the runner address');
  });

  t.test('says where to put the token that a runner wants', async (t) => {
    const { runner, neovim } = await start(t);
    await neovim.lua('vim.cmd.RunnerChat()');
    await neovim.until(isFree);
    runner.failWith(401, { error: 'unauthorized' });
    await neovim.type('Gihello<Esc><CR>');
    const said = await neovim.until<string>(text, (now) => now.includes('**Error:**'));
    t.match(
      said,
      /\*\*Error:\*\* .* Say in "auth" of ~\/\.config\/runner\/config\.json where its token is, or/,
    );
  });

  t.test('sends nothing to a remote model before it is chosen', async (t) => {
    const remote = { host: 'https://ollama.com', model: 'c' };
    const cloudy = { name: 'cloudy:cloud', capabilities: ['completion'], remote } as const;
    const { runner, neovim } = await start(t, { runner: { models: [cloudy] } });
    await neovim.lua("vim.cmd.RunnerChat('hello')");
    const said = await neovim.until<string>(text, (now) => now.includes('**Error:**'));
    t.match(said, /^\*\*Error:\*\* Nothing was sent: every model that can chat runs elsewhere\./);
    t.strictSame(runner.bodies('/api/chat'), []);
  });

  t.test('sends the selected lines as context, and uses a chosen model', async (t) => {
    const files = { 'sum.lua': 'local a = 1\nlocal b = 2\nreturn a + b\n' };
    const { runner, neovim } = await start(t, { files });
    await neovim.lua('vim.ui.select = function(items, _, take) take(items[#items]) end');
    await neovim.lua('vim.cmd.RunnerChat()');
    await neovim.until(isFree);
    await neovim.type('gm');
    await neovim.until("return vim.wo.winbar:find('practice-plain', 1, true) ~= nil");
    runner.say('A sum.');
    await neovim.lua("vim.cmd.wincmd('p')");
    await neovim.type('ggVj:RunnerChat <lt>selection>TYPED<lt>/selection> explain<CR>');
    await neovim.until<string>(text, (now) => now.includes('A sum.'));
    t.match(await neovim.lua(text), /explain\n\n\*with lines 1 to 2 of sum.lua\*\n/);
    t.match(runner.bodies('/api/chat').at(-1), {
      model: /practice-plain/,
      messages: [
        {
          role: 'system',
          content:
            /^<attachments>\n<attachment path="sum.lua" language="lua" lines="1-2">\nlocal a = 1\nlocal b = 2\n<\/attachment>\n<\/attachments>$/,
        },
        { role: 'user', content: '<selection>TYPED</selection> explain' },
      ],
    });
  });
});

t.test('managing models', parts, async (t) => {
  t.test('a pull shows its progress, and a cancelled one is closed at the runner', async (t) => {
    const before = `
      _G.progress = {}
      vim.api.nvim_create_autocmd('LspProgress', { callback = function(event)
        table.insert(_G.progress, event.data.params.value)
      end })`;
    const { runner, neovim } = await start(t, { runner: { pullStep: 5 }, before });
    await neovim.lua("vim.cmd.RunnerPull('practice-guest')");
    await neovim.tells('Runner: practice-guest is installed.');
    const values =
      await neovim.lua<readonly { kind: string; title: string; percentage?: number }[]>('return _G.progress');
    t.match(values[0], { kind: 'begin', title: 'Pulling practice-guest' });
    t.equal(values.at(-1)?.kind, 'end');
    t.equal(values.at(-2)?.percentage, 100);

    const pulls = () => runner.requests.filter(({ path }) => path === '/api/pull');
    for (const [index, cancel] of [
      'vim.cmd.RunnerCancel()',
      "vim.lsp.get_clients()[1]:notify('window/workDoneProgress/cancel', { token = 'runner-work-3' })",
    ].entries()) {
      runner.on('/api/pull').hang();
      await neovim.lua("vim.cmd.RunnerPull('practice-guest')");
      await runner.waitFor(() => pulls().length === index + 2);
      await neovim.until("return require('runner').status():find('Pulling practice-guest', 1, true)");
      await neovim.lua(cancel);
      await runner.waitFor(() => pulls()[index + 1]?.aborted === true);
      await neovim.until("return not require('runner').status():find('Pulling')");
      t.match((await neovim.told()).at(-1), /was cancelled/);
    }
    await neovim.lua("vim.cmd.RunnerPull('no-such-model')");
    await neovim.until<readonly string[]>('return _G.told', (told) =>
      /no-such-model/.test(told.at(-1) ?? ''),
    );
  });

  t.test('names of the library are completed, if there is a library', async (t) => {
    const names = "return vim.fn.getcompletion(..., 'cmdline')";
    const page = createServer((_, response) => {
      const cards = [
        '<a href="/library/tiny"><span x-test-size>4b</span><span x-test-size>1.5b</span></a>',
        '<a href="/library/My_Model.v2-it"><span x-test-size>8x7b</span></a>',
        '<a href="/library/odd"><span x-test-size>2b | quit</span><span x-test-size>$HOME</span></a>',
        '<a href="/library/a%7Cquit"></a><a href="/library/%25">%</a>',
      ];
      response.setHeader('content-type', 'text/html; charset=utf-8').end(cards.join(''));
    });
    t.teardown(() => page.close());
    await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve));
    const { port } = page.address() as AddressInfo;
    const catalogUrl = `http://127.0.0.1:${port}`;
    const { runner, neovim } = await start(t, { setup: { catalogUrl } });
    t.strictSame(await neovim.lua(names, 'RunnerPull '), [
      ...['tiny', 'tiny:4b', 'tiny:1.5b', 'My_Model.v2-it', 'My_Model.v2-it:8x7b', 'odd'],
    ]);
    for (const [lead, found] of [
      ['tiny:1.', ['tiny:1.5b']],
      ['.', []],
      ['%', []],
      ['My_Model.v2-', ['My_Model.v2-it', 'My_Model.v2-it:8x7b']],
      ['hf.co/someone/[x', []],
    ] as const)
      t.strictSame(await neovim.lua(names, `RunnerPull ${lead}`), found, lead);
    await neovim.type(':RunnerPull tiny:1<Tab>');
    await neovim.until<string>('return vim.fn.getcmdline()', (now) => now === 'RunnerPull tiny:1.5b');
    await neovim.type('<C-u>RunnerPull  practice-guest <CR>');
    await neovim.until<readonly string[]>('return _G.told', (told) =>
      /guest is installed/.test(told.at(-1) ?? ''),
    );
    t.match(runner.bodies('/api/pull'), [{ model: 'practice-guest' }]);
  });

  t.test('a runner without a model says how to get one', async (t) => {
    const { neovim } = await start(t, { runner: { models: [] } });
    await neovim.lua("vim.cmd('RunnerChat hello')");
    const said = await neovim.until<string>(text, (now) => now.includes('**Error:**'));
    t.match(said, /No model that can chat is installed\. Get one, for example with :RunnerPull qwen3:4b\.\n/);
  });

  t.test('a server that is no Ollama is named, and offers only what it can do', async (t) => {
    const standIn = await startOpenaiStandIn(llamaRoutes('small'), llamaHeaders);
    t.teardown(() => standIn.close());
    const { neovim } = await start(t, { setup: { host: standIn.url }, before: choosing });
    await neovim.lua(
      "require('runner.connection').request('runner/status', vim.empty_dict(), function() end)",
    );
    await neovim.until("return require('runner').status():find('online')");
    await neovim.lua("_G.choices = { 'small' } vim.cmd.RunnerModels()");
    await neovim.until<readonly string[]>('return _G.asked', ({ length }) => length === 2);
    t.strictSame(await neovim.lua('return _G.asked'), ['Models of llama.cpp', 'small']);
    const [rows, actions] = await neovim.lua<readonly (readonly string[])[]>('return _G.offered');
    t.match(rows, [/^small .* 4096 tokens {2}loaded$/]);
    t.strictSame(actions, ['Chat', 'Copy name']);
    t.strictSame(await neovim.lua("return vim.fn.getcompletion('RunnerPull ', 'cmdline')"), []);
    await neovim.lua("vim.cmd.RunnerPull('qwen3:4b')");
    await neovim.until<readonly string[]>('return _G.told', (told) =>
      /llama\.cpp at .* cannot download models\./.test(told.at(-1) ?? ''),
    );
  });

  t.test('models are listed, loaded, unloaded, copied and deleted', async (t) => {
    const { runner, neovim } = await start(t);
    /** Chooses what begins so, one after the other. */
    const choose = async (...choices: readonly string[]) => {
      await neovim.lua(
        `local choices = ...
        _G.offered = nil
        vim.ui.select = function(items, options, take)
          local wanted = table.remove(choices, 1)
          local format = options.format_item or tostring
          _G.offered = vim.tbl_map(format, items)
          take(vim.iter(items):find(function(item) return vim.startswith(format(item), wanted) end))
        end
        vim.cmd.RunnerModels()`,
        choices,
      );
    };
    const toldLast = (message: RegExp) =>
      neovim.until<readonly string[]>('return _G.told', (told) => message.test(told.at(-1) ?? ''));
    await choose('practice-plain', 'Load');
    await toldLast(/practice-plain:latest is loaded/);
    await choose('none');
    const offered = await neovim.until<readonly string[]>('return _G.offered');
    t.equal(new Set(offered.map((row) => row.indexOf(' MB'))).size, 1, 'sizes stand below each other');
    t.match(offered, [/^practice:latest .*tools, thinking, insert/, /loaded$/]);
    await choose('practice-plain', 'Unload');
    await toldLast(/was unloaded/);
    await choose('practice-plain', 'Copy');
    await toldLast(/Copied practice-plain:latest/);
    t.equal(await neovim.lua("return vim.fn.getreg('\"')"), 'practice-plain:latest');
    await choose('practice-plain', 'Delete', 'Keep');
    await choose('practice-plain', 'Delete', 'Delete');
    await toldLast(/was deleted/);
    t.equal(runner.requests.filter(({ path }) => path === '/api/delete').length, 1);
    await choose('practice:latest', 'Chat');
    await neovim.until("return vim.wo.winbar:find('practice:latest', 1, true) ~= nil");
  });
});

t.test('lists and messages take no key that is meant for something else', parts, async (t) => {
  t.test('a list that is left with <C-c> leaves everything as it was', async (t) => {
    const { runner, neovim } = await start(t);
    runner.tokens(100_000, { perSecond: 50 });
    await neovim.lua("vim.cmd('RunnerChat count')");
    await neovim.until<string>(text, (now) => now.includes('1 2 3'));
    // The key is typed as soon as the editor's own list waits for keys.
    await neovim.lua(`
      local list = vim.fn.inputlist
      _G.left = {}
      vim.fn.inputlist = function(rows)
        local timer = vim.uv.new_timer()
        timer:start(0, 10, function()
          if vim.api.nvim_get_mode().mode ~= 'c' then return end
          timer:close()
          vim.api.nvim_input('<C-c>')
        end)
        local returned, chosen = pcall(list, rows)
        table.insert(_G.left, rows[1])
        if not returned then error(chosen, 0) end
        return chosen
      end`);
    for (const [command, list] of [
      ['RunnerModels', 'Models'],
      ['RunnerSessions', 'Conversations'],
    ] as const) {
      await neovim.lua('_G.left = {} vim.cmd(...)', command);
      t.strictSame(await neovim.until<readonly string[]>('return _G.left', ({ length }) => length > 0), [
        list,
      ]);
    }
    // The editor drops what is typed before <C-c> and not yet read, so the two are typed apart.
    await neovim.type(':abc');
    await neovim.until("return vim.fn.getcmdline() == 'abc'");
    await neovim.type('<C-c>');
    await neovim.until("return vim.fn.mode() == 'n'");
    t.notMatch(
      await neovim.lua("return vim.api.nvim_exec2('messages', { output = true }).output"),
      'traceback',
    );
    t.notMatch(await neovim.lua(text), 'Cancelled');
    await neovim.type('<C-c>');
    await neovim.until<string>(text, (now) => now.includes('*Cancelled.*'));
  });

  t.test('a list opens only in normal mode', async (t) => {
    const { neovim } = await start(t, { before: choosing });
    await neovim.type('i');
    await neovim.until("return vim.fn.mode() == 'i'");
    await neovim.lua('vim.cmd.RunnerModels()');
    await neovim.tells('Runner: Models: the list opens in normal mode.');
    await neovim.type('typed');
    await neovim.until<string>(line, (now) => now === 'typed');
    t.strictSame(await neovim.lua('return _G.asked'), []);
    await neovim.type('<Esc>');
    await neovim.until<readonly string[]>('return _G.asked', ([list]) => list === 'Models');
  });
});

t.test('the health check, the help, and an unknown option', parts, async (t) => {
  const mcpServers = { ...toolServers('good', 'ends'), off: { command: 'nope', disabled: true } };
  const { neovim } = await start(t, { setup: { completionModel: 'practice' } });
  await neovim.lua("vim.cmd.checkhealth('runner')");
  const report = await neovim.until<string>(text, (now) => now.includes('Tool servers'));
  t.notMatch(report, /ERROR|WARNING/);
  t.match(
    report,
    /0\.12.*Node v.*runnerd.cjs --stdio, version .*answers.*can chat: practice:latest.*fills in.*There is none/s,
  );
  await neovim.lua("require('runner.options').current.completionModel = nil vim.cmd.checkhealth('runner')");
  await neovim.until<string>(text, (now) => now.includes('Completion is off'));
  await neovim.lua("require('runner').setup(...) vim.cmd.checkhealth('runner')", { mcpServers });
  const tools = await neovim.until<string>(text, (now) => now.includes('off is disabled'));
  t.match(
    tools,
    /ERROR The tool server ends ended .*Correct its entry in mcpServers.*OK good offers 11 tools/s,
  );

  const tags = await neovim.lua<readonly string[]>(`
    vim.cmd.helptags(vim.env.RUNNER_CLIENT .. '/doc')
    return vim.fn.getcompletion('*runner*', 'help')`);
  const commands = await neovim.lua<readonly string[]>("return vim.fn.getcompletion('Runner', 'command')");
  t.ok(commands.length > 6);
  const wanted = ['runner', 'runner.setup()', ...commands.map((name) => `:${name}`)];
  t.strictSame(
    wanted.filter((tag) => !tags.includes(tag)),
    [],
  );

  const refused = await neovim.lua<string>(
    "return select(2, pcall(require('runner').setup, { hots = 'x' }))",
  );
  t.match(refused, /^Runner has no option "hots"\. There are: cmd, keymap, host, /);

  // Said at once, and the daemon that runs keeps what it has.
  for (const [setup, problem] of [
    [{ contextLength: 'x' }, 'contextLength is wrong: it must be a whole number, not "x".'],
    [{ contextLength: -1 }, 'contextLength is wrong: it must be at least 0, not -1.'],
    [{ exclude: 'x' }, 'exclude is wrong: it must be a list, not "x".'],
    [{ timeouts: { lost: 1 } }, /^timeouts is wrong: it has no "lost"; there are: connect, /],
    [{ servers: [{ name: 'a' }] }, 'servers[1] is wrong: it needs "url".'],
    [{ mcpServers: { a: 'b' } }, 'mcpServers.a is wrong: it must be a table with names, not "b".'],
    [{ approvals: { a: 1 } }, 'approvals.a is wrong: it must be a list or a text, not 1.'],
  ] as const) {
    await neovim.lua("_G.told = {} require('runner').setup(...)", setup);
    const [said = ''] = await neovim.told();
    t.match(said.replace('Runner: The option ', ''), problem);
  }
});

t.test('an older Neovim shows once what is needed, and starts nothing', needs('systemNeovim'), async (t) => {
  const version = spawnSync('nvim', ['--version'], { encoding: 'utf8' }).stdout;
  if (/^NVIM v(0\.1[2-9]|[1-9])/.test(version)) {
    t.pass('this one is new enough');
    return;
  }
  const { status, stderr } = spawnSync(
    'nvim',
    [
      ...['--clean', '--headless', '--cmd', `set runtimepath^=${resolve('client/neovim')}`],
      ...['-c', "lua require('runner').setup({})", '-c', 'RunnerModels', '-c', 'qa!'],
    ],
    { encoding: 'utf8', timeout: patience },
  );
  t.equal(status, 0);
  t.match(stderr, /Runner needs Neovim 0\.12 or newer/);
  t.equal(stderr.split('needs Neovim').length, 2, 'once');
});

t.test('a closed conversation is offered, continued, previewed and deleted', parts, async (t) => {
  const choose = `
_G.choices, _G.offered = {}, {}
vim.ui.select = function(items, options, done)
  local shown = vim.tbl_map(options.format_item or tostring, items)
  table.insert(_G.offered, shown)
  local wanted = table.remove(_G.choices, 1)
  for index, item in ipairs(items) do
    if shown[index]:find(wanted, 1, true) then return done(item, index) end
  end
end`;
  const { runner, neovim } = await start(t, { before: choose });
  runner.think('Hm.', 'The sky.');
  await neovim.lua("vim.cmd('RunnerChat What is blue?')");
  await neovim.until(text, (shown: string) => shown.includes('The sky.'));
  await neovim.until(isFree);
  await neovim.lua("vim.cmd('bwipeout!')");
  await neovim.lua("vim.cmd('RunnerChat')");
  await neovim.until(text, (shown: string) =>
    /\*Last here: "What is blue\?", 1 turn, \d{4}-\d\d-\d\d\. `gl` goes on with it\.\*/.test(shown),
  );
  // The answer that is under way is the chat's own conversation, which no other one takes the place of.
  runner.tokens(100_000, { perSecond: 50 });
  await neovim.lua("vim.cmd('RunnerChat count')");
  await neovim.until<string>(text, (now) => now.includes('1 2 3'));
  const own = 'Runner: This chat has begun; :RunnerSessions opens others.';
  await neovim.type('<Esc>gl');
  await neovim.tells(own);
  await neovim.lua("_G.counts = vim.api.nvim_get_current_buf() _G.choices = { 'What is blue?', 'Open' }");
  await neovim.lua("vim.cmd('RunnerSessions')");
  await neovim.until<string>(text, (now) => now.includes('The sky.'));
  t.notMatch(await neovim.lua(text), /count|Cancelled/, 'in another chat');
  await neovim.lua("vim.cmd('bwipeout!') vim.cmd.buffer(_G.counts)");
  t.match(await neovim.lua(text), /## You\n\ncount\n/);
  await neovim.lua('vim.cmd.RunnerCancel()');
  await neovim.until(isFree);
  await neovim.until<string>(text, (now) => /\n1 2 3 [\d ]*\n\n\*Cancelled\.\*\n/.test(now));
  await neovim.lua("_G.choices = { 'count', 'Delete', 'Delete' } vim.cmd('RunnerSessions')");
  await neovim.tells('Runner: "count" was deleted.');
  await neovim.lua("vim.cmd('bwipeout!')");
  await neovim.lua("vim.cmd('RunnerChat')");
  await neovim.until<string>(text, (now) => now.includes('`gl` goes on with it'));
  await neovim.type('<Esc>gl');
  const whole = /^## You\n\nWhat is blue\?\n\n## practice:latest\n\n> Hm\.\n\nThe sky\.\n+## You\n/;
  await neovim.until<string>(text, (now) => whole.test(now));
  await chat({ runner, neovim }, 'Sure?', 'Yes.');
  t.match(runner.bodies('/api/chat').at(-1), {
    messages: [{ content: 'What is blue?' }, { content: 'The sky.' }, { content: 'Sure?' }],
  });
  await neovim.until(isFree);
  await neovim.lua("_G.offered, _G.choices = {}, { 'What is blue?', 'Preview' } vim.cmd('RunnerSessions')");
  await neovim.until(
    text,
    (now: string) => now.startsWith('## You\n\nWhat is blue?') && now.endsWith('Yes.\n'),
  );
  await neovim.type('q');
  // A copy of the first turn goes on by itself.
  await neovim.lua("vim.cmd('RunnerChat')");
  await neovim.type('<Esc>1gF');
  await neovim.until(text, (now: string) => now.includes('The sky.') && !now.includes('Yes.'));
  await chat({ runner, neovim }, 'Why?', 'Another.');
  t.match(runner.bodies('/api/chat').at(-1), {
    messages: [{ content: 'What is blue?' }, { content: 'The sky.' }, { content: 'Why?' }],
  });
  await neovim.until(isFree);
  await neovim.lua(
    "vim.cmd('bwipeout!') _G.choices = { 'blue', 'Delete', 'Delete' } vim.cmd('RunnerSessions')",
  );
  await neovim.tells('Runner: "What is blue?" was deleted.');
  await neovim.lua("_G.told, _G.choices = {}, { 'blue', 'Open a copy' } vim.cmd('RunnerSessions')");
  await neovim.until(text, (now: string) => now.includes('Yes.'));
  // Both are there, and either can be deleted.
  for (const deleted of [1, 2]) {
    await neovim.lua("_G.choices = { 'blue', 'Delete', 'Delete' } vim.cmd('RunnerSessions')");
    await neovim.until<readonly string[]>(
      'return _G.told',
      (told) => told.filter((line) => line === 'Runner: "What is blue?" was deleted.').length === deleted,
    );
  }
  await neovim.lua("vim.cmd('RunnerSessions')");
  await neovim.tells('Runner: No conversation is kept yet.');
});
