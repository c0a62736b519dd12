import t from 'tap';
import type { Neovim } from '../support/neovim.ts';
import { startWithRunner } from '../support/neovimChat.ts';
import { needs } from '../support/parts.ts';

const parts = needs('neovim');

const models = [{ name: 'able:latest', capabilities: ['completion' as const], contextLength: 131_072 }];

const file = ['local a = 1', 'local b = 2', 'local c = 3', 'local d = 4', 'return a'];

/** A Neovim with a file of these lines. */
const start = (
  t: Parameters<typeof startWithRunner>[0],
  lines: readonly string[] = file,
  more: object = {},
) => startWithRunner(t, { runner: { models }, files: { 'a.lua': `${lines.join('\n')}\n` }, ...more });

const block = (...lines: readonly string[]) => ['```lua\n', ...lines.map((line) => `${line}\n`), '```\n'];

const buffer = "return table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr('a.lua'), 0, -1, false), '|')";

/** What the user sees of the edit: the rows with deleted lines, and the rows of added lines with their text. */
interface Shown {
  readonly deleted: readonly number[];
  readonly added: readonly (readonly [row: number, isAbove: boolean, ...lines: readonly string[]])[];
  readonly hints: readonly string[];
}

const shownNow = `
local space = vim.api.nvim_create_namespace('runner.edit')
local shown = { deleted = {}, added = {}, hints = {} }
for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, space, 0, -1, { details = true })) do
  if mark[4].line_hl_group then table.insert(shown.deleted, mark[2]) end
  if mark[4].virt_lines then
    local rows = { mark[2], mark[4].virt_lines_above == true }
    for _, line in ipairs(mark[4].virt_lines) do table.insert(rows, vim.trim(line[1][1])) end
    table.insert(shown.added, rows)
  end
end
for _, name in ipairs({ 'runner.edit.place', 'runner.edit.decision' }) do
  local hints = vim.api.nvim_create_namespace(name)
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, hints, 0, -1, { details = true })) do
    if mark[4].virt_text then table.insert(shown.hints, mark[4].virt_text[1][1]) end
  end
end
return shown`;

const lists = (shown: Shown): Shown => ({
  // Lua writes an empty list as an object.
  deleted: [...(Array.isArray(shown.deleted) ? shown.deleted : [])],
  added: [...(Array.isArray(shown.added) ? shown.added : [])],
  hints: [...(Array.isArray(shown.hints) ? shown.hints : [])],
});

const shown = async (neovim: Neovim) => lists(await neovim.lua<Shown>(shownNow));

/** Waits until the difference can be accepted. */
const offered = async (neovim: Neovim) =>
  lists(
    await neovim.until<Shown>(shownNow, (now) => lists(now).hints.some((hint) => hint.includes('accepts'))),
  );

t.test('lines are changed as an instruction says', parts, async (t) => {
  t.test('the difference is shown, and accepted and rejected part by part', async (t) => {
    const { runner, neovim } = await start(t);
    runner.say([
      'Sure.\n',
      ...block('local a = 10', 'local b = 2', 'local c = 3', 'local d = 40', 'return a'),
    ]);
    await neovim.lua("vim.cmd('%RunnerEdit times ten')");
    t.strictSame(await offered(neovim), {
      deleted: [0, 3],
      added: [
        [0, false, 'local a = 10'],
        [3, false, 'local d = 40'],
      ],
      hints: ['  ga accepts, gr rejects, gA and gR all 2, ]c the next'],
    });
    t.equal(await neovim.lua(buffer), file.join('|'), 'nothing has changed yet');
    for (const [columns, hint] of [
      [40, '  ga accepts, gr rejects'],
      [25, '  ga, gr'],
    ] as const) {
      await neovim.lua(
        "vim.cmd.vsplit() vim.cmd.enew() vim.cmd('vertical resize ' .. vim.o.columns - 1 - ...)",
        columns,
      );
      await neovim.lua('vim.cmd.wincmd("p")');
      t.strictSame((await shown(neovim)).hints, [hint], `beside a line in a window of ${columns} columns`);
      await neovim.lua('vim.cmd.only()');
    }
    await neovim.until<Shown>(shownNow, (now) => lists(now).hints.some((hint) => hint.includes('all 2')));
    t.match(runner.bodies('/api/chat').at(-1), {
      messages: [
        { role: 'user', content: /these lines of a\.lua:[\s\S]*```lua\nlocal a = 1\n[\s\S]*times ten/ },
      ],
    });
    await neovim.type('gg]c');
    await neovim.until('return vim.fn.line(".") == 4');
    await neovim.type('ga');
    await neovim.until<string>(buffer, (now) => now.includes('d = 40'));
    t.strictSame(await shown(neovim), {
      deleted: [0],
      added: [[0, false, 'local a = 10']],
      hints: ['  ga accepts, gr rejects'],
    });
    await neovim.type('gr');
    await neovim.until<Shown>(shownNow, (now) => lists(now).deleted.length === 0);
    t.strictSame(await shown(neovim), { deleted: [], added: [], hints: [] });
    t.equal(await neovim.lua(buffer), 'local a = 1|local b = 2|local c = 3|local d = 40|return a');
    t.equal(await neovim.lua("return vim.fn.maparg('ga', 'n')"), '', 'the keys are as they were');
    t.strictSame(await neovim.told(), []);
  });

  t.test('the parts that wait stay where they are when an accepted one is undone', async (t) => {
    const { runner, neovim } = await start(t);
    runner.say(block('local a = 10', 'local b = 2', 'local c = 30', 'local d = 4'));
    await neovim.lua("vim.cmd('%RunnerEdit times ten')");
    await offered(neovim);
    await neovim.type('gau');
    await neovim.until<string>(buffer, (now) => now === file.join('|'));
    t.match(await shown(neovim), { deleted: [2, 4], added: [[2, false, 'local c = 30']] });
    await neovim.type('gA');
    await neovim.until<string>(buffer, (now) => now === 'local a = 1|local b = 2|local c = 30|local d = 4');
  });

  t.test('all of it is one step of undo, and lines may be added, deleted and moved', async (t) => {
    const { runner, neovim } = await start(t);
    runner.say(
      block('-- top', 'local a = 1', 'local c = 3', 'local d = 4', '-- 漢字\tx', 'return a', '-- end'),
    );
    await neovim.lua("vim.cmd('%RunnerEdit comment it')");
    const { deleted, added } = await offered(neovim);
    t.strictSame(deleted, [0, 1], 'the first line of a file has nothing above it');
    t.strictSame(added, [
      [0, false, '-- top', 'local a = 1'],
      [3, false, '-- 漢字 x'],
      [4, false, '-- end'],
    ]);
    // Lines above the edit move it.
    await neovim.lua(
      "vim.api.nvim_buf_set_lines(0, 0, 0, false, { '-- new', '' }) vim.cmd('RunnerEditAccept')",
    );
    const want = '-- top|local a = 1|local c = 3|local d = 4|-- 漢字\tx|return a|-- end';
    t.equal(await neovim.lua(buffer), `-- new||${want}`);
    await neovim.lua("vim.cmd('undo')");
    t.equal(await neovim.lua(buffer), `-- new||${file.join('|')}`);
    await neovim.lua("vim.cmd('redo')");
    t.equal(await neovim.lua(buffer), `-- new||${want}`);
    t.strictSame(await shown(neovim), { deleted: [], added: [], hints: [] });
  });

  t.test('the new lines are shown while they come, and a cancel stops the model', async (t) => {
    const { runner, neovim } = await start(t);
    runner.say([...block('local a = 10').slice(0, 2), ...Array<string>(200).fill('-- more\n')], {
      perSecond: 20,
    });
    await neovim.lua("vim.cmd('2,3RunnerEdit more')");
    await neovim.until<Shown>(shownNow, (now) => JSON.stringify(now).includes('-- more'));
    t.match((await shown(neovim)).hints, [/^ {2}able:latest writes … <C-c> cancels$/]);
    await neovim.lua("vim.cmd('RunnerEditAccept')");
    t.match(await neovim.told(), [/still coming/]);
    await neovim.type('<C-c>');
    await runner.waitFor(({ aborted }) => aborted);
    await neovim.until<Shown>(shownNow, (now) => lists(now).hints.length === 0);
    t.strictSame(await shown(neovim), { deleted: [], added: [], hints: [] });
    t.equal(await neovim.lua(buffer), file.join('|'));
    t.match((await neovim.told()).at(-1), /cancelled\. Nothing was changed/);
    t.equal(await neovim.lua("return vim.fn.maparg('<C-c>', 'n')"), '');
  });

  t.test('lines that the user changes meanwhile are left alone', async (t) => {
    const { runner, neovim } = await start(t);
    runner.say(block('local a = 10', 'local b = 2', 'local c = 3', 'local d = 40', 'return a'));
    await neovim.lua("vim.cmd('%RunnerEdit times ten')");
    await offered(neovim);
    await neovim.lua("vim.fn.setline(4, 'local mine = 4') vim.cmd('RunnerEditAccept')");
    t.equal(await neovim.lua(buffer), 'local a = 10|local b = 2|local c = 3|local mine = 4|return a');
    t.match(
      (await neovim.told()).at(-1),
      /You have changed the lines of one part meanwhile, so it was not accepted/,
    );
    await neovim.lua("vim.cmd('4RunnerEditReject')");
    t.strictSame(await shown(neovim), { deleted: [], added: [], hints: [] });

    runner.say(block('x'), { firstByteAfter: 300 });
    await neovim.lua("vim.cmd('1RunnerEdit again') vim.fn.setline(1, 'mine')");
    await neovim.until("return table.concat(_G.told):find('you have changed these lines', 1, true) ~= nil");
    t.match(await neovim.lua(buffer), /^mine\|/);
  });

  t.test('without lines, the function or the paragraph; without an instruction, a question', async (t) => {
    const lines = [
      'local function f()',
      '  local x = 1',
      '',
      '  return x',
      'end',
      '',
      'one',
      'two',
      '',
      'last',
    ];
    const { runner, neovim } = await start(t, lines, {
      // The parsers of the tests' Neovim are beside its runtime.
      before: `vim.opt.runtimepath:append(vim.env.VIMRUNTIME .. '/../../../lib/nvim')
        vim.ui.input = function(options, done) _G.asked = options.prompt done(_G.answer) end`,
    });
    const sent = () => JSON.stringify(runner.bodies('/api/chat').at(-1));
    await neovim.lua('vim.cmd.RunnerEdit()');
    const parses = await neovim.lua("return vim.treesitter.language.add('lua') == true");
    t.equal(await neovim.lua('return _G.asked'), `What to do with these ${parses ? 5 : 2} lines: `);
    t.strictSame((await shown(neovim)).hints, [], 'no answer is no edit');
    t.equal(runner.bodies('/api/chat').length, 0);

    runner.say(block('1', '2'));
    await neovim.lua("_G.answer = 'count' vim.api.nvim_win_set_cursor(0, { 8, 0 }) vim.cmd.RunnerEdit()");
    await offered(neovim);
    t.match(sent(), /```\w*\\none\\ntwo\\n```/);
    t.match(sent(), /What to do: count/);
    await neovim.type('gA');
    await neovim.until<string>(buffer, (now) => now.includes('|1|2|'));

    runner.say(block('new', 'lines'));
    await neovim.lua("vim.api.nvim_win_set_cursor(0, { 9, 0 }) vim.cmd.RunnerEdit('write')");
    await offered(neovim);
    await neovim.type('gA');
    await neovim.until<string>(buffer, (now) => now.endsWith('|1|2|new|lines|last'));
  });

  t.test('files of Windows, without a last line end, and with lost indentation', async (t) => {
    const { runner, neovim } = await startWithRunner(t, {
      runner: { models },
      before: 'vim.o.fixeol = false',
      files: { 'a.lua': 'if a then\r\n\tb()\r\n\tc()\r\nend' },
    });
    runner.say(block('b(1)', 'c(1)'));
    await neovim.lua("vim.cmd('2,3RunnerEdit one')");
    await offered(neovim);
    await neovim.lua("vim.cmd('RunnerEditAccept | write')");
    t.equal(
      await neovim.lua("return io.open('a.lua', 'rb'):read('*a')"),
      'if a then\r\n\tb(1)\r\n\tc(1)\r\nend',
    );
  });

  t.test('what cannot be edited is refused, and failures change nothing', async (t) => {
    const { runner, neovim } = await start(t);
    const refuses = async (lua: string, says: RegExp) => {
      await neovim.lua(`_G.told = {} ${lua}`);
      t.match(await neovim.until<readonly string[]>('return _G.told', (told) => told.length > 0), [says]);
      t.strictSame(await shown(neovim), { deleted: [], added: [], hints: [] });
    };
    await refuses("vim.bo.modifiable = false vim.cmd('RunnerEdit x')", /cannot be changed/);
    await neovim.lua('vim.bo.modifiable = true');
    await refuses("vim.cmd('RunnerEditAccept')", /No edit is open/);
    runner.failWith(500);
    await refuses("vim.cmd('%RunnerEdit x')", /^Runner: Nothing was changed\. The runner failed/);
    runner.say(block(...file));
    await refuses("vim.cmd('%RunnerEdit x')", /leaves these lines as they are/);
    runner.say(' ');
    await refuses("vim.cmd('%RunnerEdit x')", /wrote no new lines/);
    runner.hang();
    await neovim.lua("vim.cmd('%RunnerEdit x')");
    await neovim.lua("_G.told = {} vim.cmd('%RunnerEdit y')");
    t.match(await neovim.told(), [/An edit is open/]);
    await runner.waitFor(() => runner.bodies('/api/chat').length === 4);
    await neovim.lua("vim.cmd('bwipeout!')");
    await runner.waitFor(({ aborted }) => aborted);
    t.equal(await neovim.lua("return vim.fn.bufexists('a.lua')"), 0);
  });

  t.test('a whole answer counts where no lines are marked, and the user is warned', async (t) => {
    const { runner, neovim } = await start(t);
    runner.say(['local ', 'a = 7'], { perSecond: 2 });
    await neovim.lua("vim.cmd('1RunnerEdit seven')");
    await neovim.until<Shown>(shownNow, (now) => lists(now).hints.some((hint) => hint.includes('writes')));
    t.strictSame((await offered(neovim)).added, [[0, false, 'local a = 7']]);
    t.match(await neovim.told(), [/did not mark the new lines/]);
  });
});
