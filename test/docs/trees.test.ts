import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parseBaseUrl } from '../../docs-service/base/baseUrl.ts';
import { openDatabase } from '../../docs-service/base/sqliteDatabase.ts';
import { runProgram } from '../../docs-service/cli/program.ts';
import { createPublicLibrary } from '../../docs-service/library/publicLibrary.ts';
import { openTestApp } from '../support/docsApp.ts';
import { openTestLibrary, quietSurroundings, type TestLibrary } from '../support/docsLibrary.ts';
import { needs } from '../support/parts.ts';
import { pictures } from '../support/pictures.ts';
import { openSession } from '../support/readingLibrary.ts';
import { temporaryFolder, writeFiles } from '../support/temporaryFolder.ts';

const pathsIn = async ({ index }: Pick<TestLibrary, 'index'>) =>
  (await index.select({ order: 'title' })).map(({ path }) => path).sort();

t.test('.docsignore leaves out what git would ignore', needs('git'), async (t) => {
  const files = ['a.md', 'b.draft.md', 'old/c.md', 'old/keep.md', 'x/old/d.md', 'x/deep/e.md', 'x/#f.md'];
  const cases = [
    'old/',
    '/old/',
    'old/*\n!old/keep.md',
    '*.draft.md',
    'x/**/e.md',
    '**/old',
    'x/*',
    'x/*/\n!x/deep/',
    '?.md',
    '[ab]*.md',
    '\\#f.md',
    '# a.md\n\n',
    '!a.md',
    '*\n!*/\n!e.md',
    'a.md   ',
    'x\r\na.md',
  ];
  const root = await temporaryFolder(t, Object.fromEntries(files.map((path) => [path, ''])));
  execFileSync('git', ['init', '--quiet'], { cwd: root });
  for (const ignored of cases) {
    writeFileSync(join(root, '.gitignore'), ignored);
    const shown = execFileSync('git', ['ls-files', '-z', '--others', '--exclude-standard'], { cwd: root });
    const want = shown
      .toString()
      .split('\0')
      .filter((path) => path.endsWith('.md'));
    writeFileSync(join(root, '.docsignore'), ignored);
    const library = await openTestLibrary(t, {}, { content: root });
    await library.indexer.sync();
    t.strictSame(await pathsIn(library), want.sort(), JSON.stringify(ignored));
  }
});

t.test('rules of any form are read in time, and one that is too long leaves out more', async (t) => {
  const name = `${'a'.repeat(250)}.md`;
  const files = {
    [name]: '',
    [`${'a/'.repeat(400)}a.md`]: '',
    'a1b2c3d.md': '',
    'a1b2c3e.md': '',
    'b.md': '',
  };
  const content = await temporaryFolder(t, files);
  const readBy = async (...lines: readonly string[]) => {
    writeFileSync(join(content, '.docsignore'), lines.join('\n'));
    const library = await openTestLibrary(t, {}, { content });
    await library.indexer.sync();
    return library;
  };
  const hostile = [
    '*a*a*a*a*a*a*a*b',
    '**/a/**/a/**/a/**/b',
    `${'[a-z]'.repeat(60)}b`,
    `${'a'.repeat(300)}*`,
  ];
  for (const line of hostile)
    await readBy(...Array<string>(Math.min(999, Math.floor(60_000 / line.length))).fill(line), '!b.md');
  const short = (paths: readonly string[]) => paths.filter((path) => path.length < 20);
  const beyond = await readBy('x', 'a*b*c*d.md');
  t.strictSame(short(await pathsIn(beyond)), ['b.md'], 'what is beyond the second star counts as one');
  t.match((await beyond.index.summary()).problems, [{ path: '.docsignore', message: /^Line 2 is too long/ }]);
  t.strictSame(await pathsIn(await readBy('*', '!b.md', '!a*b*c*d.md')), ['b.md'], 'it brings nothing back');
  for (const lines of [Array<string>(1_001).fill('x'), ['x'.repeat(70_000)]])
    await t.rejects(readBy(...lines), { message: /^\.docsignore has more than 1000 lines or 64 KB/ });
});

t.test('a changed .docsignore counts at once, and one that cannot be read changes nothing', async (t) => {
  const library = await openTestLibrary(t, {
    ...{ 'a.md': '# A', '_b.md': '# B', '_c/d.md': '# D', '_posts/e.md': '# E', '_guides/f.md': '# F' },
    ...{ 'old/g.md': '# G', '.hidden.md': '# H', 'node_modules/i.md': '# I', 'collections/k.md': '# K' },
    ...{ '.docsignore': 'old\n', '_config.yml': 'collections:\n  guides: { output: true }\n' },
  });
  const { content, indexer } = library;
  const write = (path: string, text: string) => writeFileSync(join(content, path), text);
  await indexer.sync();
  const usual = ['_guides/f.md', '_posts/e.md', 'a.md', 'collections/k.md'];
  t.strictSame(await pathsIn(library), usual);
  write('.docsignore', '!_b.md\n!_c/\n!.hidden.md\n!node_modules\n');
  await indexer.sync(['']);
  t.strictSame(await pathsIn(library), ['_b.md', '_c/d.md', ...usual, 'old/g.md'].sort());
  const { index } = library;
  t.match((await index.summary()).warnings, [], 'nothing is left out');

  rmSync(join(content, '.docsignore'));
  mkdirSync(join(content, '.docsignore'));
  await t.rejects(indexer.sync(), { message: /^\.docsignore cannot be read/ });
  t.ok((await pathsIn(library)).includes('old/g.md'));
  rmSync(join(content, '.docsignore'), { recursive: true });
  await indexer.sync();
  t.strictSame(await pathsIn(library), [...usual, 'old/g.md']);
  const { warnings } = await index.summary();
  t.match(warnings.map(({ message }) => message).sort(), [
    /^2 documents are no longer served: _b\.md, _c\/d\.md\. Names with "_" in front/,
    /^2 files and folders have names with "_" in front, so they are not served\./,
  ]);
});

t.test('files of other folders are shown and included, and only files of these', async (t) => {
  const parent = await temporaryFolder(t, {
    'book/book.toml': '',
    'book/src/SUMMARY.md': '- [One](one.md)\n- [Home](README.md)\n',
    'book/src/README.md': '# Home\n\n[One](/one) [two](/v2/one.html) [no](/v3/one)\n',
    'book/src/one.md':
      '# One\n\n```rust\n{{#include ../../listings/a.rs}}\n```\n\n{{#include ../../listings/.env}}\n\n{{#include ../../other/b.rs}}\n\n{{% include "/parts/_p.md" %}}\n\n![p](../../static/img/my%20p.png) ![q](/img/q.png) ![r](../../other/r.png)\n',
    'book/src/parts/_p.md': 'From the root of the documents.\n',
    'book/README.md': '# No document\n',
    'listings/a.rs': 'fn listed() {}\n',
    'listings/.env': 'SECRET=1\n',
    'other/b.rs': 'fn unlisted() {}\n',
    'other/r.png': pictures.png,
    'static/img/my p.png': pictures.png,
    'static/img/q.png': pictures.png,
  });
  const files = [join(parent, 'listings'), join(parent, 'static')];
  const places = { content: join(parent, 'book'), docs: 'src', files, linkRoot: '/v2/' };
  const { index, get, indexer, folder, renditions } = await openTestApp(t, {}, { library: places });
  t.strictSame(await pathsIn({ index }), ['src/README.md', 'src/one.md']);
  const text = (await index.read('one'))?.body ?? '';
  t.match(text, /fn listed\(\) \{\}/);
  t.match(text, 'From the root of the documents.');
  t.notMatch(text, /SECRET|unlisted/);
  t.equal(text.match(/^Not included: /gm)?.length, 2);
  const html = (await get('/api/v1/docs/one.html')).body;
  t.equal(html.match(/<img src="data:image\/png/g)?.length, 2);
  const markdown = (await get('/api/v1/docs/one.md')).body;
  for (const [, address = ''] of markdown.matchAll(/\]\((http[^)]+files\/[^)]+)\)/g))
    t.match(await get(new URL(address).pathname), {
      statusCode: 200,
      headers: { 'content-type': 'image/png' },
    });
  t.equal((await get('/api/v1/docs/one/files/.files/listings/a.rs')).statusCode, 404, 'no picture');
  const document = await index.read('one');
  if (document === undefined) throw new Error('There is no document.');
  const pdf = await (await renditions.pdf(document, 'a4')).render(new AbortController().signal);
  t.ok(Buffer.from(pdf).toString('latin1').includes('/Subtype /Image'), 'the PDF has the pictures');
  const home = (await get('/api/v1/docs/src.html')).body;
  t.equal(
    home.match(/<a href="[^"]*\/one\.html"/g)?.length,
    2,
    'links count from the folder of the documents',
  );

  writeFileSync(join(parent, 'listings/a.rs'), 'fn renewed() {}\n');
  await indexer.sync();
  t.match((await index.read('one'))?.body, /fn renewed\(\) \{\}/, 'a changed file renews what includes it');
  for (const options of [{ docs: '../listings' }, { docs: 'none' }, { files: [join(parent, 'none')] }])
    await t.rejects(openTestLibrary(t, {}, { ...places, ...options }), { message: /^--(?:docs|files)/ });
  t.equal(folder.docs, 'src/');
});

t.test('a changed file that is included renews the documents with it, through others too', async (t) => {
  const { content, index, indexer } = await openTestLibrary(t, {
    'a.md': '# A\n\n{{#include parts/_one.md}}\n',
    'parts/_one.md': 'One.\n\n{{#include _two.md}}\n',
    'parts/_two.md': 'Two.\n',
    'b.md': '# B\n',
  });
  await indexer.sync();
  t.match((await index.read('a'))?.body, /One\.[\s\S]*Two\./);
  const before = await index.changedAt(['a', 'b']);
  writeFileSync(join(content, 'parts/_two.md'), 'Something else.\n');
  t.equal((await indexer.sync(['parts'])).changed, 1);
  t.match((await index.read('a'))?.body, /One\.[\s\S]*Something else\./);
  t.not((await index.changedAt(['a'])).get('a'), before.get('a'));
  rmSync(join(content, 'parts/_two.md'));
  await indexer.sync(['parts']);
  t.match((await index.read('a'))?.body, /Not included: _two\.md/);
});

t.test('a link to Markdown that is no document is a warning, and one to another file is none', async (t) => {
  const { index, indexer } = await openTestLibrary(
    t,
    {
      'docs/a.md':
        '# A\n\n[1](_b.md) [2](old/c.md) [3](../README.md) [4](../LICENSE) [5](x.txt) [6](../z/_y.md)\n',
      ...{ 'docs/_b.md': '# B', 'docs/old/c.md': '# C', 'README.md': '# R', LICENSE: '', 'docs/x.txt': '' },
      ...{ 'z/_y.md': '# Y', '.docsignore': 'old/\n' },
    },
    { docs: 'docs' },
  );
  await indexer.sync();
  const links = (await index.summary()).warnings.filter(({ kind }) => kind === 'link');
  t.strictSame(
    links.map(({ about }) => about),
    ['_b.md', 'old/c.md', '../README.md', '../z/_y.md'],
  );
  t.match(links, [{ message: /^The link to "_b\.md" leads nowhere: the file is no document here\.$/ }]);
});

t.test('a picture is shown as soon as it is there', async (t) => {
  const { content, index, indexer } = await openTestLibrary(t, { 'a.md': '# A\n\n![p](/img/p.png)\n' });
  await indexer.sync();
  const missing = async () =>
    (await index.summary()).warnings.filter(({ kind }) => kind === 'picture').length;
  t.equal(await missing(), 1);
  await writeFiles(content, { 'static/img/p.png': pictures.png });
  await indexer.sync(['']);
  t.match((await index.read('a'))?.body, '![p](/static/img/p.png)');
  t.equal(await missing(), 0);
});

t.test('with other folders, or as a tree of another program, all files are read anew', async (t) => {
  const parent = await temporaryFolder(t, {
    'c/a.md': '# A\n\n{{#include ../x.txt}}\n\n[[Nothing]]\n',
    'x.txt': 'Text.',
  });
  const files = { content: join(parent, 'c'), file: join(parent, 'index.db') };
  const bodyWith = async (more = {}) => {
    const { index, indexer, records } = await openTestLibrary(t, {}, { ...files, ...more });
    await indexer.sync();
    const body = (await index.read('a'))?.body ?? '';
    await index.close();
    return { body, records };
  };
  t.match((await bodyWith()).body, 'Not included');
  t.match((await bodyWith({ files: [parent] })).body, 'Text.');
  t.match((await bodyWith()).body, '[[Nothing]]');
  mkdirSync(join(parent, 'c/.obsidian'));
  t.notMatch((await bodyWith()).body, '[[Nothing]]');
});

t.test('what an earlier version served, and this one does not, is named once with its reason', async (t) => {
  const file = join(await temporaryFolder(t), 'index.db');
  const old = await openDatabase(file);
  old.exec('CREATE TABLE docs_documents (slug TEXT, path TEXT, draft INTEGER)');
  const insert = old.prepare('INSERT INTO docs_documents VALUES (?, ?, ?)');
  for (const path of ['a.md', '_b.md', '_c/d.md', 'SUMMARY.md', 'future.md', 'draft.md', 'gone.md'])
    insert.run(path.replace(/\W/g, ''), path, path === 'draft.md' ? 1 : 0);
  old.close();
  const dated = '---\ndate: 2099-01-01\n---\n# Future\n';
  const content = await temporaryFolder(t, {
    ...{ 'a.md': '# A', '_b.md': '# B', '_c/d.md': '# D', 'SUMMARY.md': '- [A](a.md)\n' },
    ...{ 'future.md': dated, 'draft.md': dated.replace('---\n', '---\ndraft: true\n'), '_new.md': '# New' },
  });
  const notices = (found: readonly { readonly message: string }[]) =>
    found.map(({ message }) => message).filter((message) => message.includes('no longer served'));
  const want = [
    '2 documents are no longer served: _b.md, _c/d.md. Names with "_" in front are those of parts of pages. A line such as "!_name" in .docsignore brings one back.',
    '1 document is no longer served: SUMMARY.md. A list of pages is no document. A line "!SUMMARY.md" in .docsignore brings it back.',
    '1 document is no longer served: future.md. A document with a date in the future waits for it. --future brings it back.',
  ].sort();
  const first = await openTestLibrary(t, {}, { file, content });
  await first.indexer.sync();
  t.strictSame(notices(first.warnings).sort(), want, 'the log names them');
  const { records } = first;
  const again = await openTestLibrary(t, {}, { file, content, records });
  await again.indexer.sync();
  t.strictSame(notices(again.warnings), [], 'and does so once');
  t.strictSame(notices((await again.index.summary()).warnings).sort(), want, 'doctor does so each time');
  const place = { ...{ file, content, records }, future: true };
  writeFileSync(join(content, '.docsignore'), '!_b.md\n!_c\n!SUMMARY.md\n');
  const back = await openTestLibrary(t, {}, place);
  await back.indexer.sync();
  t.strictSame(notices((await back.index.summary()).warnings), []);
  const paths = ['SUMMARY.md', '_b.md', '_c/d.md', 'a.md', 'draft.md', 'future.md'];
  t.strictSame(await pathsIn(back), paths);
});

t.test(
  'lists that are programs, lists that cannot be read, and the files of generators are named',
  async (t) => {
    const { index, indexer } = await openTestLibrary(t, {
      ...{ 'sidebars.js': 'process.exit(1)', 'guide/_meta.ts': '', '.vitepress/config.mts': '' },
      ...{ 'docs/_meta.json': '{', 'mkdocs.yml': 'nav: []', 'README.md': '# R', 'docs/a.md': '# A' },
    });
    await indexer.sync();
    const { warnings } = await index.summary();
    t.match(
      warnings.filter(({ kind }) => kind === 'nav').map(({ path, message }) => `${path}: ${message}`),
      [
        /^\.vitepress\/config\.mts: Its order is not known, because it is a program/,
        /^docs\/_meta\.json: The list gives no order: /,
        /^guide\/_meta\.ts: Its order is not known/,
        /^mkdocs\.yml: .* has its documents in docs\/: "--docs docs" serves only those\.$/,
        /^sidebars\.js: Its order is not known/,
      ],
    );
  },
);

t.test('warnings are one line a kind, and all of them where somebody asks', async (t) => {
  const content = await temporaryFolder(t, {
    'a.md': '# A\n\n[1](gone.md) [2](#gone)\n\n{{< one >}} {{< two >}}\n',
    'b.md': '# B\n\n[3](gone.html)\n\n{{< one >}}\n',
  });
  const data = await temporaryFolder(t);
  const run = async (...args: readonly string[]) => {
    let written = '';
    const write = (text: string) => (written += text);
    const places = ['--content', content, '--data', data];
    const code = await runProgram([...args, ...places], {
      ...{ ...quietSurroundings, print: write, note: write },
      now: () => Date.now() + 3_600_000,
    });
    return { code, written };
  };
  const lines = [
    '3 shortcodes were left out, in 2 files, such as a.md:5 "one" (runner-docs doctor --warnings shortcode)',
    '2 links lead nowhere, in 2 files, such as a.md:3 "gone.md" (runner-docs doctor --warnings link)',
    'a.md:3: The link to "#gone" leads nowhere: the document has no such heading or anchor.',
  ];
  const { written } = await run('index');
  for (const line of lines) t.ok(written.includes(`warning: ${line}\n`), line);
  const doctor = await run('doctor');
  for (const line of lines) t.ok(doctor.written.includes(`warning  ${line}\n`), line);
  const { findings } = JSON.parse((await run('doctor', '--json')).written);
  t.match(findings, [{ state: 'ok', text: /^runner-docs/ }]);
  t.strictSame(findings.filter(({ state }: { state: string }) => state === 'warning').length, 3);
  t.equal((await run('doctor', '--warnings')).written.split('\n').length, 6);
  const links = JSON.parse((await run('doctor', '--warnings', '--json', 'link')).written);
  t.match(links, { warnings: [{ kind: 'link', path: 'a.md', line: 3, about: 'gone.md' }, { path: 'b.md' }] });
  t.equal(links.warnings.length, 2);
  t.match(await run('doctor', '--warnings', 'links'), { code: 2, written: /the kinds are front-matter,/ });
  t.match(await run('doctor', 'link'), { code: 2, written: /add --warnings/ });
});

/** A tree with old addresses, a hidden document, a draft, and what is not public. */
const moved = {
  'guide/SUMMARY.md': '- [Start](start.md)\n- [Second *one*](z.md)\n- [Gone](gone.md)\n- [Draft](draft.md)\n',
  'guide/start.md': '---\naliases: [/old/start/, /shared/]\ntype: guide\n---\n# Start\n\nBegin here.\n',
  'guide/z.md': '---\npermalink: /z.html\ntype: guide\n---\n# Zed\n\nGo on.\n',
  'guide/a.md': '# After\n',
  'guide/hidden.md':
    '---\nunlisted: true\nredirect_from: /old/hidden\ntype: guide\n---\n# Hidden\n\nUnlisted words.\n',
  'guide/draft.md': '---\ndraft: true\naliases: [/old/draft/]\n---\n# Draft\n',
  'inner/secret.md': '---\naliases: [/old/secret/, /shared]\n---\n# Secret\n\nInside.\n',
  'collections/site.yaml': 'path: guide/\ntitle: Site\npublic: true\n',
  'collections/book.yaml': 'summary: guide/SUMMARY.md\n',
  'collections/tree.yaml': 'query: { type: guide }\norder: tree\n',
};

t.test('an old address leads to its document, if the reader may see that', async (t) => {
  const { app, access, get, createToken } = await openTestApp(t, moved);
  const { name, value } = await openSession(access.owners);
  const host = { host: '127.0.0.1:4000' };
  const browse = (url: string, headers = {}) => app.inject({ url, headers: { ...host, ...headers } });
  const owner = { cookie: `${name}=${value}` };
  const nowhere = await browse('/old/nothing/');
  t.equal(nowhere.statusCode, 404);
  const cases = [
    ['/old/start/', 'start', 'start'],
    ['/old/start', 'start', 'start'],
    ['/z', 'z', 'z'],
    ['/z.html?x=1', 'z', 'z'],
    ['/read/old/start/', 'start', 'start'],
    ['/read/z.html', 'z', 'z'],
    ['/old/hidden/', 'hidden', 'hidden'],
    ['/shared', 'start', 'start'],
    ['/old/draft/', undefined, 'draft'],
    ['/old/secret/', undefined, 'secret'],
  ] as const;
  for (const [address, open, whole] of cases) {
    const strangers = await browse(address);
    if (open === undefined)
      t.equal(strangers.body, nowhere.body.replaceAll('/old/nothing/', address), `${address} is nowhere`);
    t.match(
      [strangers.statusCode, strangers.headers['location']],
      open === undefined ? [404, undefined] : [308, `/read/${open}`],
      address,
    );
    t.match((await browse(address, owner)).headers, { location: `/read/${whole}` }, address);
  }
  t.equal(
    (await browse('/old/start/', { 'if-none-match': '*' })).headers['cache-control'],
    'private, no-cache',
  );
  t.equal((await app.inject({ method: 'POST', url: '/old/start/', headers: host })).statusCode, 404);
  t.match(await get('/api/v1/docs/z.html'), { statusCode: 200 }, 'a format of a document, as before');
  t.match(await get('/api/v1/docs/shared.md'), { statusCode: 308 });
  t.equal((await get('/api/v1/docs/old%2Fdraft')).statusCode, 404);
  const draft = { authorization: `Bearer ${await createToken(['read', 'draft'])}` };
  t.match(await browse('/api/v1/docs/old%2Fdraft', draft), {
    statusCode: 308,
    headers: { location: '/api/v1/docs/draft' },
  });
  const below = await openTestApp(t, moved, { baseUrl: parseBaseUrl('http://127.0.0.1:4000/library') });
  for (const [address, status] of [['/library/old/start/', 308] as const, ['/old/start/', 404] as const])
    t.equal((await below.app.inject({ url: address, headers: host })).statusCode, status, address);
});

t.test('hidden documents are read by their addresses, and in no list of strangers', async (t) => {
  const { app, get } = await openTestApp(t, moved);
  const ask = async (url: string) => (await app.inject({ url, headers: { host: '127.0.0.1:4000' } })).body;
  t.match(await ask('/read/hidden'), 'Unlisted words.');
  const places = ['/read', '/read?q=unlisted', '/llms.txt', '/llms-full.txt', '/sitemap.xml', '/read/start'];
  for (const url of [...places, '/read/collections/site', '/read/collections/site/feed.atom'])
    t.notMatch((await ask(url)).replaceAll('q=unlisted', ''), /read\/hidden|Unlisted words/, url);
  for (const url of ['/api/v1/docs', '/api/v1/docs?q=unlisted', '/api/v1/docs?order=tree'])
    t.ok(
      (await get(url)).json().items.some(({ slug }: { slug: string }) => slug === 'hidden'),
      url,
    );
  t.notMatch((await get('/llms.txt')).body, 'hidden');
  t.match((await get('/api/v1/docs/hidden')).json(), { hidden: true, aliases: ['/old/hidden'], label: null });
});

t.test('lists and collections in the order of the tree', async (t) => {
  const { get, createToken, app } = await openTestApp(t, moved);
  const slugs = async (url: string) =>
    (await get(url)).json().items.map(({ slug }: { slug: string }) => slug);
  t.strictSame(await slugs('/api/v1/docs?order=tree'), ['start', 'z', 'a', 'secret', 'hidden']);
  t.strictSame(await slugs('/api/v1/docs?order=tree&type=guide&limit=2'), ['start', 'z']);
  t.strictSame(await slugs('/api/v1/docs?order=tree&path=inner'), ['secret']);
  t.strictSame(await slugs('/api/v1/docs?order=tree&changed_since=2099-01-01'), []);
  const page = await get('/api/v1/docs?order=tree&limit=2');
  t.match(page.headers, { 'x-total-count': 5, link: /order=tree&limit=2&offset=2>; rel="next"/ });
  t.match(page.json().items, [{ label: null, order: null }, { label: 'Second one' }]);
  const authorization = `Bearer ${await createToken(['read', 'draft'])}`;
  const drafts = await app.inject({
    url: '/api/v1/docs?order=tree',
    headers: { host: '127.0.0.1:4000', authorization },
  });
  t.equal(drafts.json().total, 6);
  for (const query of ['order=title', 'order=tree&q=begin', 'order=tree&order=tree'])
    t.equal((await get(`/api/v1/docs?${query}`)).statusCode, 400, query);
  const documentsOf = async (name: string) =>
    (await get(`/api/v1/collections/${name}`)).json().documents.map(({ slug }: { slug: string }) => slug);
  t.strictSame(await documentsOf('book'), ['start', 'z'], 'those that the list names');
  t.strictSame(await documentsOf('tree'), ['start', 'z']);
  t.strictSame(await documentsOf('site'), ['start', 'z', 'a']);
});

t.test('a collection follows its list of pages, and one without pages is a problem', async (t) => {
  const { content, index, indexer } = await openTestLibrary(t, {
    ...moved,
    'collections/none.yaml': 'summary: guide/NOTHING.md\n',
    'collections/out.yaml': 'summary: ../SUMMARY.md\n',
  });
  await indexer.sync();
  const docsOf = async () => (await index.collections()).find(({ name }) => name === 'book')?.docs;
  t.strictSame(await docsOf(), ['start', 'z']);
  writeFileSync(
    join(content, 'guide/SUMMARY.md'),
    '- [A](a.md)\n- [Secret](../inner/secret.md#x)\n- [Up](../../x.md)\n',
  );
  await indexer.sync(['guide']);
  t.strictSame(await docsOf(), ['a', 'secret']);
  t.match((await index.summary()).problems, [
    { path: 'collections/none.yaml', message: /"guide\/NOTHING\.md", which lists no documents/ },
    { path: 'collections/out.yaml', message: /must be a path inside the content folder/ },
  ]);
});

t.test('/llms-full.txt has the texts that the asker may read, up to its limit', async (t) => {
  const long = `${'word '.repeat(190_000)}\n`;
  const { app, get } = await openTestApp(t, {
    ...moved,
    'inner/b.md': `# Very long B\n\n${long}`,
    'inner/c.md': `# Very long C\n\n${long}`,
    'inner/d.md': `# Very long D\n\n${long}`,
  });
  const read = await get('/llms-full.txt');
  t.equal(read.headers['content-type'], 'text/plain; charset=utf-8');
  t.match(
    read.body,
    /Title: Secret\nAddress: http:\/\/127\.0\.0\.1:4000\/api\/v1\/docs\/secret\.md\n\n# Secret\n\nInside\./,
  );
  t.match(read.body, /1 further document would be too much for one file: llms\.txt names/);
  t.ok(read.body.length < 2_010_000);
  t.notMatch(read.body, /# Draft/);
  const etag = String(read.headers['etag']);
  t.equal((await get('/llms-full.txt', { headers: { 'if-none-match': etag } })).statusCode, 304);
  t.not((await get('/llms.txt')).headers['etag'], etag);
  const open = await app.inject({ url: '/llms-full.txt', headers: { host: '127.0.0.1:4000' } });
  t.match(open.body, /Title: Start\nAddress: http:\/\/127\.0\.0\.1:4000\/read\/start\n\n/);
  t.notMatch(open.body, /Inside|# Draft|further/);
});

t.test('a page says where it is edited, if the operator does', async (t) => {
  const look = { editAddress: 'https://git.example/edit/main/{path}?a&b' };
  const { app } = await openTestApp(t, { ...moved, 'guide/it’s #1.md': '# Named' }, { look });
  const page = async (slug: string) =>
    (await app.inject({ url: `/read/${slug}`, headers: { host: '127.0.0.1:4000' } })).body;
  const link = 'href="https://git.example/edit/main/guide/it%E2%80%99s%20%231.md?a&#38;b">Edit this page';
  t.ok((await page('it-s-1')).includes(link));
  const { app: other } = await openTestApp(t, moved);
  const plain = await other.inject({ url: '/read/start', headers: { host: '127.0.0.1:4000' } });
  t.notMatch(plain.body, 'Edit this page');
});

t.test('a public document includes no document that is not public, whenever that changes', async (t) => {
  const library = await openTestLibrary(t, {
    'open/a.md': '# A\n\n{{#include ../inner/secret.md}}\n\n{{#include b.md}}\n\n{{#include _part.md}}\n',
    'open/b.md': '# B\n\nAll read this.\n',
    'open/_part.md': 'A part.\n\n{{#include ../inner/secret.md}}\n',
    'inner/secret.md': '# Secret\n\nOnly some read this.\n',
    'inner/c.md': '# C\n\n{{#include secret.md}}\n',
    'collections/site.yaml': 'path: open/\npublic: true\n',
  });
  const { content, index, indexer } = library;
  const write = (path: string, text: string) => writeFileSync(join(content, path), text);
  /** What was ever in the index as public. */
  const shown: string[] = [];
  const readPublic = createPublicLibrary(index);
  let looks = Promise.resolve();
  const look = async () => {
    for (const { slug } of (await readPublic()).documents) shown.push((await index.read(slug))?.body ?? '');
  };
  const watching = index.onDidChange(() => {
    looks = looks.then(look);
  });
  const bodyOf = async (slug: string) => (await index.read(slug))?.body ?? '';
  const included = async () => (await index.summary()).warnings.filter(({ kind }) => kind === 'include');
  await indexer.sync();
  t.match(await bodyOf('a'), /All read this[\s\S]*A part/);
  t.equal((await bodyOf('a')).match(/^Not included: \.\.\/inner\/secret\.md$/gm)?.length, 2);
  t.match(await bodyOf('c'), 'Only some read this');
  t.match(await included(), [{ path: 'open/a.md', count: 2 }]);
  t.equal(library.warnings.filter(({ kind }) => kind === 'include').length, 1, 'nothing else was said');
  t.equal((await indexer.sync()).changed, 0);

  write('open/d.md', '# D\n\n{{#include ../inner/secret.md}}\n');
  await indexer.sync(['open']);
  t.match(await bodyOf('d'), 'Not included');
  await looks;
  t.notMatch(shown.join(''), 'Only some', 'at no time');

  write('collections/site.yaml', 'path: /\npublic: true\n');
  await indexer.sync(['collections']);
  for (const slug of ['a', 'c', 'd']) t.match(await bodyOf(slug), 'Only some read this', slug);
  write('collections/site.yaml', 'path: inner/\n');
  await indexer.sync(['collections']);
  t.match(await bodyOf('a'), 'Only some read this', 'nothing is public');
  t.strictSame(await included(), []);
  // What was public until now may still be read.
  await looks;
  shown.length = 0;
  write('collections/site.yaml', 'docs: [a]\npublic: true\n');
  await indexer.sync(['collections']);
  t.match(await bodyOf('a'), /Not included: \.\.\/inner\/secret\.md\n\nNot included: b\.md/);
  watching.dispose();
  await looks;
  t.notMatch(shown.join(''), 'Only some');
});
