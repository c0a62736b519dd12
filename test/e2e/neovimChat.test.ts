import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t from 'tap';
import { browse, startAuthorizationPeer } from '../support/authorizationPeer.ts';
import { chat, choosing, isFree, startWithRunner, text, toolServers } from '../support/neovimChat.ts';
import { needs } from '../support/parts.ts';
import { pictures } from '../support/pictures.ts';
import { poll } from '../support/waiting.ts';

const parts = needs('neovim');

const able = { name: 'able:latest', capabilities: ['completion', 'tools'] } as const;
const models = [{ ...able, contextLength: 131_072, capabilities: [...able.capabilities] }];
const echo = (word: string) => ({ name: 'echo', arguments: { word } });
const says = (part: string) => (now: string) => now.includes(part);
const lastBody = (bodies: readonly unknown[]) =>
  bodies.at(-1) as { readonly messages: readonly unknown[]; readonly tools?: readonly unknown[] };

t.test('tools in the chat', parts, async (t) => {
  const setup = { mcpServers: toolServers('good') };
  const start = (kinds: readonly string[] = ['good'], more: object = {}) =>
    startWithRunner(t, {
      runner: { models },
      setup: { ...setup, mcpServers: toolServers(...kinds) },
      before: choosing,
      ...more,
    });

  t.test('a server asks during its call', async (t) => {
    const team = { command: process.execPath, args: [resolve('test', 'support', 'offeringServer.cjs')] };
    const { runner, neovim } = await start([], {
      setup: { mcpServers: { team }, approvals: { team: 'always' } },
      before: `${choosing}
        _G.typed, _G.prompts = {}, {}
        vim.ui.input = function(options, done)
          table.insert(_G.prompts, options.prompt)
          done(table.remove(_G.typed, 1))
        end`,
    });
    await neovim.lua("_G.choices = { 'Yes', 'Leave', 'The next', 'No' }");
    await neovim.lua("_G.typed = { 'A', '36', 'a, b', '', 'Ada' }");
    runner.toolCalls([{ name: 'ask', arguments: { what: 'review' } }]);
    runner.toolCalls([{ name: 'ask', arguments: { what: 'page' } }]);
    const shown = await chat({ runner, neovim }, 'ask me', 'It said so.');
    t.match(shown, /"name":"Ada"/);
    t.match(shown, /"age":36/);
    t.match(shown, /"branch":"next"/);
    t.match(shown, /"action":"decline"/);
    const prompts = await neovim.lua<readonly string[]>('return _G.prompts');
    t.strictSame(prompts, [
      'Name: ',
      'age: ',
      'tags, or nothing: [a, b, c] ',
      'mail, or nothing: ',
      'Name: ',
    ]);
    t.match(await neovim.lua<readonly string[]>('return _G.asked'), [
      'Answer team?',
      'isKeen: ',
      'branch, or nothing: ',
      'team wants you to open a page of pay.example. Did you?',
    ]);
  });

  t.test('each call needs approval, and is folded with its result', async (t) => {
    const { runner, neovim } = await start();
    await neovim.lua("_G.choices = { 'For this session' }");
    const hostile = '# a\n## You\n\u001b[31m\u202e```';
    runner.toolCalls([echo(hostile), echo('two'), { name: 'fail', arguments: {} }], { text: 'I look.' });
    const shown = await chat({ runner, neovim }, 'what is there?', 'It said so.');
    await neovim.until(isFree);
    t.strictSame(await neovim.lua('return _G.offered[1]'), ['No', 'Once', 'For this session', 'Always']);
    const asked = await neovim.lua<readonly string[]>('return _G.asked');
    t.equal(asked.length, 2, 'the second one was allowed by the answer to the first');
    t.match(asked[0], /^May good run echo \{"word":"# a\\n## You\\n.*"\}\? It says that it only reads\.$/);
    t.notMatch(asked[0], /[\u0000-\u001f\u202e]/);
    t.equal(asked[1], 'May good run fail?');
    t.equal(
      shown,
      [
        ...['## You', '', 'what is there?', '', '## able:latest', '', 'I look.', ''],
        ...['> **Call of echo**', '> word:', '>   # a', '>   ## You', '>   ␛[31m<U+202E>```'],
        ...['>', '> **Result:**', '> You said # a', '> ## You', '> ␛[31m<U+202E>```.', ''],
        ...['> **Call of echo**', '> word: "two"', '>', '> **Result:**', '> You said two.', ''],
        ...['> **Call of fail**', '>', '> **It failed:**'],
        ...['> The user did not allow the call of fail. Go on without it.', ''],
        ...['It said so.', '', '## You', '', ''],
      ].join('\n'),
    );
    const folds = (await neovim.lua(
      'return { vim.fn.foldtextresult(21), vim.fn.foldtextresult(9) }',
    )) as readonly string[];
    t.match(folds[0], /^> good: echo … -> You said t… \(zo opens\)$/);
    t.match(folds[1], / -> 3 lines \(zo opens\)$/);
    t.equal(await neovim.lua('return vim.fn.foldclosedend(21)'), 24);
    await neovim.lua('vim.api.nvim_win_set_width(0, 30)');
    t.match(await neovim.lua('return vim.fn.foldtextresult(21)'), /^> good: … -> You s… \(zo opens\)$/);

    runner.say('Again.');
    await neovim.type('Gisure?<Esc><CR>');
    await neovim.until<string>(text, says('Again.'));
    t.match(lastBody(runner.bodies('/api/chat')).messages, [
      { role: 'user', content: 'what is there?' },
      { role: 'assistant', content: 'I look.', tool_calls: [{}, {}, { function: { arguments: {} } }] },
      { role: 'tool', content: /^You said # a/ },
      { role: 'tool', content: 'You said two.' },
      { role: 'tool', content: /did not allow/ },
      { role: 'assistant', content: 'It said so.' },
      { role: 'user', content: 'sure?' },
    ]);

    // A conversation that was kept shows its calls again, and sends them along.
    await neovim.until(isFree);
    const before = await neovim.lua<string>(text);
    await neovim.lua('vim.cmd.edit()');
    const resumed = await neovim.until<string>(text, (now) => now !== before && now.includes('Again.'));
    t.match(resumed, /\n> \*\*Call of echo\*\*\n> word: "two"\n>\n> \*\*Result:\*\*\n> You said two\.\n/);
    await chat({ runner, neovim }, 'really?', 'Really.');
    t.equal(lastBody(runner.bodies('/api/chat')).messages.length, 9);
  });

  t.test('an edit is asked beside its difference, and the file is read again', async (t) => {
    const { runner, neovim } = await start([], {
      setup: { builtinTools: true },
      // The home folder of the test is in its folder, where the tools would do nothing.
      before: `${choosing}
        vim.fn.mkdir('work')
        vim.fn.writefile({ 'local a = 1', 'local b = 2' }, 'work/src.js')
        vim.cmd.cd('work')
        local select = vim.ui.select
        vim.ui.select = function(...)
          _G.windows = vim.tbl_map(function(window)
            local bufnr = vim.api.nvim_win_get_buf(window)
            return {
              text = table.concat(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false), '|'),
              diff = vim.wo[window].diff,
              winbar = vim.wo[window].winbar,
            }
          end, vim.api.nvim_tabpage_list_wins(0))
          select(...)
        end`,
    });
    const edit = (path: string, old: string, wanted: string) => ({
      name: 'edit_file',
      arguments: { path, edits: [{ old, new: wanted }] },
    });
    const onDisk = () => readFileSync(join(neovim.folder, 'work', 'src.js'), 'utf8');
    await neovim.lua("vim.cmd.edit('src.js') _G.choices = { 'Once' }");
    runner.toolCalls([edit('src.js', 'b = 2', 'b = 3')]);
    await chat({ runner, neovim }, 'edit it', 'It is done.');
    await neovim.until(isFree);
    t.strictSame(await neovim.lua('return { _G.asked[1], _G.offered[1] }'), [
      'May edit_file change src.js?',
      ['No', 'Once', 'All edits of this answer', 'No, and stop'],
    ]);
    t.match(await neovim.lua('return _G.windows'), [
      { text: 'local a = 1|local b = 2', diff: true, winbar: 'src.js: now' },
      { text: 'local a = 1|local b = 3', diff: true, winbar: 'src.js: after the edit' },
    ]);
    t.equal(await neovim.lua('return vim.fn.tabpagenr("$")'), 1, 'it is closed again');
    t.equal(onDisk(), 'local a = 1\nlocal b = 3\n');
    const inBuffer = "return vim.fn.getbufoneline('src.js', 2)";
    await neovim.until<string>(inBuffer, (line) => line === 'local b = 3');
    t.equal(
      await neovim.lua('return #vim.fn.getbufinfo({ buflisted = 0 })'),
      await neovim.lua('return #vim.fn.getbufinfo()'),
    );

    await neovim.lua("vim.fn.setbufline('src.js', 1, 'local mine') _G.choices = { 'Once' }");
    runner.toolCalls([edit('src.js', 'b = 3', 'b = 4')]);
    await chat({ runner, neovim }, 'again', 'It was not saved.');
    await neovim.until(isFree);
    t.equal(await neovim.lua('return #_G.asked'), 1, 'nobody is asked to lose something');
    t.ok(
      (await neovim.told()).some((line) => /src\.js has unsaved changes, so it was not edited/.test(line)),
    );
    t.equal(onDisk(), 'local a = 1\nlocal b = 3\n');

    runner.toolCalls([edit('new.js', '', 'return {}\n')]);
    runner.say('It was denied.');
    await neovim.lua("vim.cmd.RunnerChat('more') _G.choices = {}");
    await neovim.until<string>(text, says('It was denied.'));
    t.match(await neovim.lua('return _G.windows'), [
      { text: '', winbar: 'new.js: a new file' },
      { text: 'return {}', winbar: 'new.js: after the edit' },
    ]);
    t.equal(await neovim.lua('return vim.fn.tabpagenr("$")'), 1);
  });

  t.test('an agent works in a mode, and its edits are listed and taken back', async (t) => {
    const { runner, neovim } = await start([], {
      setup: { builtinTools: true },
      before: `${choosing}
        vim.fn.mkdir('work')
        vim.fn.writefile({ 'local a = 1', 'local b = 2', 'local c = 3' }, 'work/src.js')
        vim.fn.writefile({ '{ "scripts": { "test": "node a.js" } }' }, 'work/package.json')
        vim.cmd.cd('work')
        _G.typed = {}
        vim.ui.input = function(_, done)
          done(table.remove(_G.typed, 1))
        end`,
    });
    const edit = (old: string, wanted: string) => ({
      name: 'edit_file',
      arguments: { path: 'src.js', old_string: old, new_string: wanted },
    });
    const onDisk = () => readFileSync(join(neovim.folder, 'work', 'src.js'), 'utf8');
    const say = async (prompt: string, answer: string) => {
      runner.say(answer);
      await neovim.lua(`vim.cmd.RunnerChat('${prompt}')`);
      await neovim.until<string>(text, says(answer));
      await neovim.until(isFree);
    };
    await neovim.lua("vim.cmd.edit('src.js')");
    await neovim.lua("_G.choices, _G.typed = { 'No' }, { 'use util.js' }");
    runner.toolCalls([edit('a = 1', 'a = 2')]);
    await say('one', 'It was denied.');
    t.match(await neovim.lua(text), /The user did not allow it: "use util\.js"\./);
    t.match(await neovim.lua('return vim.wo.winbar'), / able:latest · ask /);

    await neovim.lua("_G.choices = { 'All edits' }");
    runner.toolCalls([edit('a = 1', 'a = 2')]);
    runner.toolCalls([edit('c = 3', 'c = 4')]);
    await say('two', 'Both are done.');
    t.equal(await neovim.lua('return #_G.asked'), 2);
    t.equal(onDisk(), 'local a = 2\nlocal b = 2\nlocal c = 4\n');

    await neovim.lua("vim.cmd.RunnerMode('all')");
    await neovim.lua("vim.cmd.RunnerMode('edit')");
    t.match(await neovim.lua('return vim.wo.winbar'), / able:latest · edit /);
    runner.toolCalls([edit('b = 2', 'b = 5')]);
    await say('three', 'It is done.');
    t.equal(await neovim.lua('return #_G.asked'), 2, 'nobody is asked');
    const inBuffer = "return vim.fn.getbufoneline('src.js', 2)";
    await neovim.until<string>(inBuffer, (line) => line === 'local b = 5');

    await neovim.lua("vim.cmd.RunnerMode('ask')");
    runner.toolCalls([edit('b = 5', 'b = 6')]);
    runner.say('It was withdrawn.');
    await neovim.lua("vim.cmd.RunnerChat('again') vim.cmd.wincmd('p')");
    await neovim.tells('the chat asks whether edit_file may run');
    await neovim.lua("vim.cmd.RunnerMode('edit')");
    await neovim.until<string>(text, says('It was withdrawn.'));
    await neovim.until(isFree);
    t.equal(await neovim.lua('return #_G.asked'), 2, 'the mode has answered');
    t.equal(onDisk(), 'local a = 2\nlocal b = 6\nlocal c = 4\n');
    await neovim.lua("_G.choices = { 'Yes' } vim.cmd.RunnerUndo()");
    await neovim.until<string>(text, says('The user took back the edits of src.js.'));
    await neovim.lua("vim.cmd('RunnerUndo!')");
    await neovim.until<string>(text, says('The user brought back the edits of src.js.'));

    await neovim.lua('vim.cmd.RunnerEdits()');
    const places = `return vim.tbl_map(function(item)
      return { vim.fn.fnamemodify(vim.fn.bufname(item.bufnr), ':t'), item.lnum, item.text }
    end, vim.fn.getqflist())`;
    t.strictSame(await neovim.until(places, (found: readonly unknown[]) => found.length > 0), [
      ['src.js', 2, '-local b = 5'],
    ]);
    await neovim.lua("vim.cmd.cclose() _G.choices = { 'Yes' } vim.cmd.RunnerUndo()");
    await neovim.until<string>(inBuffer, (line) => line === 'local b = 5');
    t.equal(onDisk(), 'local a = 2\nlocal b = 5\nlocal c = 4\n');
    t.equal((await neovim.lua<readonly string[]>('return _G.asked')).at(-1), 'Take back 1 edit in 1 file?');
    await say('four', 'I see.');
    t.match(
      JSON.stringify(lastBody(runner.bodies('/api/chat'))),
      /The user took back the edits of src\.js\./,
    );
    await neovim.lua("vim.cmd('RunnerUndo!')");
    await neovim.until<string>(inBuffer, (line) => line === 'local b = 6');
    t.equal(onDisk(), 'local a = 2\nlocal b = 6\nlocal c = 4\n');

    await neovim.lua("_G.choices = { 'test', 'Let them' } vim.cmd.RunnerCheck()");
    await neovim.tells('the check test counts from the next prompt on');
    await neovim.lua("_G.choices = { 'read' } vim.cmd.RunnerMode()");
    await neovim.until("return vim.wo.winbar:find('· read', 1, true) ~= nil");
    await say('five', 'Only read.');
    t.equal(lastBody(runner.bodies('/api/chat')).tools?.length, 3);
    t.ok((await neovim.told()).some((line) => /There is no mode "all"/.test(line)));

    const name = await neovim.lua<string>('return vim.api.nvim_buf_get_name(0)');
    await neovim.lua(`vim.cmd('bwipeout!') vim.cmd.edit('${name}')`);
    await neovim.until<string>(text, says('It begins in the mode ask'));
    t.match(await neovim.lua('return vim.wo.winbar'), / · ask /);
  });

  t.test('a question waits until it can be answered, and a cancel settles it', async (t) => {
    const { runner, neovim } = await start(['good'], { files: { 'a.txt': 'a\n' } });
    await neovim.lua("_G.choices = { 'Once' }");
    runner.toolCalls([echo('one')]);
    runner.say('It said one.');
    await neovim.lua("vim.cmd.RunnerChat('go')");
    await neovim.type('Gi');
    await neovim.until("return vim.wo.winbar:find('May echo run?', 1, true) ~= nil");
    await neovim.type('next');
    await neovim.until<string>(text, (now) => now.endsWith('## You\n\nnext'));
    t.equal(await neovim.lua('return #_G.asked'), 0);
    await neovim.type('<Esc>');
    await neovim.until<string>(text, says('It said one.'));
    await neovim.until(isFree);
    t.match(await neovim.lua(text), /\n## You\n\nnext$/);

    runner.toolCalls([{ name: 'slow', arguments: {} }, echo('two')], { text: 'I look.' });
    await neovim.type('<CR><C-w>p');
    await neovim.tells('Runner: the chat asks whether slow may run. Go there to answer.');
    t.equal(await neovim.lua('return #_G.asked'), 1, 'nobody is asked over another file');
    await neovim.lua('vim.cmd.RunnerCancel()');
    await neovim.lua("vim.cmd.wincmd('p')");
    await neovim.until(isFree);
    t.equal(await neovim.lua('return #_G.asked'), 1);
    const cancelled = await neovim.lua<string>(text);
    t.match(cancelled, /I look\..*\*\*Call of slow\*\*.*\*Cancelled\.\*\n+## You\n\n$/s);
    t.equal(cancelled.split('I look.').length, 2, 'the text above the calls is not repeated below them');
  });

  t.test('a question in a hidden chat does not hold up other chats', async (t) => {
    const { runner, neovim } = await start();
    await neovim.lua(
      "vim.cmd.RunnerChat() _G.hidden = vim.api.nvim_get_current_buf() vim.cmd('RunnerChat!')",
    );
    await neovim.until(isFree);
    runner.toolCalls([{ name: 'slow', arguments: {} }]);
    await neovim.lua('vim.cmd.buffer(_G.hidden)');
    // Typing, so that it is asked later, elsewhere.
    await neovim.type('Gihidden<C-s>more');
    await neovim.until("return vim.wo.winbar:find('May slow run?', 1, true) ~= nil");
    await neovim.type('<Esc>:enew<CR>');
    await neovim.until<string>('return vim.api.nvim_buf_get_name(0)', (name) => name === '');
    runner.toolCalls([echo('seen')]);
    runner.say('It was seen.');
    await neovim.lua("_G.choices = { 'Once' } vim.cmd('RunnerChat! seen')");
    await neovim.until<string>(text, says('It was seen.'));
    const asked = await neovim.lua<readonly string[]>('return _G.asked');
    t.match(asked, [/^May good run echo/], 'only what is looked at');
    await neovim.lua('vim.cmd.buffer(_G.hidden)');
    await neovim.until<readonly string[]>('return _G.asked', (now) => now.length === 2);
  });

  t.test('servers are listed and switched, and failures are shown once', async (t) => {
    const { runner, neovim } = await start(['good', 'ends']);
    await chat({ runner, neovim }, 'one', 'One.');
    await neovim.until(isFree);
    t.match(await neovim.lua(text), /\n\*.*ends.*\*\n/);
    t.equal(lastBody(runner.bodies('/api/chat')).tools?.length, 11);
    await neovim.lua("_G.choices = { 'good' } vim.cmd.RunnerTools()");
    await neovim.tells('Runner: good is off for this chat.');
    const [rows] = await neovim.lua<readonly (readonly string[])[]>('return _G.offered');
    t.match(rows?.[0], /^ends +failed +ended with code 4\.$/);
    t.match(rows?.[1], /^good +on +11 tools$/);
    t.match(rows?.[2], /^ {2}echo +The tool echo\.$/);
    await chat({ runner, neovim }, 'two', 'Two.');
    await neovim.until(isFree);
    t.equal(lastBody(runner.bodies('/api/chat')).tools, undefined);
    t.equal((await neovim.lua<string>(text)).match(/^\*.*\*$/gm)?.length, 1, 'it is said once');
  });

  t.test('login and logout of a tool server, from the list or by name', async (t) => {
    const { url } = await startAuthorizationPeer(t);
    const { neovim } = await start([], { setup: { mcpServers: { web: { url } } } });
    await neovim.lua('_G.opened = {} vim.ui.open = function(url) table.insert(_G.opened, url) end');
    const told = (part: string) => neovim.tells(part);
    const address = async () => {
      await neovim.lua('_G.told = {}');
      const shown = await neovim.until<string>(text, says('Open this address in your browser:\n\nhttp'));
      return shown.match(/^http:.*$/m)?.[0] ?? '';
    };
    const isGone = () => neovim.until<string>(text, (now) => !now.includes('Open this address'));
    await neovim.lua("_G.choices = { 'web' } vim.cmd.RunnerTools()");
    await browse(await address());
    await told('Runner: You are logged in to web.');
    await isGone();
    t.strictSame(await neovim.lua('return _G.opened'), [], 'there is no screen');
    const [rows] = await neovim.lua<readonly (readonly string[])[]>('return _G.offered');
    t.match(rows, [/^web +needs login +choose it to log in$/]);
    await neovim.lua('vim.cmd.RunnerTools()');
    const offered = await neovim.until<readonly (readonly string[])[]>(
      'return _G.offered',
      ({ length }) => length === 2,
    );
    t.match(offered[1]?.[0], /^web +on +\d+ tools?$/);
    await neovim.lua("vim.cmd.RunnerLogout('web')");
    await told('Runner: You are logged out of web, and its login is revoked.');

    // A browser on another machine, of somebody who has a screen here too.
    await neovim.lua("vim.env.DISPLAY = ':0' vim.cmd.RunnerLogin('web')");
    const asked = await address();
    t.strictSame(await neovim.lua('return _G.opened'), [asked]);
    const redirect = await fetch(asked, { redirect: 'manual' });
    await neovim.lua('vim.cmd.RunnerLogin({ args = { "web", ... } })', redirect.headers.get('location'));
    await told('Runner: You are logged in to web.');

    await neovim.lua("vim.cmd.RunnerLogin('web')");
    await address();
    await neovim.lua('vim.cmd.RunnerCancel()');
    await told('Runner: The login to web was cancelled.');
    await isGone();
    await neovim.lua("vim.cmd.RunnerLogin('nope')");
    await told('Runner: There is no tool server "nope" at an address');
    t.strictSame(await neovim.lua("return vim.fn.getcompletion('RunnerLogin ', 'cmdline')"), ['web']);
  });

  t.test('a model without tools answers, with one notice', async (t) => {
    const plain = [{ name: 'plain:latest', capabilities: ['completion' as const] }];
    const { runner, neovim } = await start(['good'], { runner: { models: plain } });
    for (const word of ['One.', 'Two.']) {
      runner.say(word);
      await neovim.lua(`vim.cmd.RunnerChat('say ${word}')`);
      await neovim.until<string>(text, says(`\n${word}`));
      await neovim.until(isFree);
    }
    const shown = await neovim.lua<string>(text);
    t.equal(shown.match(/^\*.*tools.*\*$/gm)?.length, 1, shown);
  });

  t.test('no result of a tool stops the chat', async (t) => {
    const { runner, neovim } = await start(['good'], {
      setup: { mcpServers: toolServers('good'), approvals: { good: 'always' }, contextLength: 65_536 },
    });
    for (const name of ['odd', 'crash', 'long']) {
      runner.toolCalls([{ name, arguments: {} }]);
      runner.say(`That was ${name}.`);
      await neovim.lua(`vim.cmd.RunnerChat('try ${name}')`);
      await neovim.until<string>(text, says(`That was ${name}.`));
      await neovim.until(isFree);
    }
    t.equal(await neovim.lua('return #_G.asked'), 0);
    const longest = await neovim.lua<number>(
      'return math.max(unpack(vim.tbl_map(vim.fn.strchars, vim.api.nvim_buf_get_lines(0, 0, -1, false))))',
    );
    t.ok(longest < 1_100, String(longest));
  });
});

t.test('the chat keeps working whatever the user edits', parts, async (t) => {
  const { runner, neovim } = await startWithRunner(t, { runner: { models } });
  const ask = async (word: string, keys = `Gi${word}<Esc><CR>`) => {
    runner.say(`${word}!`);
    await neovim.type(keys);
    await neovim.until<string>(text, says(`\n${word}!`));
    await neovim.until(isFree);
    const { messages } = lastBody(runner.bodies('/api/chat'));
    t.match(messages.at(-1), { role: 'user', content: word }, word);
    t.match(await neovim.lua(text), new RegExp(`\\n${word}!\\n+## You\\n\\n$`), word);
    return messages.length;
  };
  await chat({ runner, neovim }, 'first', 'first!');
  await neovim.until(isFree);
  const whole = await neovim.lua<string>(text);

  await neovim.type(':%d<CR>');
  await neovim.until<string>(text, (now) => now === '## You\n\n');
  t.equal(await ask('two'), 3, 'what was said is not forgotten');
  await neovim.type(':%d<CR>');
  await neovim.until<string>(text, (now) => now === '## You\n\n');
  await neovim.type('u');
  await neovim.until<string>(text, says('two!'));
  await neovim.type('<C-r>');
  await neovim.until<string>(text, (now) => now === '## You\n\n');
  await ask('three');
  await neovim.type('uuu:undo 0<CR>');
  await ask('four');
  t.match(await neovim.lua(text), /three!/, 'an answer cannot be undone');
  await neovim.type('gg:%s/## You//<CR>');
  await ask('five');
  // The heading alone, with a draft below it.
  await neovim.type('Giidle<Esc>?## You<CR>dd');
  runner.say('idle!');
  await neovim.type('<CR>');
  await neovim.until<string>(text, says('\nidle!'));
  await neovim.until(isFree);
  await neovim.type('ggdG');
  await ask('six', 'isix<Esc><CR>');
  await neovim.lua('vim.bo.modifiable = false');
  await chat({ runner, neovim }, 'seven', 'seven!');
  await neovim.until(isFree);
  t.equal(await neovim.lua('return vim.bo.modifiable'), false);
  await neovim.lua('vim.bo.modifiable = true');

  runner.tokens(400, { perSecond: 150 });
  await neovim.type('Gicount<Esc><CR>');
  await neovim.until<string>(text, says('1 2 3'));
  await neovim.type('uu<C-r>');
  await neovim.until<string>(text, says(' 80 '));
  await neovim.type(':%d<CR>');
  await neovim.until<string>(text, (now) => !says('1 2 3')(now));
  await neovim.type('Ginext<Esc>');
  await neovim.until(isFree);
  t.match(await neovim.lua(text), /399 400 ?\n+## You\n\nnext$/);
  await ask('next', '<CR>');

  await neovim.type('<CR>');
  await neovim.tells('Runner: There is nothing to send. Type below the last "## You".');
  t.ok(whole.startsWith('## You\n\nfirst\n'));
});

t.test('several chats, another answer, and an editor session', parts, async (t) => {
  const { runner, neovim } = await startWithRunner(t, { runner: { models }, before: choosing });
  const say = async (prompt: string, answer: string, command = 'RunnerChat') => {
    runner.say(answer);
    await neovim.lua(`vim.cmd('${command} ${prompt}')`);
    await neovim.until<string>(text, says(answer));
    await neovim.until(isFree);
  };
  await say('one', 'First.');
  const first = await neovim.lua<string>('return vim.api.nvim_buf_get_name(0)');
  t.match(first, /^runner:\/\/chat\/\d{8}-\w{8}$/);
  await say('two', 'Second.', 'RunnerChat!');
  t.match(await neovim.lua(text), /^## You\n\ntwo\n/);
  t.strictSame(lastBody(runner.bodies('/api/chat')).messages.length, 1);
  t.equal(await neovim.lua('return vim.fn.winnr("$")'), 2, 'in the place of the other one');

  runner.say('Third.');
  await neovim.type('gR');
  await neovim.until<string>(text, says('Third.'));
  await neovim.until(isFree);
  t.match(await neovim.lua(text), /Second\..*\n## You\n\ntwo\n\n\*once more\*\n\n## able:latest\n\nThird\./s);
  t.match(lastBody(runner.bodies('/api/chat')).messages, [{ role: 'user', content: 'two' }]);
  await say('three', 'Fourth.');
  t.match(lastBody(runner.bodies('/api/chat')).messages, [
    { content: 'two' },
    { content: 'Third.' },
    { content: 'three' },
  ]);

  const { length: before } = lastBody(runner.bodies('/api/chat')).messages;
  runner.errorLine('engine gone', 'Half ');
  await neovim.lua("vim.cmd('RunnerChat four')");
  await neovim.until<string>(text, says('engine gone'));
  await neovim.until(isFree);
  await say('five', 'Fifth.');
  t.match(
    lastBody(runner.bodies('/api/chat')).messages,
    { length: before + 2, 4: { content: 'five' } },
    'what failed is left out',
  );

  await neovim.lua("_G.choices = { '\"one\"', 'Open' } vim.cmd.RunnerSessions()");
  await neovim.until<string>('return vim.api.nvim_buf_get_name(0)', (name) => name === first);
  const shown = await neovim.lua<string>(text);
  await neovim.lua("vim.cmd('mksession! session.vim')");
  await neovim.lua("vim.cmd('%bwipeout!') vim.cmd.source('session.vim')");
  await neovim.until<string>(text, (now) => now === shown);
  t.equal(await neovim.lua('return vim.bo.buftype'), 'nofile');
  await say('still?', 'Still.');
  t.match(lastBody(runner.bodies('/api/chat')).messages, [
    { content: 'one' },
    { content: 'First.' },
    { content: 'still?' },
  ]);
});

t.test('quitting during an answer keeps it, and an unanswered prompt too', parts, async (t) => {
  const { runner, neovim } = await startWithRunner(t, { runner: { models } });
  const folder = join(neovim.folder, '.state', 'runner', 'sessions');
  runner.tokens(1_000_000, { perSecond: 200 });
  await neovim.lua("vim.cmd('RunnerChat count')");
  await neovim.until<string>(text, says('7 8 9'));
  runner.hang();
  await neovim.lua("vim.cmd('RunnerChat! wait')");
  await runner.waitFor(() => runner.bodies('/api/chat').length === 2);
  await neovim.type('<Esc>:qa!<CR>');
  await poll(
    async () => readdirSync(join(folder, 'locks')),
    (marks) => marks.length === 0,
  );
  const kept = readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => readFileSync(join(folder, name), 'utf8').trimEnd().split('\n'))
    .map((lines) => lines.map((line) => JSON.parse(line)).filter(({ type }) => type === 'message'))
    .sort(([one], [other]) => (one.content < other.content ? -1 : 1));
  t.match(kept, [
    [{ content: 'count' }, { content: /^1 2 3 4 5 6 7 8 9/, partial: 'cancelled' }],
    [{ content: 'wait' }],
  ]);
  t.equal(kept[1]?.length, 1);
});

t.test('#buffer and #file: are sent and completed', parts, async (t) => {
  const files = { 'sum.lua': 'return 1\n', 'a b.txt': 'blank\n', 'c.bin': 'a\0b', '.env': 'TOKEN=1\n' };
  const { runner, neovim } = await startWithRunner(t, { runner: { models }, before: choosing, files });
  await neovim.type('cc-- unsaved<Esc>');
  runner.say('A sum.');
  await neovim.lua(`vim.cmd([[RunnerChat what is #buffer, and (#file:sum.lua) #file:"a b.txt"?]])`);
  await neovim.until<string>(text, says('A sum.'));
  await neovim.until(isFree);
  t.match(await neovim.lua(text), /\n\*with .*sum\.lua.*\*\n/);
  const [context] = lastBody(runner.bodies('/api/chat')).messages as readonly { content: string }[];
  t.match(context?.content, /<attachment path="a b\.txt".*blank/s);
  const sum = /<attachment path="sum\.lua" language="lua">\n-- unsaved\n/g;
  t.equal(context?.content.match(sum)?.length, 2, 'as it is in the editor');

  for (const [prompt, problem] of [
    ['see #file:nope.lua', /There is no file nope\.lua, so/],
    ['see #file:c.bin', /c\.bin is no text, so it is not attached/],
  ] as const) {
    runner.say('Nothing.');
    await neovim.lua(`vim.cmd([[RunnerChat! ${prompt}]])`);
    await neovim.until<string>(text, says('Nothing.'));
    await neovim.until(isFree);
    t.match((await neovim.told()).at(-1), problem);
    t.match(lastBody(runner.bodies('/api/chat')).messages, [{ content: prompt }]);
  }

  await neovim.lua("_G.choices = { 'No' } vim.cmd('RunnerChat! see #file:.env')");
  await neovim.until<readonly string[]>('return _G.asked', (asked) => asked.length === 1);
  t.match(await neovim.lua('return _G.asked'), [/^\.env looks like a file with secrets\. Send it\? $/]);
  await runner.waitFor(() => runner.bodies('/api/chat').length === 4);
  t.notMatch(JSON.stringify(runner.bodies('/api/chat')), /TOKEN/);
  await neovim.until(isFree);
  await neovim.type('Gi#fi<Tab><C-y>su<Tab><C-y> and #b<Tab><C-y> x<Tab>y<Esc>');
  await neovim.until<string>(text, (now) => now.endsWith('#file:sum.lua and #buffer x\ty'));
});

t.test('@path, @folder/ and addresses are sent, after a question where it takes one', parts, async (t) => {
  const { runner, neovim } = await startWithRunner(t, {
    runner: { models },
    before: choosing,
    files: { 'sum.lua': 'return 1\n', 'a b.txt': 'blank\n', '.env': 'TOKEN=1\n' },
  });
  const src = join(neovim.folder, 'src');
  mkdirSync(src);
  for (const name of ['one.lua', 'two.lua']) writeFileSync(join(src, name), `-- ${name}\n`);
  writeFileSync(join(src, 'dot.png'), pictures.png);
  const context = () =>
    (lastBody(runner.bodies('/api/chat')).messages as readonly { readonly content: string }[])
      .map(({ content }) => content)
      .join('\n');
  const ask = async (prompt: string, answer: string) => {
    runner.say(answer);
    await neovim.lua("vim.cmd('bwipeout!')").catch(() => undefined);
    await neovim.lua("vim.cmd('RunnerChat! ' .. ...)", prompt);
    await neovim.until<string>(text, says(answer));
    await neovim.until(isFree);
    return neovim.lua<string>(text);
  };

  await neovim.type('cc-- unsaved<Esc>');
  await neovim.until('return vim.bo.modified');
  await neovim.lua("vim.cmd('RunnerChat')");
  const shown = await ask('what is @sum.lua, @src/ and @"a b.txt"? Not me@home', 'A sum.');
  t.match(
    shown,
    /\n\*with sum\.lua \(10 bytes, about \d+ tokens\), 2 files of @src\/ \(.*: src\/one\.lua, src\/two\.lua\), a b\.txt \(.*\)\*\n/,
  );
  t.match(context(), /path="sum\.lua" language="lua">\n-- unsaved\n/, 'as it is in the editor');
  t.match(context(), /path="src\/one\.lua".*-- one\.lua.*path="a b\.txt".*blank/s);
  t.match(context(), 'what is @sum.lua, @src/');

  await neovim.lua("_G.choices = { 'No' }");
  t.notMatch(await ask('see @.env', 'No secret.'), /with/);
  t.notMatch(context(), /TOKEN/);
  await neovim.lua("_G.choices = { 'Yes' }");
  await ask('see @.env', 'A secret.');
  t.match(context(), /TOKEN=1/);
  t.strictSame(await neovim.lua('return _G.asked'), [
    '.env looks like a file with secrets. Send it? ',
    '.env looks like a file with secrets. Send it? ',
  ]);

  await neovim.lua("_G.asked, _G.choices = {}, { 'Yes' }");
  t.match(await ask(`see @${runner.url}/`, 'A page.'), /with http:\/\/127/);
  t.match(context(), /Ollama is running/);
  t.match(await neovim.lua('return _G.asked'), [/^Fetch http.* from 127\.0\.0\.1:\d+\? $/]);

  // A question that is left sends nothing, and the prompt stays. A name that is none is only text.
  await neovim.lua("vim.cmd('RunnerChat! see @.env')");
  await neovim.until<readonly string[]>('return _G.asked', (asked) => asked.length === 2);
  t.equal(await neovim.lua(text), '## You\n\nsee @.env');
  await ask('see @nope.lua', 'Nothing.');
  t.match((await neovim.told()).at(-1), /There is no file nope\.lua, so @nope\.lua is only text/);
  await ask('see @src/dot.png', 'A dot.');
  t.match(await neovim.lua(text), /with src\/dot\.png \(/);

  await neovim.type('Gi@su<Tab><C-y> and @sr<Tab><C-y>tw<Tab><C-y> <Tab>y<Esc>');
  await neovim.until<string>(text, (now) => now.endsWith('@sum.lua and @src/two.lua \ty'));
});

t.test('@server:uri sends a resource of a tool server, and is completed', parts, async (t) => {
  const team = { command: process.execPath, args: [resolve('test', 'support', 'offeringServer.cjs')] };
  const { runner, neovim } = await startWithRunner(t, {
    runner: { models },
    setup: { mcpServers: { team } },
    before: choosing,
    files: { '.env': 'OWN=1\n' },
  });
  await neovim.type('ccMINE=1<Esc>');
  await neovim.until('return vim.bo.modified');
  await neovim.lua("vim.cmd.file('/project/.env')");
  runner.say('A memo.');
  await neovim.lua("vim.cmd('RunnerChat what is @team:memo://1, and @team:memo://nothing')");
  await neovim.until<string>(text, says('A memo.'));
  await neovim.until(isFree);
  t.match(await neovim.lua(text), /\*with team:memo:\/\/1 \(18 bytes, about \d+ tokens\)\*/);
  t.match(JSON.stringify(runner.bodies('/api/chat')), 'Remember @notes.md');
  t.match((await neovim.told()).at(-1), /The tool server team has nothing at memo:/);

  // It looks like a secret by the path that the server says. A buffer of this machine never stands in for it.
  await neovim.lua("_G.choices = { 'Yes' }");
  runner.say('A secret.');
  await neovim.lua("vim.cmd('RunnerChat what is @team:file:///project/.env')");
  await neovim.until<string>(text, says('A secret.'));
  await neovim.until(isFree);
  t.match(await neovim.lua('return _G.asked'), [
    /^team:file:\/\/\/project\/\.env looks like a file with secrets/,
  ]);
  t.match(JSON.stringify(runner.bodies('/api/chat')), 'KEY=1');
  t.notMatch(JSON.stringify(runner.bodies('/api/chat')), 'MINE=1');

  await neovim.type('Gi@te<Tab><C-y>memo://p<Tab>');
  await neovim.until(
    "return vim.fn.pumvisible() == 1 and vim.fn.complete_info({ 'items' }).items[1].menu == 'The pair'",
  );
  await neovim.type('<C-y> so<Esc>');
  await neovim.until<string>(text, (now) => now.endsWith('@team:memo://pair so'));
});

t.test('/name sends a prompt that is kept as a file, and is completed', parts, async (t) => {
  const { runner, neovim } = await startWithRunner(t, {
    runner: { models },
    before: choosing,
    files: { 'a.lua': 'return 1\n' },
  });
  const prompts = join(neovim.folder, '.state', '.config', 'runner', 'prompts');
  const workspace = join(neovim.folder, '.runner', 'prompts');
  for (const folder of [prompts, workspace]) mkdirSync(folder, { recursive: true });
  const front = 'description: Explains it\narguments: [{ name: topic, required: true }, { name: reader }]';
  writeFileSync(
    join(prompts, 'explain.md'),
    `---\n${front}\n---\nExplain {{topic}} to {{reader}}, not #file:a.lua.`,
  );
  writeFileSync(join(workspace, 'fix.md'), 'Fix it.');
  const lastSent = () => lastBody(runner.bodies('/api/chat')).messages.at(-1);

  runner.say('A loop.');
  await neovim.lua(`vim.cmd([[RunnerChat /explain "for {{reader}}" me]])`);
  await neovim.until<string>(text, says('A loop.'));
  t.match(lastSent(), { content: 'Explain for {{reader}} to me, not #file:a.lua.' });
  t.match(
    await neovim.lua(text),
    /## You\n\nExplain for \{\{reader\}\} to me.*\n\n\*\/explain\*\n\n## able:latest\n/,
  );
  await neovim.until(isFree);

  await neovim.lua('vim.cmd([[RunnerChat /explain]])');
  await neovim.until<readonly string[]>('return _G.told', (told) =>
    /Nothing was sent\. The prompt \/explain needs a value for "topic"/.test(told.at(-1) ?? ''),
  );
  t.match(await neovim.lua(text), /## You\n\n\/explain$/, 'what was typed stays');
  await neovim.type('ggdG');
  await neovim.until<string>(text, (now) => now === '## You\n\n');
  // Completion plugins ask while the word is still in the line.
  await neovim.type('Gi/ex');
  await neovim.until<string>(text, (now) => now.endsWith('/ex'));
  const listed = await neovim.lua("return require('runner.chat.mentions').omnifunc(0, '/ex')");
  t.match(listed, [{ word: '/explain', menu: 'topic [reader]  Explains it' }]);
  await neovim.type('<Tab><C-y> to<Tab><C-y>x<Esc>');
  await neovim.until<string>(text, (now) => now.endsWith('/explain topic=x'));
  runner.say('An x.');
  await neovim.type('<CR>');
  await neovim.until<string>(text, says('An x.'));
  t.match(lastSent(), { content: 'Explain x to , not #file:a.lua.' });
  await neovim.until(isFree);

  await neovim.lua('vim.cmd([[RunnerChat /fix]])');
  const asked = await neovim.until<readonly string[]>(
    'return _G.asked',
    (questions) => questions.length === 1,
  );
  t.match(asked[0], /^Use the prompt of this workspace from now on, in .*\.runner\/prompts\? $/);
  t.match(await neovim.lua(text), /## You\n\n\/fix$/, 'without an answer, nothing is sent');
  await neovim.lua("_G.choices = { 'Yes' }");
  runner.say('Fixed.');
  await neovim.type('<Esc><CR>');
  await neovim.until<string>(text, says('Fixed.'));
  t.match(lastSent(), { content: 'Fix it.' });
});

t.test('text typed while a model is looked up stays, and <C-c> ends the lookup', parts, async (t) => {
  // The answer is held back until it is let go.
  const before = `
    local connection = require('runner.connection')
    local request = connection.request
    connection.request = function(method, params, done)
      return request(method, params, function(...)
        local answer = { ... }
        if method ~= 'runner/models/chatModel' then return done(...) end
        _G.found = function() done(answer[1], answer[2]) end
      end)
    end`;
  const { runner, neovim } = await startWithRunner(t, { runner: { models }, before });
  runner.say('Hello.');
  await neovim.lua("vim.cmd.RunnerChat('first')");
  await neovim.until("return _G.found ~= nil and vim.wo.winbar:find('<C-c> cancels', 1, true) ~= nil");
  await neovim.type('<C-c>');
  await neovim.until(isFree);
  await neovim.lua('_G.found() _G.found = nil');
  t.equal(await neovim.lua(text), '## You\n\nfirst');
  // The model is known now; another chat looks it up anew.
  await neovim.lua("vim.cmd('RunnerChat!')");
  await neovim.until('return _G.found ~= nil');
  await neovim.lua('_G.found = nil');
  await neovim.type('Gisecond<C-s>');
  await neovim.until('return _G.found ~= nil');
  await neovim.type('<CR>third ');
  await neovim.until<string>(text, (now) => now.endsWith('second\nthird '));
  await neovim.lua('_G.found()');
  await neovim.until<string>(text, says('Hello.'));
  await neovim.until(isFree);
  t.equal(await neovim.lua(text), '## You\n\nsecond\n\n## able:latest\n\nHello.\n\n## You\n\nthird ');
  await neovim.type('more');
  await neovim.until<string>(text, (now) => now.endsWith('\nthird more'));
});

t.test('the chat model is that of setup, or the last choice', parts, async (t) => {
  const both = [...models, { name: 'other:latest', capabilities: ['completion' as const] }];
  const setup = { chatModel: 'gone:1b' };
  const { neovim } = await startWithRunner(t, { runner: { models: both }, setup, before: choosing });
  await neovim.lua('vim.cmd.RunnerChat()');
  await neovim.until<readonly string[]>('return _G.told', ([first = '']) =>
    /^Runner: The chat model gone:1b is not installed, or cannot chat\./.test(first),
  );
  for (const chosen of ['other', 'able']) {
    await neovim.lua('_G.choices = { ... }', chosen);
    await neovim.type('gm');
    await neovim.until<string>('return vim.wo.winbar', says(chosen));
    await neovim.lua("vim.cmd('RunnerChat!')");
    await neovim.until<string>('return vim.wo.winbar', says(chosen));
  }
});
