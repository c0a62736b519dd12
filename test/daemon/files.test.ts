import { execFile } from 'node:child_process';
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import * as fc from 'fast-check';
import type { Test } from 'tap';
import t from 'tap';
import { createFindPrivacy } from '../../daemon/base/filePrivacy.ts';
import { IgnoreRules } from '../../daemon/base/pathRules.ts';
import { searchFiles, soughtWords } from '../../daemon/files/fileSearch.ts';
import { filesOf, Omissions } from '../../daemon/files/folderFiles.ts';
import { textOfHtml } from '../../daemon/files/htmlText.ts';
import { looksLikePath, mentionsIn, namesOf } from '../../daemon/files/mentions.ts';
import { findNamedFiles } from '../../daemon/files/namedFiles.ts';
import { fetchPage } from '../../daemon/files/page.ts';
import { bestExcerpts, hitsIn } from '../../daemon/files/searchHits.ts';
import { Workspace } from '../../daemon/tools/builtin/workspace.ts';
import { fetchFileRequest, findFilesRequest, searchFilesRequest } from '../../protocol/messages/files.ts';
import { trustDidChange } from '../../protocol/messages/initialize.ts';
import { type PairOptions, startPair } from '../support/daemonPair.ts';
import { failsWith } from '../support/failsWith.ts';
import { needs } from '../support/parts.ts';
import { pictures } from '../support/pictures.ts';
import { closeServer } from '../support/recordings.ts';
import { where } from '../support/systems.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';

t.test('which words of a text are mentions', async (t) => {
  const cases: readonly { text: string; want: readonly string[] }[] = [
    { text: '@a.ts', want: ['a.ts'] },
    { text: 'see @src/a.ts and\n@b', want: ['src/a.ts', 'b'] },
    { text: 'write to me@example.com', want: [] },
    { text: 'a plain \\@a.ts, and @ alone, and @@twice', want: [] },
    { text: '@"with blanks.md" stays whole', want: ['with blanks.md'] },
    { text: '@"never closed\n" @"', want: [] },
    { text: '(@a.ts)', want: [] },
    { text: '\t@a\u00a0@b', want: ['a', 'b'] },
    { text: '@src/**/*.{ts,tsx}', want: ['src/**/*.{ts,tsx}'] },
    { text: `@${'a'.repeat(4_096)}`, want: ['a'.repeat(4_096)] },
    { text: `@${'a'.repeat(4_097)}`, want: [] },
  ];
  for (const { text, want } of cases)
    t.strictSame(
      mentionsIn(text).map(({ name }) => name),
      want,
      text.slice(0, 60),
    );
});

t.test('the punctuation of the sentence is no part of a name, the brackets of a name are', async (t) => {
  const cases: readonly (readonly [typed: string, names: readonly string[]])[] = [
    ['@a.ts', ['a.ts']],
    ['@a.ts, and', ['a.ts,', 'a.ts']],
    ['@src/*.{ts,js}.', ['src/*.{ts,js}.', 'src/*.{ts,js}']],
    ['@app/[id]', ['app/[id]']],
    ['@a.ts)."', ['a.ts)."', 'a.ts']],
    ['@"a.ts,"', ['a.ts,']],
    ['@...', ['...', '.']],
    ['@a(b)', ['a(b)']],
    ['@a<b>', ['a<b>']],
    ['@a>', ['a>', 'a']],
    ...Array.from('.,;:!?\'"»”’)]}', (mark) => [`@ab${mark}`, [`ab${mark}`, 'ab']] as const),
    ['@ab-', ['ab-']],
  ];
  for (const [typed, names] of cases) t.strictSame(mentionsIn(typed).flatMap(namesOf), names, typed);
  for (const name of ['src/a', './a', '~/a', 'a.ts', '*.ts', 'angular/core']) t.ok(looksLikePath(name), name);
  for (const name of ['john', 'Override', 'media(max-width:1.5', 'v1.2', 'Component({'])
    t.notOk(looksLikePath(name), name);
});

t.test('any text is read in linear time, and each mention stands where it says', async (t) => {
  const pieces = fc.constantFrom(...'@" \na/*\\.,\u00e9{]', '\ud83d');
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 60 }), (parts) => {
      const text = parts.join('');
      let end = 0;
      for (const mention of mentionsIn(text)) {
        const { word, name, at } = mention;
        t.ok(text.startsWith(word, at) && at >= end && /^$|\s/.test(text.slice(0, at).slice(-1)));
        t.ok(word === `@${name}` || word === `@"${name}"`);
        t.ok(namesOf(mention).every((one) => one !== '' && name.startsWith(one)));
        end = at + word.length;
      }
      // What begins a word with one @ and a letter is always found.
      t.equal(mentionsIn(`${text} @x`).at(-1)?.name, 'x');
    }),
  );
  for (const text of ['@"', '@" ', ' @', '@"a ', '@a,', ' @" @'].map((part) => part.repeat(200_000)))
    t.ok(mentionsIn(text).length <= text.length, 'it comes to an end');
});

t.test('a .gitignore hides what git itself ignores', needs('git'), async (t) => {
  const files = [
    ...['a.txt', 'b.txt', '{a,b}.txt', '#notes', '#notes.md#', '.#lock', '!keep', 'README.md'],
    ...['readme.md', 'q?', 'qq'],
    ...['src/a.log', 'src/deep/a.log', 'build/x', 'src/build/x', 'foo/bar', 'foo/x/y/bar'],
    ...['doc/frotz', 'a/doc/frotz'],
    ...['trail ', 'my keys.txt', 'logs/keep.log', 'logs/drop.log', 'x[1].txt', 'x1.txt', 'abc/d/e'],
    ...['star*', 'starry'],
    ...['vendor/lib/a.js', 'vendor/b.js', 'été.txt', 'a#', 'deep/a/b/c/d/e.ts'],
  ];
  const cases = [
    ...['a.txt', '{a,b}.txt', '\\#notes', '#notes', '\\#*\\#', '.\\#*', '\\!keep'],
    ...['*.log\n!logs/keep.log', '/build'],
    ...['build/', 'build', 'foo/**/bar', 'doc/frotz', '/doc/frotz/', 'README.md', 'README.MD'],
    ...['trail\\ ', 'trail '],
    ...['my\\ keys.txt', 'my keys.txt  ', 'logs/*\n!logs/keep.log', 'logs/\n!logs/keep.log'],
    ...['x[1].txt', 'x\\[1\\].txt'],
    ...['abc/**', '**/abc', 'q\\?', 'q?', 'star\\*', 'vendor/*\n!vendor/lib', '*\n!*.md'],
    ...['*\n!*/\n!*.js', '[!a].txt'],
    ...['[[:digit:]]*', 'x[[:digit:]].txt', '/*\n!/src', './a.txt', 'src/./a.log', 'a.txt/'],
    ...['  a.txt', '\ta.txt'],
    ...['foo//bar', 'a.txt\r\nb.txt\r', '\ufeffa.txt', 'a#', '# a.txt\n\n  ', '!a.txt', '**', '*'],
    ...['/', 'a\\', 'été.txt'],
    ...['deep/**/b/**/d/**', 'deep/**/e.ts'],
  ];
  const root = realpathSync(await temporaryFolder(t, Object.fromEntries(files.map((name) => [name, '']))));
  const git = async (...args: string[]) => (await promisify(execFile)('git', args, { cwd: root })).stdout;
  await git('init', '-q');
  for (const lines of cases) {
    writeFileSync(join(root, '.gitignore'), `${lines}\n`);
    const listed = await git('ls-files', '-z', '--others', '--exclude-standard');
    const want = listed
      .split('\0')
      .filter((name) => name !== '' && !name.startsWith('.git'))
      .sort();
    const { names } = await walked(root, { depth: 9, isWanted: (name) => name !== '.gitignore' });
    t.strictSame([...names].sort(), want, JSON.stringify(lines));
  }
  const hides = (text: string, path: string) => new IgnoreRules('/r', text).hides(`/r/${path}`, false);
  t.equal(hides('a/**/b/**/c/**/d/**/e.ts', 'a/e.ts'), true, 'too many stars hide more');
  t.equal(hides('*.ts\n!a/**/b/**/c/**/d/**/e.ts', 'a/b/c/d/e.ts'), true, 'and bring nothing back');
  t.equal(hides(`${'**/a/'.repeat(100)}b`, `${'a/'.repeat(100)}c`), undefined, 'in time');
});

/** The names of the files that a walk finds, and what it leaves out. */
async function walked(root: string, { depth = 0, isWanted = (name: string) => name !== '' } = {}) {
  const left = new Omissions();
  const { signal } = new AbortController();
  const names: string[] = [];
  for await (const { name } of filesOf({ root, isWanted, depth, left, now: () => 0, signal }))
    names.push(name);
  return { names, left: left.sentence('it') };
}

t.test('what programs make is passed over, whatever a .gitignore says', async (t) => {
  const made = [
    ...['.git', '.hg', '.svn', '.jj', 'node_modules', 'bower_components', '.venv', 'venv', '__pycache__'],
    ...['.mypy_cache', '.pytest_cache', '.tox', '.gradle', '.next', '.nuxt', '.cache', '.DS_Store'],
  ];
  const files = [...made, 'src', 'cache'].map((name) => [`${name}/a.ts`, 'a']);
  const root = realpathSync(await temporaryFolder(t, Object.fromEntries(files)));
  t.strictSame(await walked(root, { depth: 1 }), {
    names: ['cache/a.ts', 'src/a.ts'],
    left: 'Left out of it: 17 entries that .gitignore or habit leaves out.',
  });
});

t.test('a folder counts with the rules of its repository, of which the nearest decide', async (t) => {
  const files = {
    '.gitignore': 'a.ts\nb.ts\nin/c.ts\n',
    'in/.gitignore': '!b.ts\n',
    'in/a.ts': 'a',
    'in/b.ts': 'b',
    'in/c.ts': 'c',
    'in/deep/.gitignore': '!a.ts\nd.ts\n',
    'in/deep/a.ts': 'a',
    'in/deep/c.ts': 'c',
    'in/deep/d.ts': 'd',
  };
  const top = realpathSync(await temporaryFolder(t, files));
  const isWanted = (name: string) => name.endsWith('.ts');
  t.strictSame(
    (await walked(join(top, 'in'), { depth: 1, isWanted })).names,
    ['a.ts', 'b.ts', 'c.ts', 'deep/a.ts', 'deep/c.ts'],
    'without a repository, only its own rules',
  );
  mkdirSync(join(top, '.git'));
  t.strictSame((await walked(join(top, 'in'), { depth: 1, isWanted })).names, [
    'b.ts',
    'deep/a.ts',
    'deep/c.ts',
  ]);
  t.strictSame((await walked(join(top, 'in/deep'), { depth: 1, isWanted })).names, ['a.ts', 'c.ts']);
  writeFileSync(join(top, '.gitignore'), 'in/\ndeep\na.ts');
  t.strictSame(
    (await walked(join(top, 'in/deep'), { depth: 1, isWanted })).names,
    ['a.ts', 'c.ts'],
    'a folder that is named is read, whatever hides it',
  );
  writeFileSync(join(top, '.gitignore'), files['.gitignore']);
  writeFileSync(join(top, 'in/.gitignore'), `a.ts${'\n'.repeat(64 * 1_024 - 4)}`);
  t.strictSame((await walked(join(top, 'in'), { isWanted })).names, [], 'the largest');
  mkdirSync(join(top, 'in/.git'));
  t.strictSame((await walked(join(top, 'in'), { isWanted })).names, ['b.ts', 'c.ts'], 'as far as it goes');
  writeFileSync(join(top, 'in/.gitignore'), `a.ts${'\n'.repeat(64 * 1_024 - 3)}`);
  t.strictSame((await walked(join(top, 'in'), { isWanted })).names, ['a.ts', 'b.ts', 'c.ts'], 'too large');
});

t.test('links are followed to files within the folder alone', where('links'), async (t) => {
  const top = realpathSync(
    await temporaryFolder(t, { 'here/a.ts': 'a', 'here/in/b.ts': 'b', 'here2/c.ts': 'c', 'd.ts': 'd' }),
  );
  const root = join(top, 'here');
  for (const [name, to] of [
    ['l1.ts', 'here/in/b.ts'],
    ['l2.ts', 'here2/c.ts'],
    ['l3.ts', 'd.ts'],
    ['l4', 'here/in'],
    ['l5', 'here'],
    ['l6', 'nothing'],
  ] as const)
    symlinkSync(join(top, to), join(root, name));
  t.strictSame(await walked(root), {
    names: ['a.ts', 'l1.ts'],
    left: 'Left out of it: 5 links that lead elsewhere.',
  });
  t.strictSame((await walked(root, { depth: 1 })).names, ['a.ts', 'l1.ts', 'in/b.ts']);
});

t.test('a search goes thirty folders deep', async (t) => {
  const at = (depth: number) => `${'d/'.repeat(depth)}a.ts`;
  const root = await temporaryFolder(t, { [at(30)]: 'retry', [at(31)]: 'retry' });
  t.strictSame((await searched(root, 'retry')).names, [at(30)]);
});

/** A folder with these files, and a daemon that looks into it. */
async function place(
  t: Test,
  files: Readonly<Record<string, string | Buffer>>,
  pair: PairOptions = {},
  options = {},
) {
  const top = realpathSync(await temporaryFolder(t));
  const cwd = join(top, 'here');
  mkdirSync(cwd);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), content);
  }
  // A busy machine may take longer than a folder may take.
  const now = () => 1_790_000_000_000;
  const daemon = await startPair({ host: 'http://127.0.0.1:9', ...options }, { now, ...pair });
  t.teardown(() => daemon.close());
  const find = async (text: string) => (await daemon.request(findFilesRequest, { text, cwd })).mentions;
  const names = async (text: string) =>
    (await find(text)).flatMap(({ files }) => files.map(({ path }) => path));
  return { top, cwd, daemon, find, names };
}

t.test('a file comes with its text, its size and what it would take', where('modes'), async (t) => {
  const { cwd, find } = await place(t, {
    'src/a.ts': '\ufeffconst a = 1;\n',
    'with blanks.md': '# Hi\n',
    'dot.png': pictures.png,
    'all.bin': Buffer.from([1, 0, 2]),
    'app/[id].ts': 'x',
    'fake.webp': 'RIFF1234WEBP',
    'fake.gif': 'GIF8',
    'fake.jpg': Buffer.from([0xff, 0xd8, 0xff]),
    'fake.png': 'xGIF8 RIFF1234WEB',
    'no.ext-at_all': 'x',
  });
  const uris = [pathToFileURL(join(cwd, 'src/a.ts')).href];
  t.strictSame(await find('What does @src/a.ts, do? Ask @john.'), [
    {
      word: '@src/a.ts,',
      files: [
        {
          path: 'src/a.ts',
          bytes: 16,
          tokens: 4,
          attachment: { path: 'src/a.ts', text: 'const a = 1;\n', uris, language: 'ts' },
        },
      ],
      notes: [],
    },
  ]);
  t.match(await find('@"with blanks.md" @app/[id].ts'), [
    { files: [{ attachment: { language: 'md', text: '# Hi\n' } }] },
    { files: [{ path: 'app/[id].ts' }] },
  ]);
  t.strictSame(await find('@dot.png'), [
    {
      word: '@dot.png',
      files: [
        {
          path: 'dot.png',
          bytes: pictures.png.length,
          tokens: 600,
          image: pictures.png.toString('base64'),
        },
      ],
      notes: [],
    },
  ]);
  t.strictSame(
    (await find('@fake.webp @fake.gif @fake.jpg @fake.png @no.ext-at_all @~ @~/ @. @.. @src*')).map(
      ({ files, notes }) => [
        ...files.map(({ image, attachment }) => [image !== undefined, attachment?.language]),
        ...notes,
      ],
    ),
    [
      [[true, undefined]],
      [[true, undefined]],
      [[true, undefined]],
      [[false, 'png']],
      [[false, undefined]],
      ['~ is a folder. To attach its files, write @~/'],
      ['~/ is too much to attach, so @~/ is only text.'],
      ['No file matches src*, so @src* is only text.'],
    ],
  );
  t.strictSame(
    (await find('@all.bin @src @src/b.ts @/dev/zero @src/a.ts @./src/a.ts @/ @x*')).map(
      ({ notes, files }) => [files.length, ...notes],
    ),
    [
      [0, 'all.bin is no text, so it is not attached.'],
      [0, 'src is a folder. To attach its files, write @src/'],
      [0, 'There is no file src/b.ts, so @src/b.ts is only text.'],
      [0, '/dev/zero cannot be read (it is not a regular file), so it is not attached.'],
      [1],
      [0],
      [0, '/ is too much to attach, so @/ is only text.'],
      [0, 'No file matches x*, so @x* is only text.'],
    ],
  );
});

t.test('what a file says is never searched for names', async (t) => {
  const { names } = await place(t, { 'a.md': '@b.md @"b.md"\n@https://example.org/', 'b.md': 'b' });
  t.strictSame(await names('@a.md'), ['a.md']);
});

t.test(
  'folders and patterns leave out what programs make, what is private, and what leads away',
  where('links'),
  async (t) => {
    const { top, cwd, find, names } = await place(
      t,
      {
        '.gitignore': 'dist\n*.log\n',
        'README.md': 'r',
        'src/a.ts': 'a',
        'src/b.js': 'b',
        'src/deep/er/c.ts': 'c',
        'src/deep/.gitignore': 'made.ts\n',
        'src/deep/made.ts': 'm',
        'src/dist/a.ts': 'd',
        'src/run.log': 'l',
        'src/node_modules/x/a.ts': 'n',
        'src/.env': 'KEY=1',
        'src/hidden/h.ts': 'h',
        'src/all.bin': Buffer.from([0]),
        'src/large.ts': 'x'.repeat(600_000),
      },
      {},
      { exclude: ['**/hidden/**'] },
    );
    mkdirSync(join(cwd, '.git'));
    writeFileSync(join(top, 'outside.ts'), 'o');
    symlinkSync(join(top, 'outside.ts'), join(cwd, 'src/out.ts'));
    symlinkSync(join(cwd, 'src/a.ts'), join(cwd, 'src/link.ts'));
    symlinkSync(cwd, join(cwd, 'src/round'));
    const [folder] = await find('@src/');
    t.strictSame(
      folder?.files.map(({ path }) => path),
      ['src/a.ts', 'src/b.js', 'src/deep/.gitignore', 'src/deep/er/c.ts'],
      'a file that a link names too comes once',
    );
    t.equal(
      folder?.notes.join(),
      'Left out of @src/: 1 file that looks like a secret (name it exactly), 1 file that is no text, 4 entries that .gitignore or habit leaves out, 1 file that is too large, 2 links that lead elsewhere and 1 file that is excluded.',
    );
    t.strictSame(await names('@src/*.ts'), ['src/a.ts']);
    t.match(
      (await find('@src/*.ts'))[0]?.notes,
      [/: 3 entries that .gitignore/],
      'no deeper folder is looked at',
    );
    t.strictSame(await names('@src/**/*.{ts,md}.'), ['src/a.ts', 'src/deep/er/c.ts']);
    t.strictSame(await names('@*.md @./src/deep/'), [
      'README.md',
      './src/deep/.gitignore',
      './src/deep/er/c.ts',
    ]);
    t.match(await find('@src/.env @src/out.ts @src/hidden/h.ts @src/run.log'), [
      { files: [{ privacy: 'secret' }] },
      { files: [{ path: 'src/out.ts', attachment: { text: 'o' } }] },
      { files: [{ privacy: 'excluded' }] },
      { files: [{ path: 'src/run.log' }] },
    ]);
  },
);

t.test('a prompt takes so many files, so many bytes and so many names', async (t) => {
  const many = Object.fromEntries(
    Array.from({ length: 120 }, (_, at) => [`many/${String(at).padStart(3, '0')}`, 'x']),
  );
  const cwd = await temporaryFolder(t, {
    ...many,
    'big/1': 'x'.repeat(4_200_000),
    'half/1': 'x'.repeat(3_000_000),
    'half/2': 'y'.repeat(3_000_000),
    'half/3': 'z',
    'most/1': 'x'.repeat(512 * 1_024),
    'most/2': 'x'.repeat(512 * 1_024 + 1),
    'edge/1': '\ufeff',
    'exact/1': 'x'.repeat(4 * 1_024 * 1_024),
  });
  const { signal } = new AbortController();
  const options = { findPrivacy: async () => undefined, servers: async () => [], now: () => 0, signal };
  const find = (text: string) => findNamedFiles({ text, cwd }, options);
  const names = async (text: string) =>
    (await find(text)).flatMap(({ files }) => files.map(({ path }) => path));
  const [folder] = await find('@many/');
  t.equal(folder?.files.length, 100);
  t.match(folder?.notes[0], /everything beyond 100 files/);
  t.match((await find('@many/ @half/3'))[1]?.notes, ['half/3 is beyond 100 files, so it is not attached.']);
  t.match((await find('@big/1'))[0]?.notes, [/has 4\.2 MB, and at most 4\.2 MB of text go along/]);
  t.strictSame(await names('@half/1 @half/2 @half/3'), ['half/1', 'half/3']);
  t.strictSame(await names('@exact/1 @half/3 @edge/'), ['exact/1'], 'as many bytes as go along');
  t.match(
    (await find('@most/ @edge/')).map(({ files, notes }) => [files.length, ...notes]),
    [[1, 'Left out of @most/: 1 file that is too large.'], [1]],
  );
  const fifty = Array.from({ length: 50 }, (_, at) => `@many/${String(at).padStart(3, '0')}`);
  t.ok((await find(fifty.join(' '))).every(({ notes }) => notes.length === 0));
  const words = Array.from({ length: 60 }, (_, at) => `@many/${String(at).padStart(3, '0')}`);
  const found = await find(words.join(' '));
  t.equal(found.length, 51);
  t.match(found.at(-1), { word: '@many/050', notes: [/At most 50 names/] });
});

t.test('what a folder has that cannot be read is counted', where('links'), async (t) => {
  const { cwd, find } = await place(t, { 'b.ts': 'b', 'd.ts': 'd', 'a.ts': 'a', 'e.ts': 'e', 'c.ts': 'c' });
  const socket = createSocketServer();
  await new Promise<void>((resolve) => socket.listen(join(cwd, 'socket'), resolve));
  t.teardown(() => socket.close());
  const [folder] = await find('@./');
  t.strictSame(
    folder?.files.map(({ path }) => path),
    ['./a.ts', './b.ts', './c.ts', './d.ts', './e.ts'],
    'in the order of their names',
  );
  t.strictSame(folder?.notes, ['Left out of @./: 1 entry that cannot be read.']);
  t.match(await find('@none/*.ts'), [
    { files: [], notes: ['There is no folder none/, so @none/*.ts is only text.'] },
  ]);
});

t.test('a workspace that is not trusted has no files by name', async (t) => {
  const { daemon, cwd } = await place(t, { 'a.md': 'a' });
  await daemon.connection.sendNotification(trustDidChange.method, { trusted: false });
  await t.rejects(
    daemon.request(findFilesRequest, { text: '@a.md', cwd }),
    failsWith({ message: /not trusted/, data: { kind: 'not-supported' } }),
  );
  await t.rejects(
    daemon.request(fetchFileRequest, { url: 'http://127.0.0.1:9' }),
    failsWith({ data: { kind: 'not-supported' } }),
  );
});

/** A site, and the headers that it was asked with. */
async function site(
  t: Test,
  pages: Readonly<Record<string, [status: number, headers: object, body: string | Buffer]>>,
) {
  const asked: { readonly url: string; readonly headers: object }[] = [];
  const server = createServer((request, response) => {
    asked.push({ url: request.url ?? '', headers: request.headers });
    const [status, headers, body] = pages[request.url ?? ''] ?? [404, {}, ''];
    response.writeHead(status, { ...headers, 'set-cookie': 'a=b' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => closeServer(server));
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

t.test('an address is found, and fetched only when it is asked for', async (t) => {
  const html = { 'content-type': 'text/html; charset=iso-8859-1' };
  const page = Buffer.from(
    '<title>T</title><h1>Caf\u00e9</h1><p>one<br>two <b>three</b><script>no()</script>',
    'latin1',
  );
  const other = await site(t, {});
  const { url, asked } = await site(t, {
    '/': [200, html, page],
    '/moved': [302, { location: '/' }, ''],
    '/away': [302, { location: `${other.url}/secret` }, ''],
    '/round': [302, { location: '/round' }, ''],
    '/big': [200, { 'content-type': 'text/plain' }, 'x'.repeat(2_200_000)],
    '/picture': [200, { 'content-type': 'image/png' }, pictures.png],
    '/data': [200, { 'content-type': 'application/ld+json' }, '{"a":1}'],
    '/unknown': [200, { 'content-type': 'text/plain; charset=x-unknown' }, 'Caf\u00e9'],
    '/plain': [200, {}, 'without a type'],
    '/zero': [200, { 'content-type': 'text/plain' }, 'a\0b'],
    '/zeroFirst': [200, { 'content-type': 'text/plain' }, '\0ab'],
    '/most': [200, { 'content-type': 'text/plain' }, 'x'.repeat(2 * 1_024 * 1_024)],
    '/more': [200, { 'content-type': 'text/plain' }, 'x'.repeat(2 * 1_024 * 1_024 + 1)],
    ...Object.fromEntries(
      [5, 4, 3, 2, 1].map((at) => [
        `/hop${at}`,
        [302, { location: at === 1 ? '/data' : `/hop${at - 1}` }, ''],
      ]),
    ),
    '/hop6': [302, { location: '/hop5' }, ''],
    '/nowhere': [302, {}, ''],
    '/broken': [302, { location: 'http://[' }, ''],
    '/300': [300, { location: '/data' }, ''],
    '/399': [399, { location: '/data' }, ''],
    '/400': [400, { location: '/data' }, ''],
    '/latin': [200, { 'content-type': 'text/html; charset="iso-8859-1"' }, Buffer.from('\u00e9', 'latin1')],
    '/meta': [
      200,
      { 'content-type': 'text/html' },
      Buffer.from('<meta charset=windows-1251><p>\xcc\xe8\xf0', 'latin1'),
    ],
    '/equiv': [
      200,
      { 'content-type': 'text/html' },
      Buffer.from(
        '<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS">\x93\xfa',
        'latin1',
      ),
    ],
    '/metaOther': [200, { 'content-type': 'text/html; charset=utf-8' }, '<meta charset="gbk"><p>Caf\u00e9'],
    '/metaWide': [200, { 'content-type': 'text/html' }, '<meta charset="utf-16"><p>Caf\u00e9'],
    '/metaLate': [200, { 'content-type': 'text/html' }, `${'<p>'.repeat(400)}<meta charset="gbk">Caf\u00e9`],
    '/metaText': [200, { 'content-type': 'text/plain' }, '<meta charset="gbk">Caf\u00e9'],
    '/xml': [
      200,
      { 'content-type': 'text/xml' },
      Buffer.from('<?xml version="1.0" encoding="iso-8859-2"?><a>\xb9</a>', 'latin1'),
    ],
    '/wide': [200, { 'content-type': 'text/html; charset=utf-16le' }, Buffer.from('<p>\u65e5', 'utf16le')],
    '/mark': [200, { 'content-type': 'text/html; charset=gbk' }, Buffer.from('\ufeff<p>\u65e5', 'utf16le')],
    '/headless': [200, { 'content-type': 'text/html' }, '<!doctype html><head><title>T</title><p>text'],
    '/deep': [200, { 'content-type': 'text/html' }, '<ul><li>'.repeat(200_000)],
    '/short': [200, { 'content-type': 'text/plain', 'content-length': 9, connection: 'close' }, 'cut'],
  });
  const { daemon, find } = await place(
    t,
    {},
    { secrets: [{ origin: url, secret: 'planted-token-0123456789' }] },
  );
  t.strictSame(await find(`Read @${url}/moved, and @https://example.org`), [
    { word: `@${url}/moved,`, files: [], url: `${url}/moved`, notes: [] },
    { word: '@https://example.org', files: [], url: 'https://example.org/', notes: [] },
  ]);
  t.strictSame(asked, [], 'nothing was fetched');
  const fetched = async (path: string) => (await daemon.request(fetchFileRequest, { url: url + path })).file;
  t.strictSame(await fetched('/moved'), {
    path: `${url}/moved`,
    bytes: page.length,
    tokens: 7,
    attachment: { path: `${url}/moved`, text: 'T\n\n# Caf\u00e9\n\none\ntwo three', uris: [`${url}/moved`] },
  });
  for (const [path, text] of [
    ['/data', '{"a":1}'],
    ['/unknown', 'Caf\u00e9'],
    ['/plain', 'without a type'],
    ['/hop5', '{"a":1}'],
    ['/300', '{"a":1}'],
    ['/399', '{"a":1}'],
    ['/latin', '\u00e9'],
    ['/meta', '\u041c\u0438\u0440'],
    ['/equiv', '\u65e5'],
    ['/metaOther', 'Caf\u00e9'],
    ['/metaWide', 'Caf\u00e9'],
    ['/metaLate', 'Caf\u00e9'],
    ['/metaText', '<meta charset="gbk">Caf\u00e9'],
    ['/xml', '<?xml version="1.0" encoding="iso-8859-2"?><a>\u0161</a>'],
    ['/wide', '\u65e5'],
    ['/mark', '\u65e5'],
    ['/headless', 'text'],
  ] as const)
    t.equal((await fetched(path)).attachment?.text, text);
  for (const { headers } of asked)
    t.notOk(Object.keys(headers).some((name) => /cookie|authorization|referer|^x-|origin/.test(name)));
  t.notMatch(JSON.stringify(asked), /planted|runner/i, 'no header is of Runner');
  const most = await fetchPage(`${url}/most`, new AbortController().signal);
  t.equal(most.bytes, 2 * 1_024 * 1_024);
  const failures: readonly [string, RegExp][] = [
    ['/away', /leads to another site, http:\/\/127\.0\.0\.1:\d+\/secret\. Name that address/],
    ['/round', /more than 5 times/],
    ['/hop6', /more than 5 times/],
    ['/nowhere', /answered 302\.$/],
    ['/broken', /answered 302\.$/],
    ['/400', /answered 400\.$/],
    ['/more', /has more than 2\.1 MB/],
    ['/big', /has more than 2\.1 MB/],
    ['/picture', /is image\/png, which is no text/],
    ['/none', /answered 404/],
    ['/zero', /\/zero is no text\.$/],
    ['/zeroFirst', /\/zeroFirst is no text\.$/],
    ['/short', /\/short broke off\.$/],
    ['/deep', /\/deep nests its elements too deeply\.$/],
  ];
  for (const [path, says] of failures)
    await t.rejects(fetched(path), failsWith({ message: says, data: { kind: 'bad-response' } }));
  t.strictSame(other.asked, []);
  for (const wrong of [
    ...['file:///etc/passwd', 'http://a:b@127.0.0.1/', 'http://a@127.0.0.1/', 'http://:b@127.0.0.1/'],
    'no',
  ])
    await t.rejects(daemon.request(fetchFileRequest, { url: wrong }), failsWith({ code: -32602 }));
});

t.test('a page becomes its words', async (t) => {
  const { signal } = new AbortController();
  const cases: readonly (readonly [html: string, text: string])[] = [
    ['plain &amp; simple', 'plain & simple'],
    ['<ul><li>a<li>b</ul>', '- a\n- b'],
    ['<pre>  x\n y</pre> after', '```\n  x\n y\n```\n\nafter'],
    ['<style>p{}</style><p>a</p>\n\n<p>b  c</p>', 'a\n\nb c'],
    ['<table><tr><td>a</td><td>b</td></tr><tr><td>c</table>', 'a b\nc'],
    ['<p>a<svg><text>no</text></svg>b', 'ab'],
    ['', ''],
    ['a<br>b<br/>c', 'a\nb\nc'],
    ['<h2>a</h2>b<h6>c</h6><h1>', '## a\n\nb\n\n###### c\n\n#'],
    ['a<ul><li>b</li> <li>c</li></ul>d', 'a\n\n- b\n- c\n\nd'],
    ['<tr><th>a<th>b</tr>c', 'a b\nc'],
    ['<pre>a  b<b> c </b></pre>d  e', '```\na  b c \n```\n\nd e'],
    ['<nav>a<pre>b</pre></nav>c', 'c'],
    ['<head><title>T</title><meta charset=a><style>x</style><p>text</head>more', 'text\n\nmore'],
    ...['script', 'style', 'noscript', 'template', 'svg', 'math', 'iframe', 'object', 'head', 'nav'].map(
      (name) => [`a<${name}>b</${name}>c`, 'ac'] as const,
    ),
  ];
  for (const [html, text] of cases) t.equal(await textOfHtml(html, signal), text, html);
  await t.rejects(textOfHtml('a', AbortSignal.abort(new Error('stopped'))), { message: 'stopped' });
  const long = `${'<div>'.repeat(900)}deep${'<script>'.repeat(10)}`;
  t.equal(await textOfHtml(long, signal), 'deep');
  t.equal(
    await textOfHtml('<i>a</i><br><ul><li>b</ul>'.repeat(1_000), signal).then(({ length }) => length > 0),
    true,
  );
  for (const tag of ['<div>', '<i>', '<ul><li>'])
    await t.rejects(textOfHtml(tag.repeat(50_000), signal), { message: /nested too deeply/ }, tag);
  await fc.assert(
    fc.asyncProperty(fc.string(), async (text) => {
      const escaped = text.replace(/[&<>\r\0]/g, (one) =>
        one === '\r' || one === '\0' ? '' : `&#${one.charCodeAt(0)};`,
      );
      const bare = (some: string) => some.replace(/[\s\0]/g, '');
      t.equal(bare(await textOfHtml(`<p>${escaped}</p>`, signal)), bare(text), 'no word is lost');
    }),
  );
});

t.test('the words of a question that are worth looking for', async (t) => {
  const cases: readonly [text: string, want: readonly string[]][] = [
    ['Where is the retry of a failed request handled?', ['retr', 'fail', 'request', 'handl']],
    ['what calls readUserFile()', ['call', 'readuserfil', 'read', 'user']],
    ['HTTP_PORT und Übertragung', ['http_port', 'http', 'port', 'und', 'übertragung']],
    ['#codebase where is it?', []],
    ['ab abc', ['abc']],
    ['_name $name', ['nam']],
    ['readers read reading tries tried $x', ['read', 'tri']],
    ['HTTPServer2 XMLs', ['httpserver2', 'http', 'serv', 'xml']],
    ['', []],
  ];
  for (const [text, want] of cases) t.strictSame(soughtWords(text), want, text);
  t.ok(soughtWords('word'.repeat(100_000)).length <= 1, 'a long text comes to an end');
  t.equal(soughtWords(Array.from({ length: 100 }, (_, at) => `word${at}x`).join(' ')).length, 24);
});

t.test('excerpts: the rarest words first, whole words or parts of names, and no overlap', async (t) => {
  const file = (name: string, text: string) => hitsIn({ name, path: `/${name}`, text }, ['retr', 'fail']);
  t.equal(file('a.ts', 'const pretrained = unfailing;'), undefined, 'the middle of a word is no hit');
  t.match(file('a.ts', 'shouldRetry, MAX_RETRIES'), { hits: [{ line: 0, word: 0 }] });
  t.equal(file('a.min.js', `retry(${'x'.repeat(5_000)})`), undefined, 'what programs made');
  t.strictSame(file('retry/b.ts', 'fail')?.inName, [0]);
  const blank = '\n'.repeat(60);
  const files = [
    file('both.ts', `${blank}retry\nfail\n${blank}fail`),
    file('one.ts', 'fail'),
    file('two.ts', 'fail'),
  ].flatMap((hits) => hits ?? []);
  const [best, ...rest] = bestExcerpts(files, 2);
  t.match(best, { name: 'both.ts', first: 56, last: 65 });
  t.ok(
    rest.every(({ name, first }) => name !== 'both.ts' || first > 65),
    'excerpts do not overlap',
  );
  const inOneLine = [file('a.ts', 'fail'), file('b.ts', 'retry'), file('c.ts', 'retry fail')];
  t.equal(
    bestExcerpts(
      inOneLine.flatMap((hits) => hits ?? []),
      2,
    )[0]?.name,
    'c.ts',
    'both words of a line count',
  );
  t.equal(file('a', `fail${'x'.repeat(795)}\n`)?.hits.length, 1, 'lines of 400 characters, on average');
  t.equal(file('a', `fail${'x'.repeat(796)}\n`), undefined, 'and one more');
  t.equal(file('a', 'fail\n'.repeat(201))?.hits.length, 200);
  t.equal(file('a', '\u0130\nFail\nfail')?.hits.length, 1, 'letters that are longer in lower case');
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('retry', 'Fail', ' ', '\n', 'x', '\u0130') }), (text) => {
      const hits = file('a', text);
      for (const { first, last } of hits ? bestExcerpts([hits], 2) : [])
        t.ok(first >= 0 && first <= last && last <= text.split('\n').length - 1);
    }),
  );
});

t.test('how far excerpts reach, how many there are, and which come first', async (t) => {
  const words = ['aa', 'bb', 'cc'];
  /** A file by its lines: the words that each has. */
  const file = (name: string, lines: Readonly<Record<number, string>>, length = 400) => {
    const all = Array.from({ length }, (_, at) => lines[at] ?? '');
    const hits = hitsIn({ name, path: `/${name}`, text: all.join('\n') }, words);
    return hits === undefined ? [] : [hits];
  };
  const best = (...files: readonly ReturnType<typeof file>[]) =>
    bestExcerpts(files.flat(), words.length).map(({ name, first, last }) => `${name}:${first}-${last}`);

  t.strictSame(best(file('a', { 10: 'aa', 49: 'bb' })), ['a:6-53'], 'as far apart as two may be');
  t.strictSame(best(file('a', { 10: 'aa', 50: 'bb' })), ['a:6-14', 'a:46-54'], 'too far apart');
  t.strictSame(
    best(file('a', { 50: 'aa', 100: 'aa', 150: 'aa', 200: 'aa' })),
    ['a:46-54', 'a:96-104', 'a:146-154'],
    'three of a file',
  );
  t.strictSame(
    best(...Array.from({ length: 20 }, (_, at) => file(`f${at + 10}`, { 9: 'aa' }))),
    Array.from({ length: 16 }, (_, at) => `f${at + 10}:5-13`),
    'sixteen in all, of like ones by their names',
  );
  const common = (length: number) => Array.from({ length }, (_, at) => file(`x${at}`, { 0: 'aa' }, 1));
  t.equal(best(file('rare', { 0: 'bb' }, 1), ...common(9)).length, 10);
  t.strictSame(
    best(file('rare', { 0: 'bb' }, 1), ...common(10)),
    ['rare:0-0'],
    'what has far less than the best is no answer',
  );
});

t.test('a .runnerignore hides files from whatever looks for files, and brings nothing back', async (t) => {
  const { find, daemon, cwd } = await place(t, {
    '.runnerignore': 'notes/\n*.draft.md\n!.env\n!dist\n!keep.draft.md\n',
    '.gitignore': 'dist\n',
    'a.md': 'retry',
    'b.draft.md': 'retry',
    'keep.draft.md': 'retry',
    'notes/c.md': 'retry',
    'in/notes/d.md': 'retry',
    'in/.runnerignore': '!d.md\ne.md\n',
    'in/e.md': 'retry',
    'dist/f.md': 'retry',
    '.env': 'retry',
  });
  const [all] = await find('@**/*.md');
  t.strictSame(
    all?.files.map(({ path }) => path),
    ['a.md', 'keep.draft.md'],
  );
  t.match(all?.notes, [/4 files that are excluded/]);
  const found = await daemon.request(searchFilesRequest, { text: 'retry', cwd, tokens: 1_000 });
  t.strictSame(found.files.map(({ path }) => path).sort(), ['a.md', 'keep.draft.md']);
  t.match(await find('@notes/c.md @.env @dist/f.md'), [
    { files: [{ privacy: 'excluded', attachment: { text: 'retry' } }] },
    { files: [{ privacy: 'secret' }] },
    { files: [{ path: 'dist/f.md' }] },
  ]);
  const findPrivacy = createFindPrivacy(() => []);
  const open = { folders: [cwd], homes: [], platform: process.platform, findPrivacy, now: Date.now };
  const workspace = new Workspace(open);
  t.match(await workspace.find('a.md'), { name: 'a.md' });
  await t.rejects(workspace.find('notes/c.md'), {
    message: /the user excluded it \(runner\.exclude or \.runnerignore\)/,
  });
  await t.rejects(workspace.find('.runnerignore'), { message: /nothing in \.runnerignore is/ });
  let now = 0;
  const later = createFindPrivacy(
    () => [],
    () => now,
  );
  t.equal(await later(join(cwd, 'a.md')), undefined);
  writeFileSync(join(cwd, '.runnerignore'), 'a.md');
  now = 1_000;
  t.equal(await later(join(cwd, 'a.md')), 'excluded', 'a change counts after a second');
});

t.test('a search finds what a question is about, and no private file', async (t) => {
  const { daemon, cwd } = await place(
    t,
    {
      'src/retry.ts': `${'\n'.repeat(9)}export function retryRequest() {}\n`,
      'src/other.ts': 'export const other = 1;\n',
      '.env': 'RETRY_TOKEN=secret\n',
      'private/retry.md': 'retry of requests\n',
      'dist/retry.js': 'retry request\n',
      '.gitignore': 'dist\n',
      'all.bin': Buffer.from('retry\0request'),
    },
    {},
    { exclude: ['private/**'] },
  );
  const search = (text: string, tokens = 1_000) => daemon.request(searchFilesRequest, { text, cwd, tokens });
  const { files, notes } = await search('Where are requests retried?');
  const text = `${'\n'.repeat(4)}export function retryRequest() {}\n`;
  t.strictSame(
    { files, notes },
    {
      files: [
        {
          path: 'src/retry.ts',
          bytes: 38,
          tokens: 14,
          attachment: {
            path: 'src/retry.ts',
            lines: '6-11',
            text,
            uris: [pathToFileURL(join(cwd, 'src/retry.ts')).href],
            automatic: true,
            language: 'ts',
          },
        },
      ],
      notes: [],
    },
  );
  t.equal((await search('requests', 14)).files.length, 1);
  t.equal((await search('requests', 13)).files.length, 0);
  t.strictSame((await search('retry', 1)).files, [], 'within the tokens that it may have');
  t.match(await search('where is it?'), { files: [], notes: [/no words/] });
  for (const wrong of [
    { cwd: 'here', tokens: 9 },
    { cwd, tokens: 0 },
  ])
    await t.rejects(daemon.request(searchFilesRequest, { text: 'a', ...wrong }), failsWith({ code: -32602 }));
  await daemon.connection.sendNotification(trustDidChange.method, { trusted: false });
  await t.rejects(search('retry'), failsWith({ data: { kind: 'not-supported' } }));
});

/** What a search of a folder finds, for a clock that a test moves. */
async function searched(cwd: string, text: string, now = () => 0) {
  const findPrivacy = async () => undefined;
  const options = { findPrivacy, now, signal: new AbortController().signal };
  const { files, notes } = await searchFiles({ text, cwd, tokens: 100_000 }, options);
  return { names: files.map(({ path }) => path).sort(), files, notes };
}

t.test('the excerpts of a search have room for each other', async (t) => {
  const cwd = await temporaryFolder(t, {
    a: 'retry',
    'b.c++': 'retry',
    [`c.${'x'.repeat(20)}`]: 'retry',
    [`d.${'x'.repeat(21)}`]: 'retry',
  });
  const found = async (tokens: number) => {
    const findPrivacy = async () => undefined;
    const options = { findPrivacy, now: () => 0, signal: new AbortController().signal };
    const { files } = await searchFiles({ text: 'retry', cwd, tokens }, options);
    return files.map(({ path, tokens, attachment }) => [path[0], tokens, attachment?.language]);
  };
  const all = [
    ['a', 2, undefined],
    ['b', 3, undefined],
    ['c', 8, 'x'.repeat(20)],
    ['d', 8, undefined],
  ];
  t.strictSame(await found(21), all);
  t.strictSame(await found(20), all.slice(0, 3));
  t.strictSame(await found(12), all.slice(0, 2), 'a smaller one that comes later would still be taken');
  t.strictSame(await found(2), all.slice(0, 1));
});

t.test('how much of a folder is searched', where('links'), async (t) => {
  for (const cwd of ['/', homedir(), '/no/such/folder'])
    t.match(await searched(cwd, 'retry'), {
      files: [],
      notes: [`${cwd} is too much to search, or is not there.`],
    });

  const four = { 'a.ts': 'retry', 'b.ts': 'retry', 'c.ts': 'retry', 'd.ts': 'retry' };
  const timed = await temporaryFolder(t, four);
  const times = [0, 1, 2_000, 2_001];
  t.match(await searched(timed, 'retry', () => times.shift() ?? 9_999), {
    names: ['a.ts', 'b.ts'],
    notes: ['Not searched: the rest of a very large folder.'],
  });

  // The first is as large as a file may be, and so many of it as are read.
  const largest = 512 * 1_024;
  const line = `${'x'.repeat(99)}\n`;
  const body = line.repeat(Math.ceil(largest / line.length));
  const large = realpathSync(
    await temporaryFolder(t, {
      'a.ts': body.slice(0, largest),
      'larger.ts': `retry\n${body}`.slice(0, largest + 1),
      'z.ts': `retry\n${body}`.slice(0, largest),
    }),
  );
  for (let at = 0; at < 126; at += 1) symlinkSync(join(large, 'a.ts'), join(large, `link${at}.ts`));
  t.match(await searched(large, 'retry'), { names: ['z.ts'], notes: [] });
  writeFileSync(join(large, 'zz.ts'), 'x');
  t.match(await searched(large, 'retry'), {
    names: ['z.ts'],
    notes: ['Not searched: the rest of very many files.'],
  });

  // As many hits as are kept: 41 files with 4,800, one with 3,200, and one more.
  const words = Array.from('abcdefghijklmnopqrstuvwx', (letter) => `qq${letter}`);
  const linesOf = (some: readonly string[]) => `${some.join(' ')}\n`.repeat(200);
  const full = Array.from({ length: 41 }, (_, at) => [`a${at}.ts`, linesOf(words)]);
  const many = await temporaryFolder(t, {
    ...Object.fromEntries(full),
    'b.ts': linesOf(words.slice(0, 16)),
    'c.ts': words[0] ?? '',
  });
  t.strictSame((await searched(many, words.join(' '))).notes, []);
  writeFileSync(join(many, 'd.ts'), 'x');
  t.strictSame((await searched(many, words.join(' '))).notes, ['Not searched: the rest of very many files.']);
});

t.test('an excerpt with long lines is cut behind its first ones', async (t) => {
  const short = 'x\n'.repeat(20);
  for (const [first, second, lines] of [
    [5, 2_995, '1-2'],
    [5, 2_996, '1-1'],
    [3_001, 0, '1-1'],
  ] as const) {
    const text = `${'retry'.padEnd(first, '.')}\n${'x'.repeat(second)}\n${short}`;
    const folder = await temporaryFolder(t, { 'a.ts': text });
    const { files } = await searched(folder, 'retry');
    const count = Number(lines.slice(2));
    const want = text.split('\n').slice(0, count).join('\n');
    t.match(files, [{ attachment: { lines, text: want } }], `${first} and ${second} characters`);
  }
});
