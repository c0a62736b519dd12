import { createHash } from 'node:crypto';
import { join } from 'node:path';
import fc from 'fast-check';
import type { InjectOptions } from 'fastify';
import t from 'tap';
import { parseBaseUrl } from '../../docs-service/base/baseUrl.ts';
import { linkAddress } from '../../docs-service/http/documentView.ts';
import { markFound, snippetToHtml } from '../../docs-service/http/reading/foundText.ts';
import { consentPage } from '../../docs-service/http/signIn/consentPage.ts';
import { foreign, signInHeaders } from '../../docs-service/http/signIn/signInPages.ts';
import { parseQuery } from '../../docs-service/search/query.ts';
import { anyText } from '../support/anyText.ts';
import { openTestApp } from '../support/docsApp.ts';
import { callDocs } from '../support/docsCommand.ts';
import { serveDocs } from '../support/docsProcess.ts';
import { documentOf } from '../support/documents.ts';
import { dangersOf, parseHtml } from '../support/htmlPage.ts';
import { pictures } from '../support/pictures.ts';
import {
  consent,
  everyPage,
  openSession,
  ownPages,
  readingLibrary,
  serveSamples,
  signInSamples,
} from '../support/readingLibrary.ts';
import { where } from '../support/systems.ts';
import { temporaryFolder, writeFiles } from '../support/temporaryFolder.ts';

type Setup = Parameters<typeof openTestApp>;

/** The service with a stand-in for the sign-in, and what asks it as the owner's browser does. */
async function openReader(t: Setup[0], files: Setup[1] = readingLibrary, overrides: Setup[2] = {}) {
  const opened = await openTestApp(t, files, overrides);
  const { name, value } = await openSession(opened.access.owners);
  serveSamples(opened.app);
  const browse = (url: string, more: Partial<InjectOptions> = {}) =>
    opened.app.inject({
      url,
      ...more,
      headers: {
        host: '127.0.0.1:4000',
        ...{ cookie: `${name}=${value}`, accept: 'text/html,application/xhtml+xml,*/*;q=0.8' },
        ...more.headers,
      },
    });
  return { ...opened, browse };
}

/** For the tests that change nothing: opening a service and its workers takes a second. */
const own = await openReader(t, ownPages());
const reader = await openReader(t);

t.test('every page is valid, loads nothing and runs nothing but the one script', async (t) => {
  const { browse } = own;
  const [one] = scriptsIn((await browse('/read')).body);
  for (const path of everyPage) {
    const { body, headers } = await browse(path);
    const parsed = parseHtml(body);
    t.match(headers['content-type'], /^text\/html/, path);
    t.same(parsed.errors, [], `${path} is valid`);
    const isReading = path.startsWith('/read');
    const scripts = scriptsIn(body);
    t.same(scripts, isReading ? [one] : [], path);
    t.same(dangersOf(parsed), isReading ? ['<script>'] : [], `${path} is harmless`);
    t.equal(new Set(parsed.ids).size, parsed.ids.length, `no id of ${path} stands twice`);
    const named = parsed.elements.flatMap(({ attributes }) =>
      ['for', 'aria-describedby', 'aria-labelledby'].flatMap((name) => attributes[name]?.split(' ') ?? []),
    );
    t.same(
      named.filter((id) => !parsed.ids.includes(id)),
      [],
      `${path} names only ids that it has`,
    );
    const [style = ''] = /(?<=<style>)[^<]*/.exec(body) ?? [];
    const policy = String(headers['content-security-policy']);
    const runs = scripts.map((text) => ` script-src '${hashOf(text)}';`).join('');
    t.match(policy, `default-src 'none'; style-src '${hashOf(style)}';${runs} img-src 'self' data:;`, path);
    t.equal(policy.includes("connect-src 'self';"), isReading, path);
    t.match(policy, /frame-ancestors 'none'/, path);
    t.equal(headers['referrer-policy'], 'same-origin', path);
    const h1 = parsed.elements.filter(({ name }) => name === 'h1');
    t.equal(h1.length, 1, `${path} has one title`);
  }
});

function scriptsIn(body: string): readonly string[] {
  return Array.from(body.matchAll(/<script>([^<]*)<\/script>/g), ([, text = '']) => text);
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

t.test('every link leads somewhere', async (t) => {
  const { browse } = own;
  const seen = new Map<string, number>();
  const broken = new Set<string>();
  const waiting = everyPage.map((path) => ({ path, from: '' }));
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const { path, from } = next;
    if (seen.has(path) || /short-\d+\.pdf$/.test(path)) continue;
    const { statusCode, body, headers } = await browse(path);
    seen.set(path, statusCode);
    if (statusCode !== 200 && from !== '') broken.add(`${from} -> ${path}: ${statusCode}`);
    if (!String(headers['content-type']).startsWith('text/html')) continue;
    const { elements, ids } = parseHtml(body);
    for (const { name, attributes } of elements) {
      const href = attributes['href'];
      if (!['a', 'link'].includes(name) || href === undefined) continue;
      const { origin, pathname, search, hash } = new URL(href, `http://127.0.0.1:4000${path}`);
      if (href.startsWith('#')) {
        if (!ids.includes(decodeURIComponent(hash.slice(1)))) broken.add(`${path} -> ${href}`);
      } else if (origin === 'http://127.0.0.1:4000') waiting.push({ path: pathname + search, from: path });
    }
  }
  t.same(
    [...broken].filter((one) => !/\/read\/collections\/empty\.(epub|pdf): 422$/.test(one)),
    [],
  );
  t.ok(seen.size > 80, `it went to ${seen.size} addresses`);
  for (const path of [
    '/read/guide.pdf',
    '/read/guide.md',
    '/read/collections/handbook.epub',
    '/read/collections/handbook.pdf',
  ])
    t.equal(seen.get(path), 200, path);
});

t.test('only a session opens the pages, and only a token the API', async (t) => {
  const { browse, createToken, app } = reader;
  const token = await createToken();
  const paths = ['/read', '/read/guide', '/read/guide.pdf', '/read/guide.md', '/read/none', '/read/a/b'];
  for (const path of [
    ...paths,
    '/read/collections/handbook',
    '/read/collections/handbook.epub',
    '/read?q=a&page=2',
  ]) {
    const answer = await browse(path, { headers: { cookie: '', authorization: `Bearer ${token}` } });
    t.equal(answer.statusCode, 303, path);
    t.equal(answer.headers['location'], `/sign-in?to=${encodeURIComponent(path)}`);
    t.equal(answer.body, '', 'and nothing else');
  }
  for (const path of ['/api/v1/docs', '/api/v1/docs/guide.html', '/api/v1/collections/handbook.epub'])
    t.equal((await browse(path)).statusCode, 401, path);
  const foreignPage = await browse('/read', { headers: { origin: 'https://evil.example' } });
  t.equal(foreignPage.statusCode, 403);
  t.notMatch(foreignPage.body, /Choosing/);
  t.equal(
    (await app.inject({ method: 'POST', url: '/read', headers: { host: '127.0.0.1:4000' } })).statusCode,
    405,
  );
});

t.test('signing out ends the session', async (t) => {
  const { browse, access } = reader;
  const { name, value } = await openSession(access.owners);
  const session = `${name}=${value}`;
  t.equal((await browse('/read', { headers: { cookie: session } })).statusCode, 200);
  const page = await browse('/sign-out', { headers: { cookie: session } });
  const [, csrf = ''] = /name="csrf" value="([^"]+)"/.exec(page.body) ?? [];
  const [form = ''] = String(page.headers['set-cookie']).split(';', 1);
  const post = (body: string) =>
    browse('/sign-out', {
      method: 'POST',
      payload: body,
      headers: { cookie: `${session}; ${form}`, 'content-type': 'application/x-www-form-urlencoded' },
    });
  t.equal((await post('csrf=guess')).statusCode, 403, 'a form of another site ends nothing');
  t.equal((await browse('/read', { headers: { cookie: session } })).statusCode, 200);
  t.match((await post(`csrf=${encodeURIComponent(csrf)}`)).body, 'You are signed out');
  t.equal((await browse('/read', { headers: { cookie: session } })).statusCode, 303);
});

t.test('where another server signs people in, there are no pages for the owner', async (t) => {
  const { get } = await openTestApp(t, readingLibrary, { signIn: { issuer: 'https://auth.example' } });
  t.equal((await get('/read')).statusCode, 404);
  for (const path of ['/', '/docs']) t.notMatch((await get(path)).body, 'href="/read"', path);
});

t.test('the library and the search', async (t) => {
  const { browse } = own;
  const textOf = async (path: string) => parseHtml((await browse(path)).body).text.replace(/\s+/g, ' ');
  const cases: readonly { name: string; path: string; want: readonly (string | RegExp)[]; not?: RegExp }[] = [
    {
      name: 'the newest first, drafts marked, collections beside',
      path: '/read',
      want: [
        /A plan for models Draft · 21 November 2026.*Choosing a local model/,
        'The handbook of models',
        'Page 1 of 2',
      ],
    },
    {
      name: 'a type',
      path: '/read?type=guide',
      want: ['1 document with this filter', 'type: guide'],
      not: /Short/,
    },
    { name: 'a tag, by its title', path: '/read?tag=start', want: ['tag: Getting started'] },
    {
      name: 'a search',
      path: '/read?q=memory',
      want: [/documents for “memory”/, 'Notes on memory', /fits into memory, as/],
    },
    { name: 'a search in a tag', path: '/read?q=memory&tag=start', want: ['1 document for'], not: /Notes/ },
  ];
  for (const { name, path, want, not } of cases) {
    const text = await textOf(path);
    for (const one of want) t.match(text, one, name);
    if (not) t.notMatch(text, not, name);
  }
  const [, address = ''] = /rel="prev" href="([^"]*)"/.exec((await browse('/read?page=2')).body) ?? [];
  t.match(await textOf(address.replaceAll('&#38;', '&')), 'Page 1 of 2');
  t.equal((await browse('/read?page=99')).headers.location, '/read?page=2', 'a page beyond the last');
  const { body } = await browse('/read?q=memory&tag=models');
  t.match(body, '<h2><a href="/read/long" dir="auto">Notes on <mark>memory</mark></a></h2>');
  t.match(body, '<input type="hidden" name="tag" value="models">', 'the next search keeps the filter');
  t.match(body, 'href="/read?q=memory"', 'and a link takes it away');
  t.match(body, 'href="/read?q=memory&#38;tag=start"', 'tags of results narrow the search');
});

t.test('a page of results says what was found by which words', async (t) => {
  const { browse, index } = reader;
  const { search } = index;
  t.teardown(() => Object.assign(index, { search }));
  const hit = (missing: readonly string[], more: object = {}) => ({
    ...{ document: documentOf('a', '', { title: 'Installed' }), snippet: 'It was installed.', section: null },
    ...{ missing, matched: 'text', ...more },
  });
  const pageOf = async (text: string, more: object) => {
    const usual = { items: [hit([])], total: 12, allWords: 12, corrected: [], approximate: false };
    const clauses = parseQuery(text).some;
    Object.assign(index, { search: async () => ({ ...usual, clauses, ...more }) });
    return (await browse(`/read?${new URLSearchParams({ q: text })}`)).body;
  };
  const both = { items: [hit([], { matched: 'both' })] };
  const setup = { section: { id: 's', title: 'Setup' } };
  const instaled = [{ written: 'Instaled', meant: 'installed' }];
  const cases: readonly [text: string, page: object, want: string | RegExp, not?: RegExp][] = [
    ['a b', {}, '12 documents for “a b”', /with all|Without|Showing|commonest/],
    ['a b', { total: 2_352 }, '12 documents with all words, 2,340 with some, for “a b”'],
    ['a b', { ...both, total: 13 }, '12 documents with all words, 1 other, for'],
    ['a', { items: [], total: 0, allWords: 0 }, /0 documents for “a” A search finds documents that have any/],
    ['a b', { approximate: true }, 'More than 12 documents for “a b” The commonest words were left out'],
    ['a b', { items: [hit(['b', 'c'])] }, /Without: b, c ?It was/],
    ['a b', { items: [hit([...'bcdefgh'])] }, 'Without: b, c, d, e, f and 2 more'],
    [
      'a b',
      { items: [hit(['b'], { ...setup, matched: 'meaning' })] },
      'Similar in meaning, in Setup',
      /Without/,
    ],
    ['instaled', { corrected: instaled }, 'Showing results for installed. Search for “Instaled” as written'],
  ];
  for (const [text, view, want, not = /undefined|NaN/] of cases) {
    const page = parseHtml((await pageOf(text, view)).replace(/<script>[^<]*<\/script>/, ''));
    const shown = page.text.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
    t.match(shown, want, text);
    t.notMatch(shown, not, text);
  }
  const asWritten: readonly (readonly [text: string, want: string, words?: readonly string[]])[] = [
    ['Instaled on linux', '"Instaled" on linux'],
    ['"as instaled" instaled*', '"as instaled" "instaled*"'],
  ];
  for (const [text, want, words = ['instaled']] of asWritten) {
    const body = await pageOf(text, { corrected: words.map((written) => ({ written, meant: 'x' })) });
    const [, address = ''] = /href="\/read\?([^"]*)">Search for/.exec(body) ?? [];
    t.equal(new URLSearchParams(address.replaceAll('&#38;', '&')).get('q'), want);
  }
  const clauses = parseQuery('installed').some;
  const marked = await pageOf('instaled', { corrected: instaled, clauses });
  t.match(marked, /<mark>Installed<[\s\S]*was <mark>installed<\/mark>/);
});

t.test('of a folder with many entries, 200 stand beside the text, and the one that is read', async (t) => {
  const { browse, content, indexer } = await openReader(t, {
    'one/a.md': '# A',
    'collections/all.yaml': 'path: /\n',
    ...Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`p${at}.md`, `# ${at}`])),
  });
  const treeOf = async (slug: string) =>
    /<nav class="tree".*?<\/nav>/s.exec((await browse(`/read/${slug}`)).body)?.[0] ?? '';
  const [, ...entries] = (await treeOf('p0')).split('<li');
  t.equal(entries.length, 201, 'beside the other folder');
  t.notMatch(entries.join(''), 'more …');
  const more = Array.from({ length: 100 }, (_, at) => [`q${at}.md`, `# ${200 + at}`]);
  await writeFiles(content, Object.fromEntries(more));
  await indexer.sync();
  t.match(await treeOf('p0'), '>100 more …<');
  t.notMatch(await treeOf('p0'), '<bdi>299<');
  t.match(await treeOf('q99'), 'aria-current="page"><bdi>299<');
  const collection = async (page: number) => (await browse(`/read/collections/all?page=${page}`)).body;
  const pages = [await collection(1), await collection(2)].map((body) =>
    Array.from(body.matchAll(/<li><h2><a href="\/read\/(\w+)\?in=all"/g), ([, slug]) => slug),
  );
  t.strictSame(
    [pages.map(({ length }) => length), new Set(pages.flat()).size],
    [[200, 101], 301],
    'a collection is a list of contents, with pages of 200',
  );
  t.match(await collection(5), 'rel="prev" href="/read/collections/all?page=2"', 'beyond the end');
});

t.test('folders stand beside the text, and have pages', where('names'), async (t) => {
  const { browse } = await openReader(t, {
    'README.md': '# Start\n',
    'guides/10.md': '# Guide 10\n',
    'guides/2.md': '# Guide 2\n',
    'guides/deep/<b>.md': '# Deep\n',
    'other/a.md': '# Elsewhere\n',
    'same/b.md': '# Same\n',
    'same/c.md': '# Same\n',
  });
  const treeOf = async (path: string) => {
    const [, tree = ''] = /<nav class="tree"([\s\S]*?)<\/nav>/.exec((await browse(path)).body) ?? [];
    return [...tree.matchAll(/<a href="([^"]*)"( aria-current="page")?><bdi>([^<]*)/g)].map(
      ([, address, here, text]) => `${address} ${text}${here ? ' (here)' : ''}`,
    );
  };
  t.strictSame(await treeOf('/read/2'), [
    '/read/readme Start',
    '/read?path=guides%2F guides',
    '/read?path=guides%2Fdeep%2F deep',
    '/read/2 Guide 2 (here)',
    '/read/10 Guide 10',
    '/read?path=other%2F other',
    '/read?path=same%2F same',
  ]);
  t.strictSame(
    (await treeOf('/read/b')).slice(4, 6),
    ['/read/b b (here)', '/read/c c'],
    'files of one title have their names',
  );
  for (const path of ['guides%2Fdeep', 'Guides%2Fdeep%2F'])
    t.ok((await treeOf(`/read?path=${path}`)).includes('/read?path=guides%2Fdeep%2F deep (here)'), path);
  const guides = (await browse('/read?path=guides/')).body;
  t.match(guides, /<h1 dir="auto">guides<\/h1>[\s\S]*deep\/[\s\S]*2 documents[\s\S]*Guide 2[\s\S]*Guide 10/);
  t.match((await browse('/read')).body, /aria-label="Folders"[\s\S]*guides\/[\s\S]*other\//);
  t.equal((await browse('/read?path=gone/')).statusCode, 404);
  for (const [path, to] of [
    ['/read?page=99', '/read'],
    ['/read?q=guide&page=99', '/read?q=guide'],
    ['/read?path=guides/&page=99', '/read?path=guides%2F'],
  ] as const)
    t.equal((await browse(path)).headers.location, to, path);
});

t.test('a list that has several pages has each document once, and links to the pages beside', async (t) => {
  const count = 45;
  const slugs = Array.from({ length: count }, (_, at) => `d${String(at + 10)}`);
  const files = slugs.map((slug, at) => [
    `all/${slug}.md`,
    `---\ntype: guide\ndate: 19${99 - at}-01-01\ntags: [red${at < 40 ? ', blue' : ''}]\n---\n# T${slug}\n\nNeedle.\n`,
  ]);
  const { app, browse } = await openReader(t, {
    ...Object.fromEntries(files),
    'collections/book.yaml': `public: true\ndocs: [${slugs.join(', ')}]\n`,
  });
  const stranger = (url: string) =>
    app.inject({ url, headers: { host: '127.0.0.1:4000', accept: 'text/html' } });
  const cases: readonly { name: string; start: string; ask: typeof browse; inOrder?: false; has?: number }[] =
    [
      { name: 'the library', start: '/read', ask: browse },
      { name: 'a type', start: '/read?type=guide', ask: browse },
      { name: 'a tag', start: '/read?tag=blue', ask: browse, has: 40 },
      { name: 'a search', start: '/read?q=needle', ask: browse, inOrder: false },
      { name: 'a folder', start: '/read?path=all%2F', ask: browse },
      { name: 'the library, for strangers', start: '/read', ask: stranger },
      { name: 'a search, for strangers', start: '/read?q=needle', ask: stranger, inOrder: false },
    ];
  const linkOf = (body: string, rel: string) =>
    new RegExp(`rel="${rel}" href="([^"]*)"`).exec(body)?.[1]?.replaceAll('&#38;', '&');
  for (const { name, start, ask, inOrder = true, has = count } of cases) {
    const pages: string[][] = [];
    let [before, at]: (string | undefined)[] = [undefined, start];
    while (at !== undefined && pages.length < 4) {
      const { body } = await ask(at);
      const last = Math.ceil(has / 20);
      t.equal(linkOf(body, 'prev'), before, `${name}: the page before ${at}`);
      t.match(body, `>Page ${pages.length + 1} of ${last}<`, `${name}: ${at}`);
      pages.push([...body.matchAll(/<li><h2><a href="\/read\/(d\d+)/g)].map(([, slug = '']) => slug));
      [before, at] = [at, linkOf(body, 'next')];
    }
    t.strictSame(
      pages.map(({ length }) => length),
      has === 40 ? [20, 20] : [20, 20, 5],
      `${name}: the pages`,
    );
    const found = pages.flat();
    t.strictSame(inOrder ? found : found.toSorted(), slugs.slice(0, has), `${name}: the documents`);
  }
});

t.test('a search stays in its folder', async (t) => {
  const { browse } = await openReader(t, {
    'a/one.md': '---\ntags: [red]\n---\n# Same\n\nNeedle.\n',
    'a/deep/two.md': '# Same\n\nNeedle.\n',
    'ab/three.md': '# Other\n\nNeedle.\n',
  });
  const folder = (await browse('/read?path=a')).body;
  t.match(folder, '<input type="hidden" name="path" value="a/">');
  t.match(folder, 'placeholder="Search in a/"');
  const { body } = await browse('/read?path=a/&q=needle&type=&tag=');
  t.match(
    body,
    /2 documents for[\s\S]*>a\/one<[\s\S]*>a\/deep\/two</,
    'equal titles are told apart by their files',
  );
  t.match(body, 'href="/read?q=needle"', 'a link leaves the folder');
  t.match(body, 'href="/read?q=needle&#38;path=a%2F&#38;tag=red"', 'tags stay in it');
  t.notMatch(body, '<p class="snippet" dir="auto">Same —', 'an excerpt does not repeat the title');
  t.match((await browse('/read?path=gone&q=needle')).body, '0 documents for');
});

t.test('the library has a name, a picture and a page to start with', async (t) => {
  const picture = '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0"/></svg>';
  const logo = `data:image/svg+xml;base64,${Buffer.from(picture).toString('base64')}`;
  const look = { title: "Ada's <shelf>", logo };
  const files = {
    'index.md': '# Not this one\n',
    'README.md': '# Welcome\n\nTo [the first](a.md).\n\n```sh\nls\n```\n',
    'a.md': '# A\n',
    'collections/all.yaml': 'title: All\ndocs: [a]\n',
  };
  const { browse, content, indexer } = await openReader(t, files, { look });
  const { body, headers } = await browse('/read');
  t.match(body, '<title>Library · Ada&#39;s &#60;shelf&#62;</title>');
  t.match(body, `<img class="logo" src="${logo}" alt=""><span dir="auto">Ada&#39;s &#60;shelf&#62;</span>`);
  t.match(body, /<h1 id="welcome">Welcome<\/h1>[\s\S]*href="\/read\/a"[\s\S]*Collections[\s\S]*3 documents/);
  t.same(dangersOf(parseHtml(body)), ['<script>']);
  t.equal((await browse('/read', { headers: { 'if-none-match': String(headers['etag']) } })).statusCode, 304);
  t.notMatch((await browse('/read?type=guide')).body, 'Welcome', 'only on the first page');
  await writeFiles(content, { 'README.md': `${'>'.repeat(5_000)} deep` });
  await indexer.sync();
  for (const time of ['first', 'second'])
    t.match(
      (await browse('/read')).body,
      /<h1>Library<\/h1>[\s\S]*3 documents/,
      `cannot be rendered: ${time} time`,
    );
  t.match((await browse('/', { headers: { cookie: '' } })).body, 'Ada&#39;s &#60;shelf&#62;');
  const icon = await browse('/favicon.ico', { headers: { cookie: '' } });
  t.equal(icon.body, Buffer.from(logo.split(',')[1] ?? '', 'base64').toString());
  t.match(icon.headers, { 'content-type': 'image/svg+xml', 'cache-control': /public/ });
  const known = { 'if-none-match': String(icon.headers['etag']) };
  t.equal((await browse('/favicon.ico', { headers: known })).statusCode, 304);
  const named = await browse('/.well-known/oauth-protected-resource/mcp');
  t.equal(named.json().resource_name, look.title);
  const folder = await temporaryFolder(t, {
    ...{ 'a.gif': pictures.gif, 'big.png': Buffer.alloc(100_001), 'content/a.md': '# A' },
    'good.svg': '<svg><script>x</script><path d="M0 0"/></svg>',
  });
  const places = ['--content', join(folder, 'content'), '--data', join(folder, 'data')];
  for (const [name, stderr] of [
    ['a.gif', /must be a PNG or an SVG/],
    ['big.png', /more than 100 KB/],
    ['none.png', /is not a file/],
  ] as const)
    t.match(await callDocs(['serve', ...places, '--logo', join(folder, name)]), { code: 2, stderr }, name);
  const service = await serveDocs([...places, '--logo', join(folder, 'good.svg')]);
  t.teardown(() => service.stop());
  const served = await (await fetch(`${service.origin}/favicon.ico`)).text();
  t.match(served, '<path');
  t.notMatch(served, 'script');
});

t.test('a document', async (t) => {
  const { browse, rendered, createToken } = reader;
  const before = rendered.length;
  const { body } = await browse('/read/guide?in=handbook');
  t.match(body, /<title>Choosing a local model · runner-docs<\/title>/);
  t.match(
    body,
    '<h1 id="choosing-a-local-model">Choosing a <em>local</em> model</h1>',
    'as the author wrote it',
  );
  t.match(body, '<article lang="en" dir="ltr">');
  t.match(body, '<time datetime="2026-11-02" lang="en" dir="ltr">2 November 2026</time>');
  t.match(body, '<a class="chip" href="/read?tag=start"><bdi>Getting started</bdi></a>');
  t.match(body, '<a href="#sizes">Sizes</a>', 'contents');
  t.match(body, '<a href="/read/long#part-2">the notes</a>');
  t.match(body, /<img src="data:image\/svg\+xml;base64,[^"]+" alt="A chart of three bars"/);
  t.match(body, '<span class="missing-picture">gone</span>');
  t.match(body, '<li id="fn:1">');
  t.match(body, '<a class="next" rel="next" href="/read/long?in=handbook">');
  t.match(body, '1 of 3');
  t.notMatch(body, 'rel="prev"', 'nothing comes before the first one');
  const middle = (await browse('/read/long?in=handbook')).body;
  t.match(middle, 'rel="prev" href="/read/guide?in=handbook"');
  t.match(middle, 'rel="next" href="/read/hebrew?in=handbook"');
  const others: readonly { name: string; path: string; want: string | RegExp; not?: RegExp }[] = [
    { name: 'no collection', path: '/read/guide', want: 'aria-label="Before and after"', not: /collection"/ },
    {
      name: 'no such collection',
      path: '/read/guide?in=none',
      want: 'Choosing',
      not: /Within the collection/,
    },
    { name: 'a draft says so', path: '/read/draft', want: '<span class="badge" lang="en">Draft</span>' },
  ];
  for (const { name, path, want, not } of others) {
    const page = (await browse(path)).body;
    t.match(page, want, name);
    if (not) t.notMatch(page, not, name);
  }
  const first = await browse('/read/guide');
  const headers = { 'if-none-match': String(first.headers['etag']) };
  const again = await browse('/read/guide', { headers });
  t.same([again.statusCode, again.body], [304, '']);
  t.equal(first.headers['cache-control'], 'private, no-cache');
  t.equal(first.headers['vary'], 'Cookie, Origin');
  t.equal((await browse('/read/guide', { method: 'HEAD' })).body, '');
  t.strictSame(rendered.slice(before), Array(3).fill('html'), 'each document is rendered once');
  const token = await createToken(['read']);
  const hidden = await browse('/api/v1/docs?q=%22plan%22', { headers: { authorization: `Bearer ${token}` } });
  t.equal(hidden.json().total, 0, 'a draft is in no total of others');
});

t.test('errors are a page for a browser, and a problem for a program', async (t) => {
  const { browse } = reader;
  const cases: readonly { path: string; status: number; want: RegExp }[] = [
    { path: '/read/gudie', status: 404, want: /Did you mean one of these\?\s+guide/ },
    { path: '/read/%3Cscript%3E', status: 404, want: /There is no document “<script>”/ },
    { path: '/read/collections/none', status: 404, want: /There is no collection "none"/ },
    { path: '/read/collections/empty.epub', status: 422, want: /has no documents that are published/ },
    { path: '/read?page=0', status: 400, want: /page must be at least 1/ },
    { path: `/read?q=${'a'.repeat(1_001)}`, status: 400, want: /at most 1000 characters/ },
    {
      path: `/read?q=${Array.from({ length: 65 }, (_, at) => `w${at}`).join('+')}`,
      status: 400,
      want: /more than 64 words/,
    },
    { path: `/read/${'a'.repeat(2_100)}`, status: 414, want: /at most 2048 characters/ },
  ];
  for (const { path, status, want } of cases) {
    const { statusCode, body, headers } = await browse(path);
    t.equal(statusCode, status, path);
    t.match(parseHtml(body).text, want, path);
    t.equal(headers['cache-control'], 'no-store', path);
    const problem = await browse(path, { headers: { accept: '*/*' } });
    t.equal(problem.headers['content-type'], 'application/problem+json; charset=utf-8', path);
    t.equal(problem.statusCode, status, path);
  }
  t.equal((await browse('/read/')).headers['location'], '/read');
});

t.test('the owner has the same limits as a token', async (t) => {
  const start = Date.now();
  const limits = { requests: 6, renders: 1, authFailures: 10 };
  const { browse } = await openReader(t, readingLibrary, { limits, now: () => start });
  t.equal((await browse('/read/guide.pdf')).statusCode, 200);
  t.equal((await browse('/read/guide.pdf')).statusCode, 200, 'what is in the cache is no render');
  const render = await browse('/read/long.pdf');
  t.equal(render.statusCode, 429);
  t.match(render.body, /More than 1 renders a minute/);
  for (const _ of [1, 2]) await browse('/read/guide', { headers: { cookie: '' } });
  for (const _ of [1, 2, 3]) t.equal((await browse('/read/guide')).statusCode, 200, 'pages are no renders');
  const request = await browse('/read');
  t.equal(request.statusCode, 429);
  t.match(request.headers['retry-after'], /^\d+$/);
});

t.test('HTML for programs is a self-contained page', async (t) => {
  const { get } = reader;
  for (const slug of ['guide', 'hebrew', 'hostile', 'untitled', 'long']) {
    const { body, headers, statusCode } = await get(`/api/v1/docs/${slug}.html`);
    const parsed = parseHtml(body);
    t.same([statusCode, headers['content-type']], [200, 'text/html; charset=utf-8'], slug);
    t.same(parsed.errors, [], slug);
    t.same(dangersOf(parsed), [], slug);
    t.match(body, /^<!doctype html>\n<html lang="\w+">/, slug);
    t.match(body, `content="default-src 'none'; img-src data:; style-src 'unsafe-inline'`);
    const head = await get(`/api/v1/docs/${slug}.html`, { method: 'HEAD' });
    t.same([head.statusCode, head.body, head.headers['etag']], [200, '', headers['etag']]);
    const etag = String(headers['etag']);
    t.equal((await get(`/api/v1/docs/${slug}.html`, { headers: { 'if-none-match': etag } })).statusCode, 304);
  }
  t.match(
    (await get('/api/v1/docs/guide.html')).body,
    'href="http://127.0.0.1:4000/api/v1/docs/long.html#part-2"',
  );
  const leads = (format: 'pdf' | 'html' | 'article') =>
    linkAddress(parseBaseUrl('https://docs.example/library'), 'é', format);
  t.equal(leads('pdf'), 'https://docs.example/library/read/%C3%A9', 'who reads a PDF comes to a page');
  t.equal(leads('html'), 'https://docs.example/library/api/v1/docs/%C3%A9.html');
  t.equal(leads('article'), '/library/read/%C3%A9');
});

t.test('found words are marked, and no text is lost or becomes HTML', async (t) => {
  const mark = (text: string, query: string) => markFound(text, parseQuery(query).some);
  const cases: readonly (readonly [text: string, query: string, want: string])[] = [
    ['a b a', '"a b"', '<mark>a b</mark> a'],
    ['a b c', '"a b" "b c" b', '<mark>a b c</mark>'],
    [
      'one two three four',
      'one "two three" three "three four"',
      '<mark>one</mark> <mark>two three four</mark>',
    ],
    ['検索全文', '検索 全文', '<mark>検索全文</mark>'],
    ['<b>b</b>', 'b', '&#60;<mark>b</mark>&#62;<mark>b</mark>&#60;/<mark>b</mark>&#62;'],
  ];
  for (const [text, query, want] of cases) t.equal(mark(text, query), want, text);
  const asShown = (text: string) =>
    snippetToHtml(text, parseQuery('a').some).replace(/^<p class="snippet" dir="auto">|<\/p>$/g, '');
  const snippets: Readonly<Record<string, string>> = {
    '```js\na <\n b\n```': '<pre class="snippet" tabindex="0"><code><mark>a</mark> &#60;\n b</code></pre>',
    '## A **b**\n\n- [c](d.md)\n- `e`[^1]': '<mark>A</mark> b — c · e',
    '| a | b |\n|---|---|\n| c | d |': '<mark>a</mark> · b · c · d',
    '… b](#c) and [d](e.md) or [`f(g)`](h …': '… b and d or f(g) …',
    '[b][c], [d][] and e[0][1]': 'b, d and e[0][1]',
  };
  for (const [text, want] of Object.entries(snippets)) t.equal(asShown(text), want, text);
  fc.assert(
    fc.property(anyText({ maxLength: 300 }), fc.string({ maxLength: 20 }), (text, query) => {
      const html = mark(text, query);
      const [marked, snippet] = [parseHtml(html), parseHtml(snippetToHtml(text, parseQuery(query).some))];
      const names = [...marked.elements, ...snippet.elements].map(({ name }) => name);
      const rest = names.filter(
        (name) => !['html', 'head', 'body', 'mark', 'p', 'pre', 'code'].includes(name),
      );
      return rest.length === 0 && html.replace(/<\/?mark>/g, '') === mark(text, '');
    }),
  );
});

t.test('the consent page names the app, and says what is unverified', async (t) => {
  const textOf = (html: string) => parseHtml(html).text.replace(/\s+/g, ' ');
  const sample = (name: string) => signInSamples[name] ?? '';
  const boxes = (html: string) =>
    parseHtml(html).elements.filter(({ attributes }) => attributes['type'] === 'checkbox');
  const cases: readonly (readonly [html: string, ...want: (string | RegExp)[]])[] = [
    [sample('sign-in'), 'Sign in', 'https://ada.example/', /^(?!.*set-password)/],
    [sample('sign-in-error'), 'This is not the password.'],
    [sample('sign-in-unset'), 'runner-docs owner set-password --data /srv/docs/data', 'standard input'],
    [
      consentPage(consent),
      'Allow agent.example to use',
      '“Agent”Nobody has checked this name',
      'Its addresshttps://agent.example/oauth/client.json',
      'a program on the computer that you sit at (127.0.0.1:33418)',
      'You answer as https://ada.example/',
      /^(?!.*another site)/,
    ],
    [
      consentPage({
        ...consent,
        redirectUri: 'https://other.example/callback',
        client: { ...consent.client, uri: 'https://home.example' },
      }),
      "other.exampleThis is not the app's own site.",
      'https://home.exampleThis is another site than agent.example.',
    ],
    [
      consentPage({ ...consent, client: { ...consent.client, source: 'operator' } }),
      'Whoever runs this service gave it this name.',
    ],
    [sample('consent-registered'), 'Allow an app to use', 'Its identifier herec_8f2e1b7a90'],
    [sample('client-problem'), 'This app cannot be checked', /runner-docs client add --client-id/],
    [sample('signed-out'), 'You are signed out'],
  ];
  for (const [html, ...want] of cases) for (const one of want) t.match(textOf(html), one);
  t.same(
    boxes(consentPage(consent)).map(({ attributes }) => [attributes['value'], 'checked' in attributes]),
    [
      ['read', true],
      ['draft', true],
      ['profile', true],
      ['email', true],
    ],
  );
  t.equal(parseHtml(sample('sign-in-unset')).elements.filter(({ name }) => name === 'form').length, 0);
  t.match(sample('sign-in'), 'autocomplete="current-password"');
  t.match(sample('sign-in'), '<input type="hidden" name="to" value="/read/guide?in=handbook">');
  const targets: readonly { redirect: string | undefined; want: string }[] = [
    { redirect: undefined, want: "form-action 'self';" },
    { redirect: 'https://app.example:8443/back?a=b', want: "form-action 'self' https://app.example:8443;" },
    { redirect: 'http://[::1]:4711/callback', want: "form-action 'self' http:;" },
    { redirect: 'cursor://anysphere.cursor-mcp/oauth/callback', want: "form-action 'self' cursor:;" },
  ];
  for (const { redirect, want } of targets) {
    const headers = signInHeaders(redirect);
    t.match(headers['content-security-policy'], want);
    t.equal(headers['cache-control'], 'no-store');
  }
});

t.test('an excerpt for a program has its words, and at most 200 characters', async (t) => {
  const { get, index } = reader;
  const { search } = index;
  t.teardown(() => Object.assign(index, { search }));
  const text = (length: number, letter = 'x') => letter.repeat(length);
  const deep = `${'>'.repeat(60)} a`;
  const cases: readonly (readonly [snippet: string, want: string])[] = [
    [text(201), `${text(198)} …`],
    [`${text(150)} ${text(60, 'y')}`, `${text(150)} …`],
    [`${text(197)}𠮷yyy`, `${text(197)} …`],
    ['# A *b*\n\n---\n\n- c\n- d\n\n> e\n\n| f | g |\n|-|-|\n| h | i |', 'A b — c · d e f · g · h · i'],
    ['a](b.md) and `c` [d](e …', 'a and c d …'],
    ['a[^1] [b][c] d[e][f]', 'a b d[e][f]'],
    [deep, deep],
  ];
  const document = documentOf('t', '', { title: 'T' });
  const items = cases.map(([snippet]) => ({
    document,
    snippet,
    section: null,
    missing: [],
    matched: 'text',
  }));
  Object.assign(index, {
    search: async () => ({ items, total: cases.length, allWords: cases.length, corrected: [], clauses: [] }),
  });
  const found = (await get('/api/v1/docs?q=x')).json().items;
  for (const [at, [snippet, want]] of cases.entries()) t.equal(found[at].snippet, want, snippet);
});

t.test('what is listed beside a library, and what apps call themselves, is bounded', async (t) => {
  const collections = Array.from({ length: 101 }, (_, at) => [
    `collections/c${at}.yaml`,
    'public: true\ndocs: [a]',
  ]);
  const { browse } = await openReader(t, { 'a.md': '# A', ...Object.fromEntries(collections) });
  const { body } = await browse('/read');
  t.strictSame([body.match(/feed\.atom"/g)?.length, body.match(/<a class="title"/g)?.length], [20, 100]);
  const consentOf = (name: string) =>
    parseHtml(consentPage({ ...consent, client: { ...consent.client, name } })).text;
  t.match(consentOf('x'.repeat(60)), `“${'x'.repeat(60)}”`);
  t.match(consentOf('x'.repeat(61)), `“${'x'.repeat(59)}…”`);
});

t.test('names from others cannot imitate the page', async (t) => {
  const cases: readonly { name: string; text: string; want: string }[] = [
    { name: 'a usual name', text: ' An  Editor ', want: 'An Editor' },
    { name: 'other scripts', text: '編集者 עורך', want: '編集者 עורך' },
    { name: 'a turn of direction', text: 'a\u202eb\u2066c\u200f', want: 'abc' },
    { name: 'what cannot be seen', text: 'a\u200b\u3164\u00ad\u{e0061}b', want: 'ab' },
    { name: 'lines', text: 'a\n\n\n\tb\u2028c', want: 'a b c' },
    { name: 'a tower of marks', text: `a${'\u0301'.repeat(50)}`, want: 'a\u0301\u0301\u0301' },
    { name: 'HTML', text: '"><b>', want: '&#34;&#62;&#60;b&#62;' },
    { name: 'too much', text: '𝒜'.repeat(20), want: `${'𝒜'.repeat(9)}…` },
  ];
  const bare = (text: string) => foreign(text, 10).replace(/^<bdi class="foreign">|<\/bdi>$/g, '');
  for (const { name, text, want } of cases) t.equal(bare(text), want, name);
  fc.assert(
    fc.property(anyText({ maxLength: 200 }), (text) => {
      const parsed = parseHtml(foreign(text, 10));
      const names = parsed.elements.map(({ name }) => name).join(' ');
      return (
        names === 'html head body bdi' && [...parsed.text].length <= 10 && !/\p{Cc}|\p{Cf}/u.test(parsed.text)
      );
    }),
  );
});
