import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { createLogger } from '../../docs-service/base/log.ts';
import { openDatabase } from '../../docs-service/base/sqliteDatabase.ts';
import { runProgram } from '../../docs-service/cli/program.ts';
import { countWarnings } from '../../docs-service/content/document.ts';
import { checkLinks } from '../../docs-service/content/linkCheck.ts';
import { SlugRegister } from '../../docs-service/library/slugRegister.ts';
import { IndexUnavailableError } from '../../docs-service/search/documentIndex.ts';
import { openTestApp } from '../support/docsApp.ts';
import { callDocs } from '../support/docsCommand.ts';
import {
  createSlugRecords,
  followTestLibrary,
  openTestLibrary,
  quietSurroundings,
  type TestLibrary,
} from '../support/docsLibrary.ts';
import { serveDocs } from '../support/docsProcess.ts';
import { where } from '../support/systems.ts';
import { temporaryFolder, writeFiles } from '../support/temporaryFolder.ts';
import { poll } from '../support/waiting.ts';

t.test(
  'files become documents, and bad ones are reported without affecting the others',
  where('links', 'sh'),
  async (t) => {
    const outside = await temporaryFolder(t, { 'secret.md': '# Secret' });
    const library = await openTestLibrary(t, {
      'one.md': '# One',
      'deep/er/two.markdown': '---\ndate: 2026-01-02\n---\n# Two',
      'draft.md': '---\ndraft: true\n---\n# Draft',
      'bad.md': '---\nlang: no such language\nslug: Bad!\n---\n',
      'unclear.md': '---\ndate: 05/06/2026\n---\n# Unclear',
      'latin.md': new Uint8Array([0x23, 0x20, 0xe9]),
      'large.md': new Uint8Array(10 * 1024 * 1024 + 1),
      'a/same.md': '---\nslug: same\n---\n# First',
      'b/same.md': '---\nslug: same\n---\n# Second',
      'cover.md': '---\ncover: ../../up.png\n---\n# Cover',
      '_part.md': '# No',
      '_parts/no.md': '# No',
      '_drafts/late.md': '# Late',
      'deep/_index.md': '# Index',
      '.hidden/no.md': '# No',
      'node_modules/no.md': '# No',
      'notes.txt': 'No',
      'collections/read.me.md': '# A document beside collections',
      'collections/book.yaml': 'docs: [two, one, draft, gone]\n',
      'collections/lost.yaml': `docs: [${Array.from({ length: 12 }, (_, number) => `lost-${number}`)}]\n`,
      'collections/bad.yaml': 'docs: 3\n',
      'collections/nowhere.yaml': 'path: nowhere\n',
      'collections/z-again.yaml': 'name: book\ndocs: [one]\n',
    });
    const { content, index, indexer, problems } = library;
    await symlink(join(outside, 'secret.md'), join(content, 'link.md'));
    await symlink(join(content, 'one.md'), join(content, 'inside.md'));
    spawnSync('mkfifo', [join(content, 'pipe.md')]);
    await symlink(join(content, 'pipe.md'), join(content, 'linked-pipe.md'));
    await symlink(join(content, 'deep'), join(content, 'linked'));
    await symlink(outside, join(content, 'elsewhere'));
    await symlink(join(content, 'deep'), join(content, 'linked.md'));
    await symlink('nowhere', join(content, 'nowhere.png'));
    await symlink('loop.md', join(content, 'loop.md'));
    // Looking at what it leads to is an error: its name is longer than names may be.
    await symlink('x'.repeat(300), join(content, 'impossible.md'));
    await indexer.sync();
    t.strictSame(await library.slugs(), [
      'two',
      'read-me',
      'bad',
      'cover',
      'draft',
      'same',
      'deep',
      'late',
      'inside',
      'one',
      'b-same',
      'unclear',
    ]);
    t.match(await index.read('same'), { title: 'First', path: 'a/same.md' });
    t.match(await index.read('late'), { draft: true });
    t.match((await index.summary()).warnings[0], {
      path: '_part.md',
      message: /^2 files and folders have names with "_" in front/,
    });
    const { documents, problems: kept, isComplete } = await index.summary();
    t.equal(documents, 10, 'drafts do not count');
    t.equal(isComplete, true);
    const wanted: readonly [string, RegExp][] = [
      ['collections/bad.yaml', /"docs" must be/],
      ['collections/book.yaml', /documents that do not exist: gone/],
      ['collections/book.yaml', /drafts, which are left out: draft/],
      ['collections/lost.yaml', /do not exist: lost-0, .*, lost-9 and 2 more\./],
      ['collections/nowhere.yaml', /the path "nowhere\/", but no document is there/],
      ['collections/z-again.yaml', /Another file has the name "book"/],
      ['large.md', /more than 10 MB/],
      ['elsewhere', /Links to folders are not followed/],
      ['impossible.md', /cannot be read: ENAMETOOLONG/],
      ['linked', /Links to folders are not followed/],
      ['linked.md', /Links to folders are not followed/],
      ['linked-pipe.md', /leads to something that is not a file/],
      ['loop.md', /out of the content folder, or nowhere/],
      ['latin.md', /not valid UTF-8/],
      ['link.md', /leads out of the content folder/],
    ];
    for (const [path, message] of wanted)
      t.ok(
        kept.some((one) => one.path === path && message.test(one.message)),
        `${path}: ${message}`,
      );
    t.equal(kept.length, wanted.length);
    t.equal(problems.length >= wanted.length - 1, true, 'each was logged');
  },
);

t.test('collections have their documents in the configured order', async (t) => {
  const { get } = await openTestApp(t, {
    'a.md': '---\ntitle: Zebra\ndate: 2026-01-01\ntype: guide\ntags: [news]\n---\n',
    'b.md': '---\ntitle: Apple\ndate: 2026-03-01T00:00:00+02:00\ntype: guide\n---\n',
    'c.md': '---\ntitle: Mango\ntags: [news]\n---\n',
    'collections/listed.yaml': 'docs: [c, a, b, a]',
    'collections/title.yaml': 'docs: [a, b, c]\norder: title',
    'collections/newest.yaml': 'docs: [c, a, b]\norder: -date',
    'collections/oldest.yaml': 'docs: [c, b, a]\norder: date',
    'collections/guides.yaml': 'query: { type: guide }',
    'collections/guides-oldest.yaml': 'query: { type: guide }\norder: date',
    'collections/news.yaml': 'query: { tag: news }\norder: title',
    'collections/nothing.yaml': 'query: { tag: none }',
  });
  const cases = {
    listed: 'cab',
    title: 'bca',
    newest: 'bac',
    oldest: 'abc',
    guides: 'ba',
    'guides-oldest': 'ab',
    news: 'ca',
    nothing: '',
  };
  for (const [name, want] of Object.entries(cases)) {
    const { documents } = (await get(`/api/v1/collections/${name}`)).json();
    t.equal(documents.map(({ slug }: { slug: string }) => slug).join(''), want, name);
  }
});

t.test('a scan reads only changed files', async (t) => {
  const library = await openTestLibrary(t, { 'one.md': '# One', 'two.md': '# Two' });
  const { content, index, indexer } = library;
  t.equal((await indexer.sync()).changed, 2);
  t.equal((await indexer.sync()).changed, 0);
  const { generation } = index;
  await utimes(join(content, 'one.md'), new Date(1_000_000), new Date(2_000_000));
  t.equal((await indexer.sync()).changed, 1);
  t.equal(index.generation, generation, 'the same bytes are no change for readers');
  await writeFiles(content, { 'one.md': '# Uno' });
  await indexer.sync();
  t.match(await index.read('one'), { title: 'Uno' });
});

/** A store or an image gives one time to all files, and shows no other. */
function withoutTimes(folder: TestLibrary['folder']): void {
  const { list } = folder;
  Object.assign(folder, {
    list: async (path: string) => {
      const listing = await list(path);
      return listing && { ...listing, files: listing.files.map((file) => ({ ...file, look: '' })) };
    },
  });
}

t.test('a file of the same size and time as before is read again', async (t) => {
  const library = await openTestLibrary(t, { 'one.md': 'port 8080', 'collections/all.yaml': 'docs: [a]' });
  const { content, folder, index, indexer } = library;
  const replaced = async (path: string, text: string, put: (file: string, text: string) => Promise<void>) => {
    const file = join(content, path);
    await utimes(file, new Date(1_000), new Date(1_000));
    await indexer.sync();
    await put(file, text);
    await utimes(file, new Date(1_000), new Date(1_000));
    await indexer.sync();
  };
  const moved = async (file: string, text: string) => {
    await writeFile(`${file}.new`, text);
    await rename(`${file}.new`, file);
  };
  await replaced('one.md', 'port 9090', writeFile);
  t.equal((await index.read('one'))?.body, 'port 9090', 'written');
  await replaced('one.md', 'port 7070', moved);
  t.equal((await index.read('one'))?.body, 'port 7070', 'moved here');
  await replaced('collections/all.yaml', 'docs: [b]', writeFile);
  t.match(await index.collections(), [{ docs: ['b'] }], 'a collection');
  withoutTimes(folder);
  await writeFile(join(content, 'one.md'), 'port 6060');
  t.equal((await indexer.sync()).changed, 1);
  t.equal((await index.read('one'))?.body, 'port 6060', 'its times say nothing');
  t.equal((await indexer.sync()).changed, 0);
});

t.test('documents that the index has lost are named, and indexed again', async (t) => {
  const file = join(await temporaryFolder(t), 'index.db');
  const library = await openTestLibrary(
    t,
    { 'one.md': '# One', 'two.md': '# Two', 'bad.md': '\xff' },
    { file },
  );
  await library.indexer.sync();
  const two = await library.index.read('two');
  await library.index.apply({ remove: ['one'], put: two ? [{ ...two, body: 'old', contentHash: '0' }] : [] });
  t.strictSame(await library.index.lostFiles(), ['one.md', 'two.md']);
  const { content, records } = library;
  const again = await openTestLibrary(t, {}, { content, file, records });
  t.match(again.losses, [/^The index has lost 2 documents, or has an older text: one.md, two.md. They are/]);
  await again.indexer.sync();
  t.match(await again.index.read('two'), { body: '# Two' });
  t.ok(await again.index.read('one'));
  t.strictSame(await again.index.lostFiles(), []);
});

t.test('a warning is logged once, and stays while its file does', async (t) => {
  const file = join(await temporaryFolder(t), 'index.db');
  const library = await openTestLibrary(
    t,
    { 'one.md': '---\ndate: 2026/01/02\n---\n', 'two.md': '---\ndraft: no\ndate: 2026/1/3\n---\n' },
    { file },
  );
  const { content, index, indexer, warnings } = library;
  const told = () => warnings.map(({ path, line }) => `${path}:${line}`).join(' ');
  await indexer.sync();
  t.equal(told(), 'one.md:2 two.md:2 two.md:3');
  await writeFiles(content, {
    'one.md': '---\ntitle: One\ndate: 2026/01/02\n---\n',
    'two.md': '---\ndate: 2026-01-03\n---\n',
  });
  await indexer.sync();
  t.equal(told(), 'one.md:2 two.md:2 two.md:3', 'one that moved to another line is not new');
  await index.close();
  const again = await openTestLibrary(t, {}, { file, content });
  await again.indexer.sync();
  t.match((await again.index.summary()).warnings, [{ path: 'one.md', line: 3, message: /2026-01-02/ }]);
  t.strictSame(again.warnings, [], 'a restart tells nothing twice');
  await rm(join(content, 'one.md'));
  await again.indexer.sync();
  t.strictSame((await again.index.summary()).warnings, []);
});

t.test('a document appears when its date comes, and disappears when it ends', async (t) => {
  const file = join(await temporaryFolder(t), 'index.db');
  let now = Date.parse('2100-01-01T00:00:00Z');
  const text = '---\ndate: 2100-02-01\nexpiryDate: 2100-03-01T00:00:00Z\n---\n# News';
  const library = await openTestLibrary(t, { 'news.md': text }, { file, now: () => now });
  const { content, index, indexer, records } = library;
  const count = async (day: string) => {
    now = Date.parse(day);
    await indexer.sync();
    return (await index.summary()).documents;
  };
  t.equal(await count('2100-01-31T09:59:59Z'), 0);
  t.equal(await count('2100-01-31T10:00:00Z'), 1, 'the first of February begins');
  t.equal(await count('2100-02-28T23:59:59Z'), 1);
  t.equal(await count('2100-03-01T00:00:00Z'), 0);
  t.equal((await indexer.sync()).changed, 0, 'then it is not read again');
  now = Date.parse('2100-01-01T00:00:00Z');
  await writeFiles(content, { 'news.md': `${text} of today` });
  await indexer.sync();
  await index.close();
  for (const future of [true, false]) {
    const again = await openTestLibrary(t, {}, { file, content, records, future, now: () => now });
    await again.indexer.sync();
    t.equal((await again.index.summary()).documents, future ? 1 : 0, `--future: ${future}`);
    await again.index.close();
  }
});

t.test('the page of a folder makes drafts of all that is below it', async (t) => {
  const file = join(await temporaryFolder(t), 'index.db');
  const page = (cascade: string) => `---\ntitle: Guide\n${cascade}\n---\n`;
  const library = await openTestLibrary(
    t,
    { 'guide/_index.md': page(''), 'guide/deep/one.md': '---\ndraft: false\n---\n', 'guides.md': '# Two' },
    { file },
  );
  const { content, records } = library;
  const isServed = async ({ index, indexer }: typeof library, folder?: string) => {
    await indexer.sync(folder === undefined ? undefined : [folder]);
    t.equal((await index.read('guides'))?.draft, false, 'another folder');
    return (await index.read('one'))?.draft === false;
  };
  t.ok(await isServed(library));
  for (const [cascade, served] of [
    ['cascade:\n  draft: true', false],
    ['cascade: { draft: false }', true],
    ['cascade:\n- _target: { path: /x }\n  draft: "yes"', false],
    ['type: page', true],
    ['cascade:\n  draft: true\nbad: [', false],
  ] as const) {
    await writeFiles(content, { 'guide/_index.md': page(cascade) });
    t.equal(await isServed(library, 'guide'), served, cascade);
  }
  await library.index.close();
  const again = await openTestLibrary(t, {}, { content, file, records });
  await writeFiles(content, { 'guide/deep/one.md': '# Other' });
  t.notOk(await isServed(again, 'guide/deep'), 'after a restart');
  await rm(join(content, 'guide/_index.md'));
  t.ok(await isServed(again), 'the page is gone');
  withoutTimes(again.folder);
  for (const draft of [true, false]) {
    await writeFiles(content, { 'guide/_index.md': page(`cascade: { draft: ${draft} }`) });
    t.equal(await isServed(again), !draft, `its time says nothing: ${draft}`);
  }
});

t.test('a broken link is a warning as long as it is broken', async (t) => {
  const file = join(await temporaryFolder(t), 'index.db');
  const one = [
    '---',
    'title: One',
    '---',
    '[missing](missing.md) [there](guides/install.md#setup) [no place](guides/install.md#nope)',
    '[absolute](/guides/install.md) [bare](guides/install) [folder](guides/) [empty](empty/)',
    '![picture](pictures/there.png) ![gone](pictures/gone.png) [file](LICENSE) [code](example.js) [no file](NOTHING)',
    '[here](#part) [not here](#no-part) [raw](#raw) [top](#top) [out](../../x.md) [mail](mailto:a@example.org)',
    '[draft](draft.md) [broken](broken.md#x) [hidden](.github/x.md) <img src="pictures/none.png">',
    '',
    '## Part',
    '<a name="raw"></a>',
  ].join('\n');
  const library = await openTestLibrary(
    t,
    {
      'one.md': one,
      'guides/README.md': '# Guides',
      'guides/install.md': '# Setup\n\n[up](../one.md#part) [up](..)\n',
      'empty/some.md': 'text',
      'draft.md': '---\ndraft: true\n---\n[missing](gone.md)\n',
      'broken.md': new Uint8Array([0xff]),
      'pictures/there.png': 'x',
      LICENSE: 'x',
      'example.js': 'x',
    },
    { file },
  );
  const { content, index, indexer } = library;
  const now = async (from = index) =>
    (await from.summary()).warnings.map(
      ({ path, line, message }) => `${path}:${line} ${/"(.*?)"/.exec(message)?.[1]}`,
    );
  await indexer.sync();
  const first = [
    'draft.md:4 gone.md',
    'one.md:4 missing.md',
    'one.md:4 guides/install.md#nope',
    'one.md:5 empty/',
    'one.md:6 pictures/gone.png',
    'one.md:6 NOTHING',
    'one.md:7 #no-part',
    'one.md:8 pictures/none.png',
  ];
  t.strictSame(await now(), first);
  t.equal(library.warnings.length, first.length);
  const { generation } = index;
  await indexer.sync();
  t.equal(index.generation, generation, 'nothing has changed');

  await t.test('other files change, and the file itself is not read again', async (t) => {
    await writeFiles(content, {
      'missing.md': '# Missing',
      'guides/install.md': '# Nope\n',
      'pictures/gone.png': 'x',
      'README.md': '# Start',
    });
    await rm(join(content, 'LICENSE'));
    t.equal((await indexer.sync()).changed, 3);
    const rest = ['one.md:4 guides/install.md#setup', 'one.md:5 empty/', 'one.md:6 LICENSE'];
    t.strictSame((await now()).slice(1, 4), rest);
    t.equal(library.warnings.length, first.length + 2, 'only what is new is told');
    await rm(join(content, 'guides'), { recursive: true });
    await indexer.sync();
    t.match(await now(), [
      'draft.md:4 gone.md',
      'one.md:4 guides/install.md#setup',
      'one.md:4 guides/install.md#nope',
    ]);
  });

  await t.test('after a restart too, and nothing is logged twice', async (t) => {
    const before = await now();
    await index.close();
    const again = await openTestLibrary(t, {}, { file, content });
    t.equal((await again.indexer.sync()).changed, 0);
    t.strictSame(await now(again.index), before);
    t.strictSame(again.warnings, []);
    await writeFiles(content, { 'gone.md': '# Gone' });
    await again.indexer.sync();
    t.strictSame(await now(again.index), before.slice(1));
  });
});

t.test('the first broken links of a file are named, and the rest are counted', async (t) => {
  const { index, indexer } = await openTestLibrary(t, { 'one.md': '[x](x.md)\n'.repeat(100) });
  await indexer.sync();
  const { warnings } = await index.summary();
  t.equal(warnings.length, 21);
  t.match(warnings.at(-1), {
    line: 21,
    count: 80,
    message: 'From here on, 80 links and pictures lead nowhere.',
  });
  t.equal(countWarnings(warnings), 100);
  const twenty = Array.from({ length: 100 }, (_, at) => [`${at}.md`, '[x](gone.md)\n'.repeat(20)]);
  const more = { 'x.md': '[x](gone.md)\n[y](gone.md)\n', 'y.md': '[x](gone.md)\n' };
  const many = await openTestLibrary(t, { ...Object.fromEntries(twenty), ...more });
  await many.indexer.sync();
  const all = (await many.index.summary()).warnings;
  t.strictSame([all.length, countWarnings(all)], [2_002, 2_003], 'of very many files too');
});

t.test('while links are checked, other work has its turn, and the check can be ended', async (t) => {
  let turns = 0;
  // More than anybody has, and as many as are needed until other work had its turn.
  function* files() {
    for (let count = 0; count < 5_000_000 && turns === 0; count += 1) yield { path: `${count}.md` };
  }
  const library = { files, tryFile: () => undefined, mayExist: () => false, hasFolder: () => false };
  setImmediate(() => (turns += 1));
  t.strictSame(await checkLinks(library), []);
  t.equal(turns, 1);
  turns = 0;
  await t.rejects(checkLinks(library, AbortSignal.abort()), { name: 'AbortError' });
});

/** The slug of each document, by its path. */
async function slugsByPath({ index }: TestLibrary): Promise<Readonly<Record<string, string>>> {
  const { items } = await index.list({ limit: 100, offset: 0, drafts: true });
  const read = await Promise.all(items.map(({ slug }) => index.read(slug)));
  return Object.fromEntries(
    read
      .map((document) => [document?.path ?? '', document?.slug ?? ''])
      .sort(([a = ''], [b = '']) => (a < b ? -1 : 1)),
  );
}

t.test(
  'every file has an address, the nearest to the content folder the shortest one',
  where('names'),
  async (t) => {
    const long = 'a-folder-with-a-long-name'.repeat(4);
    const library = await openTestLibrary(t, {
      'README.md': '# Library',
      'index.md': '# Also the library',
      'guides.md': '# Guides',
      'guides/readme.md': '# A folder',
      'guides/index.md': '# Beside it',
      'guides/errors.md': '# Errors',
      'api/errors.md': '# Errors of the API',
      'api/v1/README.md': '# Version 1',
      'api/v1/Errors.markdown': '# More',
      'api-v1/errors.md': '# An equal form',
      'named.md': '---\nslug: index\n---\n# Named',
      '日本/index.md': '# Japan',
      '??/README.md': '# A folder without letters',
      [`${long}/x/errors.md`]: '# Long',
      [`other/${long}/x/errors.md`]: '# Long too',
    });
    await library.indexer.sync();
    t.strictSame(await slugsByPath(library), {
      '??/README.md': 'readme-2',
      'README.md': 'readme',
      [`${long}/x/errors.md`]: 'x-errors',
      'api-v1/errors.md': 'errors',
      'api/errors.md': 'api-errors',
      'api/v1/Errors.markdown': 'api-v1-errors-2',
      'api/v1/README.md': 'v1',
      'guides.md': 'guides',
      'guides/errors.md': 'guides-errors',
      'guides/index.md': 'guides-index',
      'guides/readme.md': 'guides-readme',
      'index.md': 'index-2',
      'named.md': 'index',
      [`other/${long}/x/errors.md`]: 'x-errors-2',
      '日本/index.md': '日本',
    });
    t.strictSame((await library.index.summary()).problems, []);
  },
);

t.test('the documentation of three other projects is served in full', async (t) => {
  const content = await temporaryFolder(t);
  for (const name of ['fastify', 'pino', 'undici'])
    for (const part of ['docs', 'README.md'])
      await cp(join('node_modules', name, part), join(content, name, part), { recursive: true });
  const files = (await readdir(content, { recursive: true })).filter((path) => path.endsWith('.md'));
  t.ok(files.length > 90, `${files.length} files`);
  const library = await openTestLibrary(t, {}, { content });
  await library.indexer.sync();
  const { documents, problems } = await library.index.summary();
  t.strictSame({ documents, problems }, { documents: files.length, problems: [] });
  const pages = await Promise.all(['fastify', 'pino', 'undici'].map((slug) => library.index.read(slug)));
  t.strictSame(
    pages.map((page) => page?.path),
    ['fastify/README.md', 'pino/README.md', 'undici/README.md'],
  );
});

t.test('no new file takes over an address', async (t) => {
  const library = await openTestLibrary(t, { 'b/errors.md': '# B', 'guides/README.md': '# Guides' });
  const { content, index, indexer } = library;
  const named = async (name: string) => (await index.slugsNamed([name], { drafts: true })).get(name);
  await indexer.sync();
  t.strictSame(await slugsByPath(library), { 'b/errors.md': 'errors', 'guides/README.md': 'guides' });
  t.equal(await named('b-errors'), 'errors', 'the long form leads to it too');
  t.equal(await named('readme'), 'guides', 'and so does the name of its file');
  await writeFiles(content, {
    'errors.md': '# A',
    'guides.md': '# Beside',
    'b-errors.md': '# The long form',
  });
  await indexer.sync();
  t.match(await slugsByPath(library), {
    'b/errors.md': 'errors',
    'errors.md': 'errors-2',
    'guides/README.md': 'guides',
    'guides.md': 'guides-2',
    'b-errors.md': 'b-errors-2',
  });

  await writeFiles(content, { 'b/errors.md': '---\nbad: [\n---\n', 'c/errors.md': '# C' });
  await indexer.sync();
  t.match(await slugsByPath(library), { 'c/errors.md': 'c-errors' }, 'not even while it cannot be read');
  await writeFiles(content, { 'b/errors.md': '# B again' });
  await indexer.sync();
  t.match(await index.read('errors'), { title: 'B again' });

  await rm(join(content, 'b/errors.md'));
  await indexer.sync();
  t.equal(await index.read('errors'), undefined);
  t.equal(await named('errors'), 'errors-2', 'the nearest of this name answers now');
  await writeFiles(content, { 'd/errors.md': '# D' });
  await indexer.sync();
  t.match(await slugsByPath(library), { 'd/errors.md': 'd-errors' });
  await writeFiles(content, { 'b/errors.md': '# Back' });
  await indexer.sync();
  t.match(await index.read('errors'), { title: 'Back' });

  await rename(join(content, 'b'), join(content, 'z'));
  await indexer.sync();
  t.match(await index.read('errors'), { path: 'z/errors.md' }, 'it moves with its file');
});

t.test('a slug in front matter wins', async (t) => {
  const library = await openTestLibrary(t, { 'errors.md': '# Errors', 'b/errors.md': '# B' });
  const { content, index, indexer } = library;
  await indexer.sync();
  await writeFiles(content, {
    'x.md': '---\nslug: errors\n---\n# X',
    'y.md': '---\nslug: b-errors\n---\n# Y',
  });
  await indexer.sync();
  t.strictSame(await slugsByPath(library), {
    'b/errors.md': 'b-errors-2',
    'errors.md': 'errors-2',
    'x.md': 'errors',
    'y.md': 'b-errors',
  });
  t.match(await index.read('errors-2'), { title: 'Errors', path: 'errors.md' });
  await writeFiles(content, { 'x.md': '# X', 'errors.md': '---\nslug: mistakes\n---\n# Errors' });
  await indexer.sync();
  t.match(await slugsByPath(library), { 'x.md': 'x', 'errors.md': 'mistakes' });
  t.equal((await index.slugsNamed(['errors'], { drafts: true })).get('errors'), 'mistakes');
  await writeFiles(content, {
    'x.md': '---\nslug: /Old/Mistakes/\n---\n# X',
    'b/errors.md': '---\nslug: /B/Faults\n---\n# B',
  });
  await indexer.sync();
  t.match(await slugsByPath(library), { 'x.md': 'x', 'errors.md': 'mistakes', 'b/errors.md': 'faults' });
  t.equal((await index.slugsNamed(['b-errors'], { drafts: true })).get('b-errors'), 'faults');
  await writeFiles(content, { 'c/d.md': '---\nslug: y\n---\n', 'a.md': '---\nslug: y\n---\n' });
  await indexer.sync();
  t.match(await slugsByPath(library), { 'a.md': 'y', 'c/d.md': 'c-d' });
  await rm(join(content, 'a.md'));
  await indexer.sync();
  t.match(await slugsByPath(library), { 'c/d.md': 'y' });
  t.strictSame((await index.summary()).problems, []);
});

t.test('slugs outlive the index', async (t) => {
  const before = await openTestLibrary(t, {
    'b/errors.md': '# B',
    'b/c/errors.md': '# C',
    'd/faq.md': '# D',
  });
  await before.indexer.sync();
  const { content, records } = before;
  await writeFiles(content, { 'e/one.md': '# One' });
  await before.indexer.sync();
  await writeFiles(content, { 'errors.md': '# New', 'faq.md': '# New too', 'one.md': '# Another' });
  await rm(join(content, 'd/faq.md'));
  const after = await openTestLibrary(t, {}, { content, records });
  await after.indexer.sync();
  t.strictSame(await slugsByPath(after), {
    'b/c/errors.md': 'b-c-errors',
    'b/errors.md': 'errors',
    'e/one.md': 'one',
    'errors.md': 'errors-2',
    'faq.md': 'faq',
    'one.md': 'one-2',
  });
  const lost = await openTestLibrary(t, {}, { content });
  await lost.indexer.sync();
  t.match(
    await slugsByPath(lost),
    { 'errors.md': 'errors', 'b/errors.md': 'b-errors' },
    'without both it is a first start',
  );
});

t.test('the record of files that are gone is bounded', async (t) => {
  const records = createSlugRecords();
  let now = 0;
  const path = (number: number) => `folder/${number}.md`;
  const register = await SlugRegister.load(records, () => ++now);
  for (let number = 0; number < 10_050; number++) register.give(path(number), () => false);
  await register.write();
  for (let number = 0; number < 10_050; number++) register.release(path(number));
  await register.write();
  const inAnyOrder = { ...records, all: async () => (await records.all()).toReversed() };
  const later = await SlugRegister.load(inAnyOrder, () => ++now);
  later.give('new.md', () => false);
  later.release('new.md');
  await later.write();
  const left = (await records.all()).map((record) => record.path);
  t.equal(left.length, 10_000);
  t.strictSame([left.includes(path(50)), left.includes(path(51))], [false, true], 'the oldest go first');
  const again = await SlugRegister.load(records, () => ++now);
  const given = ['other/60.md', path(60), path(61)].map((one) => again.give(one, () => false));
  t.strictSame(given, ['60', 'folder-60', '61'], 'the slug of a file that is gone is free');
});

t.test('the slugs of an index of an older version are kept', async (t) => {
  const file = join(await temporaryFolder(t), 'index.db');
  const old = await openDatabase(file);
  old.exec('CREATE TABLE documents (slug TEXT, path TEXT); CREATE TABLE files (path TEXT)');
  const insert = old.prepare('INSERT INTO documents VALUES (?, ?)');
  insert.run('readme', 'guides/README.md');
  insert.run('setup', 'a/deep/setup.md');
  insert.run('named', 'named.md');
  insert.run('gone', 'gone.md');
  old.close();
  const library = await openTestLibrary(
    t,
    {
      'guides/README.md': '# Guides',
      'README.md': '# Library',
      'a/deep/setup.md': '# Setup',
      'b/setup.md': '# Another',
      'named.md': '---\nslug: named\n---\n# Named',
    },
    { file },
  );
  await library.indexer.sync();
  t.strictSame(await slugsByPath(library), {
    'README.md': 'readme-2',
    'a/deep/setup.md': 'setup',
    'b/setup.md': 'b-setup',
    'guides/README.md': 'readme',
    'named.md': 'named',
  });
  t.equal((await library.index.slugsNamed(['guides'], { drafts: false })).get('guides'), 'readme');
  t.match(await library.index.summary(), { documents: 5, problems: [] });
});

t.test('after any changes of files, the index equals a new one', async (t) => {
  const names = ['a.md', 'x/README.md', 'x/a.md', 'x.md', 'y/x/a.md', 'collections/k.yaml', 'x/_index.md'];
  // Of different sizes: what is moved keeps its time, which may be that of the text before.
  const texts = [
    '# One',
    '---\nslug: a\n---\n',
    '---\nslug: s\n---\n\n',
    '---\nslug: s\n---\nOther',
    '---\nbad: [\n---\n',
    'docs: [a, s]',
    '---\ncascade: { draft: true }\n---\n',
  ];
  const change = fc.record({
    kind: fc.constantFrom('write', 'write', 'remove', 'move', 'removeFolder'),
    at: fc.nat(6),
    to: fc.nat(6),
    text: fc.nat(6),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(change, { minLength: 1, maxLength: 4 }), { minLength: 3, maxLength: 10 }),
      async (rounds) => {
        const content = await mkdtemp(join(tmpdir(), 'runner-docs-test-'));
        const teardowns: (() => unknown)[] = [() => rm(content, { recursive: true })];
        const own = { teardown: (work: () => unknown) => teardowns.push(work) };
        const library = await openTestLibrary(own, {}, { content });
        for (const round of rounds) {
          for (const { kind, at, to, text } of round) {
            const [path, target] = [join(content, names[at] ?? ''), join(content, names[to] ?? '')];
            await mkdir(join(target, '..'), { recursive: true });
            if (kind === 'write') await writeFiles(content, { [names[at] ?? '']: texts[text] ?? '' });
            else if (kind === 'move') await rename(path, target).catch(() => undefined);
            else
              await rm(kind === 'remove' ? path : join(content, (names[at] ?? '').split('/')[0] ?? ''), {
                recursive: true,
                force: true,
              });
          }
          // Rejects where nothing at all is left, the first time.
          await library.indexer.sync().catch(() => undefined);
        }
        const anew = await openTestLibrary(own, {}, { content, records: library.records });
        await anew.indexer.sync();
        await library.indexer.sync().catch(() => undefined);
        await library.indexer.sync();
        const states = await Promise.all(
          [library, anew].map(async ({ index }) => {
            const { documents, problems } = await index.summary();
            const page = await index.list({ limit: 100, offset: 0, drafts: true });
            const bodies = await Promise.all(page.items.map(({ slug }) => index.read(slug)));
            return {
              documents,
              problems: problems.toSorted((a, b) => (a.path + a.message < b.path + b.message ? -1 : 1)),
              bodies,
              collections: await index.collections(),
            };
          }),
        );
        for (const work of teardowns.reverse()) await work();
        t.strictSame(states[0], states[1]);
        return JSON.stringify(states[0]) === JSON.stringify(states[1]);
      },
    ),
    { numRuns: 5 },
  );
});

t.test('changes appear in the index while the library is watched', async (t) => {
  const library = await openTestLibrary(t, { 'one.md': '# One' }, { now: Date.now });
  const { content, index } = library;
  const { until, errors } = await followTestLibrary(t, library);
  const titleIs = (slug: string, title: string | undefined) =>
    until(async () => (await index.read(slug))?.title === title);

  await writeFiles(content, { 'one.md': '# Changed' });
  await titleIs('one', 'Changed');
  await writeFiles(content, { 'new/folder/two.md': '# Two' });
  await titleIs('two', 'Two');
  await writeFiles(content, { 'new/folder/two.md': '# Two, again' });
  await titleIs('two', 'Two, again');
  await rename(join(content, 'one.md'), join(content, 'uno.md'));
  await titleIs('uno', 'Changed');
  t.equal(await index.read('one'), undefined, 'a rename is one step');
  await rename(join(content, 'new'), join(content, 'old'));
  await until(async () => (await index.read('two'))?.path === 'old/folder/two.md');
  await rm(join(content, 'old'), { recursive: true });
  await titleIs('two', undefined);
  await writeFiles(content, { 'collections/all.yaml': 'docs: [uno]' });
  await until(async () => (await index.collections()).length === 1);
  t.strictSame(errors, []);
});

t.test('an index that is deleted while it is used is filled again', where('unlinking'), async (t) => {
  const file = join(await temporaryFolder(t), 'index.db');
  const files = { 'one.md': '# One', 'deep/two.md': '# Two', 'collections/all.yaml': 'docs: [one]' };
  const library = await openTestLibrary(t, files, { file });
  const { content, index, indexer } = library;
  await indexer.sync();
  const isThere = async () => {
    const { isComplete, documents } = await index.summary();
    return [isComplete, documents, (await index.collections()).length];
  };
  t.strictSame(await isThere(), [true, 2, 1]);
  const deleteIndex = () => {
    for (const ending of ['', '-wal', '-shm']) rmSync(file + ending, { force: true });
  };
  deleteIndex();
  t.strictSame(await isThere(), [false, 0, 0]);
  await indexer.sync(['deep']);
  t.strictSame(await isThere(), [true, 2, 1], 'a look at one folder becomes one at all of them');
  await writeFiles(content, { 'deep/two.md': '# Two, again' });
  const { apply } = index;
  index.apply = async (changes) => {
    index.apply = apply;
    deleteIndex();
    return apply(changes);
  };
  await t.rejects(indexer.sync(['deep']), { name: 'IndexUnavailableError', message: /being rebuilt/ });
  t.strictSame(await isThere(), [false, 0, 0], 'what was for the index before is not in the new one');
  const { until, errors } = await followTestLibrary(t, library);
  deleteIndex();
  await until(async () => (await isThere()).join() === 'true,2,1');
  t.match(await index.read('two'), { title: 'Two, again' }, 'nobody had to say so');
  t.strictSame(errors, []);
});

t.test('a file that is being written stays as it was until the writing ends', async (t) => {
  let now = Date.now();
  const library = await openTestLibrary(t, { 'one.md': '---\ntitle: Whole\n---\nText' }, { now: () => now });
  const { content, index, indexer } = library;
  now += 60_000;
  await indexer.sync();
  await writeFile(join(content, 'one.md'), '---\ntit');
  now = Date.now();
  t.strictSame((await indexer.sync()).unsettled, ['']);
  t.match(await index.read('one'), { title: 'Whole' });
  await writeFile(join(content, 'one.md'), '---\ntitle: New\n---\nText');
  now = Date.now() + 1_000;
  t.strictSame((await indexer.sync()).unsettled, []);
  t.match(await index.read('one'), { title: 'New' });
});

t.test('a content folder that is missing for a while does not empty the library', async (t) => {
  const library = await openTestLibrary(t, { 'one.md': '# One' });
  const { content, indexer } = library;
  await indexer.sync();
  await rename(content, `${content}-away`);
  t.teardown(() => rm(`${content}-away`, { recursive: true, force: true }));
  await t.rejects(indexer.sync(), { message: /The content folder is gone/ });
  t.strictSame(await library.slugs(), ['one']);
  await rename(`${content}-away`, content);
  await indexer.sync();
  t.strictSame(await library.slugs(), ['one']);
});

t.test(
  'a content folder that is suddenly empty is scanned again before the library is emptied',
  async (t) => {
    const library = await openTestLibrary(t, { 'one.md': '# One' });
    const { content, indexer } = library;
    await indexer.sync();
    const message = /The content folder is empty/;
    await rm(join(content, 'one.md'));
    await t.rejects(indexer.sync(['']), { message });
    await t.rejects(indexer.sync(), { message });
    await t.rejects(indexer.sync(['']), { message }, 'a look at some folders does not confirm it');
    t.strictSame(await library.slugs(), ['one']);
    await writeFiles(content, { 'one.md': '# One' });
    await indexer.sync();
    await rm(join(content, 'one.md'));
    await t.rejects(indexer.sync(), { message }, 'it was back meanwhile');
    await indexer.sync();
    t.strictSame(await library.slugs(), []);
    t.equal((await library.index.summary()).isComplete, true);
    await indexer.sync();
  },
);

t.test('a folder that replaces another is watched', where('watching'), async (t) => {
  const files = { 'guide/deep/one.md': '# One', 'guide/two.md': '# Two' };
  const library = await openTestLibrary(t, files, { now: Date.now });
  const { content, index } = library;
  const { until, errors, following } = await followTestLibrary(t, library);
  const staging = await temporaryFolder(t);
  const titlesAre = (one: string, two: string | undefined) =>
    until(async () => (await index.read('one'))?.title === one && (await index.read('two'))?.title === two);
  const replace = async (one: string) => {
    await writeFiles(staging, { 'guide/deep/one.md': one });
    await rename(join(content, 'guide'), join(staging, `old-${one}`));
    await rename(join(staging, 'guide'), join(content, 'guide'));
  };
  await replace('# Replaced');
  await titlesAre('Replaced', undefined);
  await following.lookAt([]);
  await writeFiles(content, { 'guide/deep/one.md': '# Followed', 'guide/two.md': '# Two' });
  await titlesAre('Followed', 'Two');
  await rm(join(content, 'guide'), { recursive: true });
  await writeFiles(content, { 'guide/deep/one.md': '# Made again' });
  await titlesAre('Made again', undefined);
  await writeFiles(content, { 'guide/deep/one.md': '# Followed again' });
  await titlesAre('Followed again', undefined);
  t.strictSame(errors, []);
});

t.test('an index that is away is looked at again until it is back', async (t) => {
  const library = await openTestLibrary(t, { 'one.md': '# One' });
  const { following, errors } = await followTestLibrary(t, library);
  const { indexId } = library.index;
  const away = () => Promise.reject(new IndexUnavailableError('The database is away.'));
  Object.assign(library.index, { indexId: away });
  await following.lookAtAll();
  t.equal(following.hasFailed, true);
  const isAsked = await poll(
    async () => errors.length,
    (count) => count === 2,
  );
  t.equal(isAsked, 2, 'nothing has changed, and yet it is asked again');
  Object.assign(library.index, { indexId });
  await poll(
    async () => following.hasFailed,
    (hasFailed) => !hasFailed,
  );
  t.match(errors, [{ message: /is away/ }, { message: /is away/ }]);
});

t.test('a document that moves to another folder in two steps is never missing', async (t) => {
  let now = Date.now() + 3_600_000;
  const files = { 'a/flip.md': '# One', 'b/other.md': '# B' };
  const library = await openTestLibrary(t, files, { now: () => now });
  const { content, index, indexer } = library;
  const looks: (readonly string[] | undefined)[] = [];
  const sync = indexer.sync.bind(indexer);
  indexer.sync = (folders, signal) => {
    looks.push(folders);
    return sync(folders, signal);
  };
  const { until, following } = await followTestLibrary(t, library);
  const seen: (string | undefined)[] = [];
  index.onDidChange(() => void index.read('flip').then((document) => seen.push(document?.path)));
  await writeFiles(content, { 'b/flip.md': '# Two' });
  await utimes(join(content, 'b/flip.md'), now / 1_000, now / 1_000);
  await following.lookAt(['b']);
  await rm(join(content, 'a/flip.md'));
  looks.length = 0;
  await following.lookAt(['a']);
  t.match(await index.read('flip'), { path: 'a/flip.md' });
  t.ok(
    looks.length > 0 && looks.every((folders) => folders?.includes('b')),
    'what is half written is looked at too',
  );
  now += 1_000;
  await until(async () => (await index.read('flip'))?.path === 'b/flip.md');
  t.notOk(seen.includes(undefined));
});

t.test(
  'a data folder is for its owner alone, and one of something else is left as it is',
  where('modes'),
  async (t) => {
    const modeOf = (path: string) => statSync(path).mode & 0o777;
    const folder = await temporaryFolder(t, { 'some/photo.jpg': '' });
    const use = (data: string) => callDocs(['token', 'create', '--data', data]);
    const some = join(folder, 'some');
    await chmod(some, 0o755);
    t.match(await use(some), { code: 1, stderr: /has other files, and other users can read it/ });
    t.equal(modeOf(some), 0o755);
    await chmod(some, 0o700);
    t.match(await use(some), { code: 0 }, 'nobody else can read it');
    for (const name of ['index.db-wal', 'serve.lock', 'index.lock', 'renditions', undefined]) {
      const own = join(folder, `own-${name}`);
      await writeFiles(own, { ...(name === undefined ? {} : { [name]: '', 'a photo.jpg': '' }), '../x': '' });
      await mkdir(own, { recursive: true });
      await chmod(own, 0o755);
      t.match(await use(own), { code: 0 });
      t.equal(modeOf(own), 0o700, `with ${name}`);
    }
  },
);

t.test('who has served from a data folder leaves no trace', where('signals'), async (t) => {
  const content = await temporaryFolder(t, { 'one.md': '# One' });
  const data = await temporaryFolder(t, { 'serve.lock': 'damaged'.repeat(1_000) });
  const service = await serveDocs(['--content', content, '--data', data]);
  t.equal(readFileSync(join(data, 'serve.pid'), 'utf8'), `${service.child.pid}\n`);
  await service.stop();
  t.notOk(existsSync(join(data, 'serve.pid')));
});

t.test('"index" waits for files that are being written, and names incomplete ones', async (t) => {
  const content = await temporaryFolder(t, { 'one.md': '# One' });
  const data = await temporaryFolder(t);
  let now = Date.now() + 3_600_000;
  let [printed, noted] = ['', ''];
  const surroundings = {
    ...quietSurroundings,
    now: () => now,
    print: (text: string) => (printed += text),
    note: (text: string) => (noted += text),
  };
  const run = () => {
    [printed, noted] = ['', ''];
    return runProgram(['index', '--content', content, '--data', data], surroundings);
  };
  t.equal(await run(), 0);
  await writeFiles(content, { 'guide/two.md': '# Two' });
  await utimes(join(content, 'guide/two.md'), now / 1_000, now / 1_000);
  t.equal(await run(), 1);
  t.equal(printed, '1 document, 0 problems\n');
  t.match(noted, /still being written in these folders.*guide.*again when that is done/);
  const running = run();
  now += 100;
  const later = setTimeout(() => (now += 100), 300);
  t.teardown(() => clearTimeout(later));
  t.equal(await running, 0);
  t.equal(printed, '2 documents, 0 problems\n');
});

t.test(
  'control characters in file names and keys never reach the terminal or the log',
  where('names'),
  async (t) => {
    const content = await temporaryFolder(t, {
      'evil\u001b]0;PWNED\u0007\u009b2J\u202e.md': '---\ntitle: [\n---\n',
      'line\nfine: 0 problems.md': '---\n"\\e[2Jkey": 1\n"\\e[2Jkey": 2\n---\n',
    });
    const data = await temporaryFolder(t);
    let written = '';
    const write = (text: string) => (written += text);
    const surroundings = {
      ...quietSurroundings,
      now: () => Date.now() + 3_600_000,
      print: write,
      note: write,
    };
    for (const command of [['index'], ['doctor'], ['doctor', '--warnings']])
      await runProgram([...command, '--content', content, '--data', data], surroundings);
    const unsafe = /[^\P{Cc}\n\t]|\p{Bidi_Control}/u;
    t.notMatch(written, unsafe);
    t.match(written, /evil\u241b\]0;PWNED\u2407<U\+009B>2J<U\+202E>\.md:2: /, 'they are shown');
    t.match(written, /line fine: 0 problems\.md:2: .*\u241b\[2Jkey/, 'a line is one line');
    for (const isForPeople of [true, false]) {
      written = '';
      const sentence = 'a\u001b[2J\u009b\u202e\r\nb.md: bad';
      createLogger('info', write, isForPeople).warn(sentence);
      t.notMatch(written.slice(0, -1), unsafe);
      t.equal(written.split('\n').length, 2);
      if (!isForPeople) t.equal(JSON.parse(written).msg, sentence, 'a program reads what it was');
    }
  },
);
