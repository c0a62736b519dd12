import { execFileSync } from 'node:child_process';
import { mkdir, readFile, realpath, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { createBuiltinServer } from '../../daemon/tools/builtin/builtinServer.ts';
import { FileProblemError } from '../../daemon/tools/builtin/fileProblem.ts';
import { adviceOnTool, argumentsAsMeant } from '../../daemon/tools/builtin/forgivenCall.ts';
import { applyEdits } from '../../daemon/tools/builtin/textEdits.ts';
import { where } from '../support/systems.ts';
import { temporaryFolder, writeFiles } from '../support/temporaryFolder.ts';

type Given = Record<string, unknown>;

/** The built-in tools in a folder with these files, as the loop calls them. */
async function toolsIn(
  test: Parameters<typeof temporaryFolder>[0],
  files: Readonly<Record<string, string | Uint8Array>>,
  folders: readonly string[] = ['proj'],
) {
  const top = await realpath(await temporaryFolder(test));
  for (const folder of folders) await mkdir(join(top, folder));
  await writeFiles(top, files);
  const server = createBuiltinServer({
    entry: { name: 'builtin', kind: 'builtin', folders: folders.map((folder) => join(top, folder)) },
    env: {},
    platform: process.platform,
    now: Date.now,
    findPrivacy: async (path) => (path.endsWith('.env') ? 'secret' : undefined),
    openDocuments: () => [],
    showsDiffs: () => true,
  });
  const never = new AbortController().signal;
  const requestOf = (name: string, given: Given, characters = 32_000) => ({
    ...{ name, arguments: argumentsAsMeant(name, given), inputSchema: {} },
    bounds: { characters, replaceable: 2_000 },
  });
  return {
    top,
    read: (path: string) => readFile(join(top, 'proj', path), 'utf8'),
    write: (path: string, text: string) => writeFile(join(top, 'proj', path), text),
    prepare: async (name: string, given: Given) => server.prepare?.(requestOf(name, given), never),
    call: async (name: string, given: Given, characters?: number) =>
      (await server.call(requestOf(name, given, characters), { signal: never })).content,
  };
}

t.test('files are listed with their sizes, folders first, as deep as there is room', async (t) => {
  const many = Object.fromEntries(
    Array.from({ length: 300 }, (_, at) => [`proj/lib/part${at % 3}/file${at}.ts`, 'x'.repeat(at)]),
  );
  const { call, top } = await toolsIn(t, {
    ...many,
    'proj/.gitignore': 'dist/\n',
    'proj/dist/out.js': '',
    'proj/.env': 'KEY=1',
    'proj/.vscode/tasks.json': '',
    'proj/node_modules/x/index.js': '',
    'proj/src/a.ts': 'x'.repeat(3_100),
    'proj/src/deep/b.test.ts': '',
    'proj/README.md': 'x',
    'out.txt': '',
  });
  await symlink('../out.txt', join(top, 'proj', 'out-link'));
  await symlink('.vscode/tasks.json', join(top, 'proj', 'tasks'));
  const all = await call('list_files', {});
  t.equal(
    all,
    [
      'lib/part0/ (100 files)',
      'lib/part1/ (100 files)',
      'lib/part2/ (100 files)',
      'src/deep/b.test.ts (0 B)',
      'src/a.ts (3.1 kB)',
      '.gitignore (6 B)',
      'README.md (1 B)',
    ].join('\n'),
  );
  t.match(await call('list_files', { path: 'lib' }), /^lib\/part0\/ \(100 files\)\nlib\/part1/);
  t.match(await call('list_files', { path: 'lib/part1' }), /^lib\/part1\/file1\.ts \(1 B\)\n/);
  const few = await call('list_files', { path: 'lib/part1' }, 1_000);
  t.match(few, /\n\[\d+ of 100 entries\. Give a folder or a pattern to see others\.\]$/);
  t.ok(few.length <= 1_000);
  t.equal(await call('list_files', { pattern: '*.test.ts' }), 'src/deep/b.test.ts (0 B)');
  t.equal(
    await call('list_files', { pattern: 'src/**/*.ts' }),
    'src/deep/b.test.ts (0 B)\nsrc/a.ts (3.1 kB)',
  );
  t.equal(await call('list_files', { pattern: '*.py' }), '[No file matches the pattern.]');
  t.match(await call('list_files', { pattern: '*'.repeat(201) }), /Give a shorter one/);
  t.match(await call('list_files', { path: 'README.md' }), /is a file\. Read it with read_file/);
  t.match(await call('list_files', { path: 'none' }), /There is no file or folder none/);
  t.match(await call('list_files', { path: '..' }), /outside of the workspace/);
  t.match(await call('list_files', { path: '.vscode' }), /nothing in \.vscode is/);
  t.equal(await call('read_file', { path: 'src' }), 'src/deep/b.test.ts (0 B)\nsrc/a.ts (3.1 kB)');
  t.equal(await call('list_files', { path: 'dist' }), 'dist/out.js (0 B)', 'who names it sees it');
});

t.test('lines are found as they are, within bounds, and nothing that is private', async (t) => {
  const { call } = await toolsIn(t, {
    'proj/src/a.ts': 'const Total = 1;\nlet total = 2; // total\r\nother\n',
    'proj/src/long.js': `${'x'.repeat(500)}needle${'y'.repeat(500)}\n`,
    'proj/.env': 'needle=1',
    'proj/.git/config': 'needle',
    'proj/image.png': new Uint8Array([110, 101, 0]),
    'proj/big.txt': `needle${'x'.repeat(1024 * 1024)}`,
    'proj/needleInName.md': '',
    ...Object.fromEntries(
      Array.from({ length: 30 }, (_, at) => [
        `proj/m/${String(at).padStart(2, '0')}.txt`,
        'word\n'.repeat(8),
      ]),
    ),
  });
  t.equal(
    await call('search_files', { query: 'total' }),
    '2 lines in 1 file\nsrc/a.ts:1: const Total = 1;\nsrc/a.ts:2: let total = 2; // total',
  );
  t.equal(await call('search_files', { query: 'Total' }), '1 line in 1 file\nsrc/a.ts:1: const Total = 1;');
  const needle = await call('search_files', { query: 'needle' });
  t.match(needle, /^1 line in 1 file\nsrc\/long\.js:1: …x{50}needley+…$/);
  t.ok(needle.length < 250);
  t.match(
    await call('search_files', { query: 'needleinname' }),
    'No line has "needleinname". Files with that name: needleInName.md.',
  );
  t.equal(await call('search_files', { query: 'nothing such' }), 'No line has "nothing such".');
  const words = (await call('search_files', { query: 'word' })).split('\n');
  t.equal(words[0], '240 lines in 30 files; 50 shown');
  t.equal(words.length, 51);
  t.equal(words.filter((line) => line.startsWith('m/00.txt:')).length, 5, 'five of a file while others wait');
  const one = (await call('search_files', { query: 'word', path: 'm/03.txt' })).split('\n');
  t.equal(one.length, 9, 'more of a file if there is no other');
  t.ok((await call('search_files', { query: 'word' }, 500)).length <= 500);
  t.equal(
    await call('search_files', { query: '^(const|let) \\w+', regex: true }),
    '2 lines in 1 file\nsrc/a.ts:1: const Total = 1;\nsrc/a.ts:2: let total = 2; // total',
  );
  t.equal(await call('search_files', { query: 'zzz+', regex: true }), 'No line matches.');
  for (const [given, want] of [
    [{ query: '(', regex: true }, /no regular expression/],
    [{ query: 'a'.repeat(201), regex: true }, /at most 200 characters/],
    [{ query: ' ' }, /is empty/],
    [{ query: 'a\nb' }, /a part of one line/],
    [{ query: 'needle', path: '.env' }, /may hold a secret/],
    [{ query: 'x', path: 'image.png' }, /it is no text/],
    [{ query: 'needle', path: 'big.txt' }, /more than 1 MB/],
  ] as const)
    t.match(await call('search_files', given), want, JSON.stringify(given).slice(0, 60));
});

t.test('what is found and listed is what grep and git say', where('sh'), async (t) => {
  const server = createBuiltinServer({
    entry: { name: 'builtin', kind: 'builtin', folders: [process.cwd()] },
    ...{ env: {}, platform: process.platform, now: Date.now },
    findPrivacy: async () => undefined,
    openDocuments: () => [],
    showsDiffs: () => true,
  });
  const call = async (name: string, given: Given) =>
    (await server.call({ name, arguments: given, inputSchema: {} }, { signal: new AbortController().signal }))
      .content;
  const run = (program: string, ...words: readonly string[]) =>
    execFileSync(program, words, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
      .split('\n')
      .filter(Boolean);
  for (const [query, regex, flags] of [
    ['window', false, '-iF'],
    ['Runner', false, '-F'],
    ['`--', false, '-F'],
    ['[A-Z][a-z]+ [0-9]+', true, '-E'],
    ['^#+ .*tools', true, '-iE'],
  ] as const) {
    const lines = run('grep', '-rnI', flags, '-e', query, 'docs');
    const files = new Set(lines.map((line) => line.slice(0, line.indexOf(':'))));
    const [first = '', ...shown] = (await call('search_files', { query, path: 'docs', regex })).split('\n');
    const count = (size: number, noun: string) =>
      `${size.toLocaleString('en')} ${noun}${size === 1 ? '' : 's'}`;
    t.equal(
      first.replace(/; .*/, ''),
      `${count(lines.length, 'line')} in ${count(files.size, 'file')}`,
      query,
    );
    const places = new Set(lines.map((line) => line.split(':', 2).join(':')));
    t.ok(shown.every((line) => places.has(line.split(':', 2).join(':'))));
  }
  const known = run('git', 'ls-files', '--cached', '--others', '--exclude-standard', 'daemon/tools', 'docs');
  for (const path of ['daemon/tools', 'docs']) {
    const listed = (await call('list_files', { path })).split('\n');
    const counts = listed.map((line) => Number(/\/ \((\d+) files?\)$/.exec(line)?.[1] ?? 1));
    t.equal(
      counts.reduce((sum, one) => sum + one, 0),
      known.filter((name) => name.startsWith(`${path}/`)).length,
      path,
    );
  }
});

t.test('a regular expression that does not end is ended, and what was found before is shown', async (t) => {
  const { call } = await toolsIn(t, { 'proj/a.txt': 'aab\n', 'proj/z.txt': `${'a'.repeat(60)}!\n` });
  const found = await call('search_files', { query: '^(a+)+b?$', regex: true });
  t.match(found, /took too long and was ended/);
  t.match(found, /a\.txt:1: aab/);
});

t.test('a file is written whole only where the model knows all of it', async (t) => {
  const text = (lines: number) => 'line\n'.repeat(lines);
  const { call, prepare, read, write } = await toolsIn(t, {
    'proj/a.txt': text(30),
    'proj/win.txt': 'a\r\nb\r\n',
    'proj/long.txt': 'x'.repeat(2_001),
    'proj/tall.txt': text(300),
  });
  t.equal(
    await call('write_file', { path: 'new/deep/b.txt', content: 'b\n' }),
    'Created new/deep/b.txt (+1 -0).',
  );
  t.equal(
    await call('write_file', { path: 'new/deep/b.txt', content: 'c\n' }),
    'Changed new/deep/b.txt, line 1 (+1 -1).',
  );
  const unread = /is there, and you have not read all of its present text/;
  t.match(await call('write_file', { path: 'a.txt', content: 'x' }), unread);
  await call('read_file', { path: 'a.txt', start_line: 1, end_line: 20 });
  t.match(await call('write_file', { path: 'a.txt', content: 'x' }), unread);
  await call('read_file', { path: 'a.txt', start_line: 21 });
  await write('a.txt', text(31));
  t.match(await call('write_file', { path: 'a.txt', content: 'x' }), unread, 'it has changed since');
  await call('read_file', { path: 'a.txt', start_line: 16 });
  await call('read_file', { path: 'a.txt', start_line: 1, end_line: 15 });
  const little = await prepare('write_file', { path: 'a.txt', content: text(15) });
  t.equal(little?.isAskedAnyway, true, 'most of it would be gone');
  little?.end();
  const enough = await prepare('write_file', { path: 'a.txt', content: text(16) });
  t.equal(enough?.isAskedAnyway, false);
  enough?.end();
  t.match(
    await call('write_file', { path: 'a.txt', content: `${text(31)}more\n` }),
    /^Changed a\.txt, line 32/,
  );
  t.match(await call('edit_file', { path: 'a.txt', old_string: 'more', new_string: 'less' }), /^Changed/);
  t.match(
    await call('write_file', { path: 'a.txt', content: text(30) }),
    /^Changed/,
    'its own change is known',
  );
  await call('read_file', { path: 'long.txt' });
  t.match(await call('write_file', { path: 'long.txt', content: 'x' }), /too long to be replaced as a whole/);
  await call('read_file', { path: 'tall.txt' }, 900);
  t.match(await call('write_file', { path: 'tall.txt', content: 'x' }), unread, 'the end was not shown');
  await call('read_file', { path: 'win.txt' });
  await call('write_file', { path: 'win.txt', content: 'a\nc\n' });
  t.equal(await read('win.txt'), 'a\r\nc\r\n');
  for (const path of ['.env', '.vscode/tasks.json', '../x', 'new'])
    t.match(
      await call('write_file', { path, content: 'x' }),
      /is not read or changed|outside|is a folder/,
      path,
    );
});

t.test('arguments are taken as they are meant', (t) => {
  const fence = '```js\nconst a = 1;\n```';
  const cases: readonly (readonly [tool: string, given: Given, want: Given])[] = [
    [
      'read_file',
      { file_path: 'a', start_line: '3', end_line: 5.0 },
      { path: 'a', start_line: 3, end_line: 5 },
    ],
    ['read_file', { filePath: 'a', start_line: 0, end_line: null }, { path: 'a', start_line: 1 }],
    ['read_file', { target_file: 'a', offset: '11', limit: 10 }, { path: 'a', start_line: 11, end_line: 20 }],
    ['read_file', { path: 'a', file: 'b' }, { path: 'a' }],
    ['search_files', { pattern: 'a', directory: 'src' }, { query: 'a', path: 'src' }],
    ['search_files', { regexp: 'a+' }, { query: 'a+', regex: true }],
    ['search_files', { query: 42, regex: 'true' }, { query: '42', regex: true }],
    ['list_files', { directory: 'src', glob: '*.ts' }, { path: 'src', pattern: '*.ts' }],
    ['edit_file', { path: 'a', old: 'x', new: 'y' }, { path: 'a', old_string: 'x', new_string: 'y' }],
    ['edit_file', { path: 'a', search: 'x', new_text: '' }, { path: 'a', old_string: 'x', new_string: '' }],
    [
      'edit_file',
      { path: 'a', edits: '[{"old":"x","new":"y"}]' },
      { path: 'a', old_string: 'x', new_string: 'y' },
    ],
    [
      'edit_file',
      {
        path: 'a',
        edits: [
          { old: 'x', new: 'y' },
          { oldText: 'z', newText: '' },
        ],
      },
      {
        path: 'a',
        edits: [
          { old_string: 'x', new_string: 'y' },
          { old_string: 'z', new_string: '' },
        ],
      },
    ],
    [
      'edit_file',
      { path: 'a', old_string: 'x', new_string: fence },
      { path: 'a', old_string: 'x', new_string: 'const a = 1;' },
    ],
    ['write_file', { path: 'a.js', code: fence }, { path: 'a.js', content: 'const a = 1;\n' }],
    ['write_file', { path: 'a.md', file_text: fence }, { path: 'a.md', content: fence }],
    [
      'write_file',
      { path: 'a.js', text: `${fence}\n${fence}` },
      { path: 'a.js', content: `${fence}\n${fence}` },
    ],
    ['another', { anything: null }, { anything: null }],
  ];
  for (const [tool, given, want] of cases)
    t.strictSame(argumentsAsMeant(tool, given), want, `${tool} ${JSON.stringify(given)}`);
  t.match(adviceOnTool('bash'), 'No command is run here. Tell the user which command to run.');
  t.equal(adviceOnTool('look'), undefined);
  t.end();
});

t.test('whatever a model writes as arguments, they are read once and for all', async () => {
  const tool = fc.constantFrom('list_files', 'search_files', 'read_file', 'edit_file', 'write_file');
  const key = fc.oneof(
    fc.constantFrom(...'path file edits old new_string content offset limit to query'.split(' ')),
    fc.string(),
  );
  const value = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom('3', '3.0', 'true', '```js\na\n```', '[{"old":"a","new":"b"}]'),
  );
  fc.assert(
    fc.property(tool, fc.dictionary(key, value), (name, given) => {
      const once = argumentsAsMeant(name, given);
      return isDeepStrictEqual(argumentsAsMeant(name, once), once);
    }),
    { numRuns: 400 },
  );
});

t.test('paths are taken as they are meant, if nothing is there as they are given', async (t) => {
  const { call, read, top } = await toolsIn(t, {
    'proj/src/a.js': 'here\n',
    'proj/lib/only.js': 'x',
    'proj/@scope/b.js': 'scoped\n',
    'proj/.env': 'KEY=1',
  });
  for (const path of [
    '"src/a.js"',
    '`src/a.js`',
    '@src/a.js',
    './src/a.js',
    'proj/src/a.js',
    './proj/src/a.js',
    'src/a.js:12',
    'src/a.js:12:3',
    'src\\a.js',
    '/src/a.js',
    join(top, 'proj', 'src', 'a.js'),
    `file://${join(top, 'proj', 'src', 'a.js')}`,
  ])
    t.equal(await call('read_file', { path }), 'here', path);
  t.equal(await call('read_file', { path: '@scope/b.js' }), 'scoped', 'as it is given');
  t.match(
    await call('read_file', { path: 'src/only.js' }),
    /no file or folder src\/only\.js\. There is lib\/only\.js\.$/,
  );
  for (const path of ['".env"', '"../proj/.env"', 'proj/.env', '/.env', '@.env'])
    t.match(await call('read_file', { path }), /may hold a secret|outside of|no file or folder/, path);
  t.match(await call('read_file', { path: '"/etc/passwd"' }), /outside of the workspace|no file or folder/);
  for (const [path, want] of [
    ['"q.txt"', 'q.txt'],
    ['proj/r.txt', 'r.txt'],
    ['src\\s.txt', 'src/s.txt'],
    ['./src/t.txt', 'src/t.txt'],
  ] as const) {
    t.match(await call('write_file', { path, content: 'new\n' }), `Created ${want} (+1 -0).`, path);
    t.equal(await read(want), 'new\n');
  }
  await t.rejects(stat(join(top, 'proj', 'proj')));
});

const edited = (text: string, old: string, wanted: string) => applyEdits(text, [{ old, wanted }]);

t.test('edits that are copied badly are forgiven, if they can mean one place only', (t) => {
  const tabs = 'function f() {\n\tif (x) {\n\t\treturn 1;\n\t}\n}\n';
  const cases: readonly (readonly [slip: string, text: string, old: string, wanted: string, want: string])[] =
    [
      ['numbers with a bar', 'a\nb\nc\n', '2| b\n3| c', '2| B\n3| c', 'a\nB\nc\n'],
      ['numbers with a tab', 'a\nb\n', '  1\ta\n  2\tb', '  1\tA\n  2\tb', 'A\nb\n'],
      ['lines of a search', 'a\nb\n', 'x.txt:2: b', 'B', 'a\nB\n'],
      ['blanks at line ends', 'a  \nb\nc\n', 'a\nb', 'a\nB', 'a  \nB\nc\n'],
      ['a hard space', 'a\u00a0b c\n', 'a b c', 'a b d', 'a\u00a0b d\n'],
      ['curly quotes', 'say “hi” now\n', 'say "hi" now', 'say "hi" then', 'say “hi” then\n'],
      ['dashes', 'a – b\n', 'a - b', 'a - c', 'a – c\n'],
      [
        'blanks for tabs',
        tabs,
        '    if (x) {\n        return 1;\n    }',
        '    if (x) {\n        return 2;\n        more();\n    }',
        tabs.replace('1;', '2;\n\t\tmore();'),
      ],
      ['tabs for blanks', 'x:\n    y:\n        z\n', '\ty:\n\t\tz', '\ty:\n\t\tZ', 'x:\n    y:\n        Z\n'],
      ['blank lines around', 'a\nb\nc\n', '\n\nb\n\n', '\n\nB\n\n', 'a\nB\nc\n'],
      ['escaped twice', 'say("a");\nb\n', 'say(\\"a\\");\\nb', 'say(\\"c\\");\\nb', 'say("c");\nb\n'],
      [
        'in a file of Windows',
        'a {\r\n\tb\r\n}\r\n',
        'a {\n    b\n}',
        'a {\n    c\n    d\n}',
        'a {\r\n\tc\r\n\td\r\n}\r\n',
      ],
    ];
  for (const [slip, text, old, wanted, want] of cases) {
    const { text: changed, forgiven } = edited(text, old, wanted);
    t.equal(changed, want, slip);
    t.match(forgiven, [/^\[old_string was found .+\.\]$/], slip);
  }
  t.strictSame(edited('a\n', 'a', 'b'), { text: 'b\n', forgiven: [] });
  const refused: readonly (readonly [why: string, text: string, old: string, want: RegExp])[] = [
    ['two places', ' a\n b\n\ta\n\tb\n', 'a\nb\n', /more than once \(lines 1, 3\)/],
    ['shifted in different ways', 'a\n  b\n      c\n', 'a\n b\n c\n', /does not occur/],
    ['another word', 'total = 1\n', 'totals = 1', /does not occur/],
    ['only the first and the last line', 'a {\n  x\n}\n', 'a {\n  y\n}', /does not occur/],
    ['only blanks', 'a\n\nb', ' \n\t', /does not occur/],
    ['numbers that do not follow each other', 'a\nb\n', '1: a\n7: b', /does not occur/],
  ];
  for (const [why, text, old, message] of refused) t.throws(() => edited(text, old, 'new'), { message }, why);
  t.end();
});

t.test('a forgiven edit never changes a line outside of what it found', async () => {
  const line = fc.stringMatching(/^[ \t]{0,4}[ab"{};]{0,3}[ \u00a0]{0,2}$/);
  const lines = fc.array(line, { minLength: 1, maxLength: 12 });
  const slips: readonly ((text: string, at: number) => string)[] = [
    (text, at) => `${at}| ${text}`,
    (text) => text.trimEnd(),
    (text) => text.replaceAll('"', '“'),
    (text) => text.replaceAll('\t', '    '),
    (text) => `  ${text}`,
    (text) => text.trimStart(),
  ];
  const input = fc.record({
    lines,
    start: fc.nat(11),
    length: fc.integer({ min: 1, max: 4 }),
    slip: fc.constantFrom(...slips),
    end: fc.constantFrom('\n', '\r\n'),
    added: line,
  });
  fc.assert(
    fc.property(input, ({ lines, start, length, slip, end, added }) => {
      const from = start % lines.length;
      const meant = lines.slice(from, from + length);
      const old = meant.map((text, at) => slip(text, from + at + 1)).join('\n');
      const wanted = `${old}\n${added}!`;
      const text = lines.join(end);
      let changed: string;
      try {
        changed = edited(text, old, wanted).text;
      } catch (error) {
        if (error instanceof FileProblemError) return true;
        throw error;
      }
      // Somewhere, as many lines as were named are replaced; all others are the same, in their order.
      const now = changed.split('\n');
      const before = text.split('\n');
      const more = now.length - before.length;
      let head = 0;
      while (head < before.length && now[head] === before[head]) head += 1;
      let tail = 0;
      while (tail < before.length - head && now.at(-1 - tail) === before.at(-1 - tail)) tail += 1;
      return before.length - head - tail <= meant.length && more <= meant.length + 1;
    }),
    { numRuns: 300 },
  );
});

t.test('an edit that fails again and again gets more help each time', async (t) => {
  const text = Array.from({ length: 100 }, (_, at) => `const value${at} = ${at};`).join('\n');
  const { call } = await toolsIn(t, {
    'proj/a.js': `${text}\n`,
    'proj/b.js': `${text}\n${'// more\n'.repeat(200)}`,
  });
  const fail = (path: string) =>
    call('edit_file', { path, old_string: 'const value50 = 50;\nwrong', new_string: 'x'.repeat(9) });
  const first = await fail('a.js');
  t.match(first, /^old_string does not occur in the file, so nothing was changed\. The text there now:\n/);
  t.match(first, /const value50 = 50;/);
  t.ok(first.split('\n').length <= 23);
  const second = await fail('a.js');
  t.ok(second.split('\n').length > 40, 'all that there is room for');
  t.match(await fail('a.js'), /use write_file with its whole new text/);
  await call('edit_file', { path: 'a.js', old_string: 'value99', new_string: 'last' });
  t.equal(await fail('a.js'), first.replace('value99', 'last'), 'a success begins anew');
  t.match(
    await call('edit_file', { path: 'b.js', old_string: 'nothing of it', new_string: 'const value3 = 3;' }),
    /new_string is already there, at line 4\.$/,
  );
  await call('edit_file', { path: 'b.js', old_string: 'value99', new_string: 'last' });
  for (let times = 1; times < 3; times += 1)
    t.match(
      await call('edit_file', { path: 'b.js', old_string: 'none', new_string: 'x' }),
      /No line of it does/,
    );
  t.match(await fail('b.js'), /Use search_files to find the line, and then a smaller old_string/);
});

t.test('what stands for text that is left out is not written', async (t) => {
  const { call, read } = await toolsIn(t, {
    'proj/a.js': 'one();\n// rest of the code\n',
    'proj/p.json': '{\n "a": 1\n}\n',
  });
  for (const content of [
    'f();\n// ... existing code ...\n',
    '// … rest of the file\n',
    '# rest of the implementation\n',
    'a\n[truncated]\n',
    '[removed to save room; call read_file again]',
  ]) {
    const named = /stands for text that is left out/;
    t.match(await call('write_file', { path: 'new.js', content }), named, content);
    t.match(await call('edit_file', { path: 'a.js', old_string: 'one();', new_string: content }), named);
  }
  t.match(
    await call('edit_file', {
      path: 'a.js',
      old_string: 'one();',
      new_string: 'two(); // the rest is done elsewhere',
    }),
    /^Changed/,
  );
  t.match(
    await call('edit_file', { path: 'a.js', old_string: 'two();', new_string: 'x();\n// rest of the code' }),
    /^Changed/,
    'the file has it',
  );
  t.equal(
    await call('edit_file', { path: 'p.json', old_string: '1\n', new_string: '1,,\n' }),
    'Changed p.json, line 2 (+1 -1).\n[The file was valid JSON and is not any more: line 2.]',
  );
  t.equal(await read('p.json'), '{\n "a": 1,,\n}\n');
  t.match(
    await call('edit_file', { path: 'p.json', old_string: ',,', new_string: ',' }),
    /\(\+1 -1\)\.$/,
    'it was not',
  );
  t.match(
    await call('edit_file', { path: 'a.js', old_string: 'x', new_string: 'y', replace_all: true }),
    /^Changed/,
  );
});
