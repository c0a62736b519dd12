import type { InjectOptions } from 'fastify';
import t from 'tap';
import { parseBaseUrl } from '../../docs-service/base/baseUrl.ts';
import { openTestApp, type TestAppOptions } from '../support/docsApp.ts';
import { dangersOf, parseHtml } from '../support/htmlPage.ts';
import { openLibrary, secretWords } from '../support/openLibrary.ts';
import { openSession } from '../support/readingLibrary.ts';
import { writeFiles } from '../support/temporaryFolder.ts';
import { poll } from '../support/waiting.ts';

type Setup = Parameters<typeof openTestApp>;

async function openStranger(t: Setup[0], overrides: TestAppOptions = {}, files = openLibrary) {
  const opened = await openTestApp(t, files, overrides);
  const { baseUrl = parseBaseUrl('http://127.0.0.1:4000') } = overrides;
  const browse = async (url: string, more: Partial<InjectOptions> = {}) => {
    const { statusCode, headers, body } = await opened.app.inject({
      url,
      ...more,
      headers: { host: baseUrl.host, accept: 'text/html,*/*;q=0.8', ...more.headers },
    });
    // Without the style sheet, which a failed test would print.
    return { statusCode, headers, body: body.replace(/<style>[^<]*<\/style>/, '<style></style>') };
  };
  return { ...opened, browse };
}

const shared = await openStranger(t);
await poll(
  () => shared.browse('/read?q=lantern'),
  ({ statusCode }) => statusCode === 200,
);

t.test('strangers read what is public, and are asked to sign in for the rest', async (t) => {
  const { browse } = shared;
  const open = (
    '/read /read?type=guide /read?tag=shared /read?q=lantern /read/start /read/start?in=guides ' +
    '/read/start?in=peregrine /read/next /read/undated /read/collections/handbook ' +
    '/read/collections/guides'
  ).split(' ');
  for (const path of open) {
    const { statusCode, body } = await browse(path);
    t.equal(statusCode, 200, path);
    const parsed = parseHtml(body);
    t.same(parsed.errors, [], `${path} is valid`);
    t.same(
      dangersOf(parsed).filter((danger) => danger !== '<script>'),
      [],
      path,
    );
    t.match(body, 'href="/sign-in"', `${path} leads to the sign-in`);
    t.notMatch(body, /sign-out|\.pdf|\.epub|\.md"|class="tree"|EPUB|PDF/, path);
  }
  const closed = (
    '/read/zirconium /read/basilisk /read/obsidian /read/halcyon /read/nowhere /read/start.pdf ' +
    '/read/start.md /read/start.epub /read/collections/handbook.epub /read/collections/handbook.pdf ' +
    '/read/collections/peregrine /read/collections/nowhere /read/collections/peregrine/feed.atom ' +
    '/read?path=open/ /read?path=closed/&q=lantern /read/a/b /read/closed-zirconium'
  ).split(' ');
  for (const path of closed) {
    const { statusCode, headers, body } = await browse(path);
    t.match([statusCode, body], [303, ''], path);
    t.equal(headers['location'], `/sign-in?to=${encodeURIComponent(path)}`);
  }
  for (const path of [
    '/api/v1/docs',
    '/api/v1/docs/start',
    '/api/v1/docs/start.md',
    '/api/v1/collections',
    '/mcp',
  ])
    t.equal((await browse(path, { method: path === '/mcp' ? 'POST' : 'GET' })).statusCode, 401, path);
  const moved = await browse('/read/open-start');
  t.match([moved.statusCode, moved.headers['location']], [308, '/read/start']);
  t.equal(moved.headers['cache-control'], 'private, no-cache', 'it may be closed later');
  t.equal((await browse('/read/next', { method: 'POST' })).statusCode, 405);
  const warnings = shared.log.filter((line) => JSON.parse(line).level >= 40);
  t.same(warnings, [], 'the log has no warning for what strangers ask');
});

t.test('the pages of strangers', async (t) => {
  const { browse } = shared;
  const library = (await browse('/read')).body;
  t.match(library, '>The handbook</a>');
  t.match(library, '>All guides</a>');
  t.match(library, '<p class="count">3 documents</p>');
  t.match(library, 'rel="alternate" type="application/atom&#43;xml"'.replace('&#43;', '+'));
  t.match(
    library,
    '<link rel="search" type="application/opensearchdescription+xml" title="runner-docs" href="/opensearch.xml">',
  );
  const handbook = (await browse('/read/collections/handbook')).body;
  t.match(handbook, /Grace Hopper<\/bdi> · 3 documents/);
  t.match(handbook, '<a href="/read/collections/handbook/feed.atom">Feed</a>');
  t.match(
    handbook,
    /<link rel="alternate" type="application\/atom\+xml"[^>]* href="\/read\/collections\/handbook\/feed\.atom">/,
  );
  t.same(
    [...handbook.matchAll(/<h2><a href="([^"]*)"/g)].map(([, address]) => address),
    ['/read/start?in=handbook', '/read/undated?in=handbook', '/read/next?in=handbook'],
  );

  const start = (await browse('/read/start')).body;
  t.match(start, '<link rel="canonical" href="http://127.0.0.1:4000/read/start">');
  t.match(start, /All guides<\/bdi><\/a> › 1 of 2/, 'the first collection that has it');
  t.match((await browse('/read/start?in=handbook')).body, /The handbook<\/bdi><\/a> › 1 of 3/);
  t.match(start, '<a href="/read/next">the next page</a>');
  t.match(start, 'More, the plan,', 'a link to what is not public is only text');
  t.match(start, /raw, by reference, a draft, a folder, a guide/);
  t.equal([...start.matchAll(/src="data:image\/(svg\+xml|png);base64,/g)].length, 2, 'its pictures');
  t.match(start, '<a class="chip" href="/read?tag=shared">');
  t.match((await browse('/read?tag=shared')).body, '<p class="count">2 documents with this filter</p>');
  t.match((await browse('/read?type=juniper')).body, 'There is nothing here.');

  const found = await browse('/read?q=lantern');
  t.match(found.body, /<p class="count" role="status">2 documents for/);
  t.equal(found.headers['x-robots-tag'], 'noindex');
  t.equal((await browse('/read/start')).headers['x-robots-tag'], undefined);
  t.match((await browse('/read?q=zirconium')).body, /0 documents for/, 'the paths of links are no text');
  for (const query of ['zirc*', 'closed', '"closed zirconium"'])
    t.match((await browse(`/read?q=${encodeURIComponent(query)}`)).body, /0 documents for/, query);
  for (const query of [
    'lantern -zirconium',
    'lantern -zirc*',
    '-zirconium lantern',
    'lantern -"closed zirconium"',
  ])
    t.match((await browse(`/read?q=${encodeURIComponent(query)}`)).body, /2 documents for/, query);
  t.match((await browse('/read?q=lantern+-neighbour')).body, /1 document for/);
  t.match((await browse('/read?q=-lantern')).body, /1 document for/, 'exclusions alone');
  for (const word of secretWords) {
    const found = (await browse(`/read?q=${word}`)).body;
    t.match(found, /0 documents for/, `${word} in a title of a link, in an attribute or in a comment`);
    t.match((await browse(`/read?q=-${word}`)).body, /3 documents for/, `-${word}`);
    t.match((await browse(`/read?q=words+-${word}`)).body, /2 documents for/, `words -${word}`);
  }
  const again = await browse('/read/start', {
    headers: { 'if-none-match': String((await browse('/read/start')).headers['etag']) },
  });
  t.match([again.statusCode, again.body], [304, '']);
  const wrong = await browse('/read?page=0');
  t.match([wrong.statusCode, wrong.body], [400, 'href="/sign-in"']);
});

t.test('a stranger who follows every link, and asks everything, learns nothing of the rest', async (t) => {
  for (const baseUrl of [
    parseBaseUrl('http://127.0.0.1:4000'),
    parseBaseUrl('https://docs.example.org/library'),
  ]) {
    const { browse } = baseUrl.path === '' ? shared : await openStranger(t, { baseUrl });
    const seen = new Map<string, string>();
    const waiting = (
      '/ /docs /read /llms.txt /sitemap.xml /opensearch.xml /robots.txt /healthz /readyz /sign-in ' +
      '/api/v1/docs /api/v1/openapi.json /api/v1/tags /api/v1/types /metrics ' +
      '/.well-known/oauth-authorization-server /read/collections/handbook/feed.atom ' +
      '/read/collections/guides/feed.atom /read?page=2 /read/starts /read/strat /read/undefined ' +
      '/read?type=guide&tag=shared /read?q=-lantern /read?q=read* /read?q=%22reading+lantern%22 ' +
      '/read?q=lantern+words /read?q=neighbour /read?q=again /read?q=more /read?q=x /read?q=closed ' +
      '/read?q=lantern&page=9 /read?q=search&tag=shared /read?q=and /read?q=a /read?q=plan ' +
      '/read?q=reference /read?q=draft /read?q=folder /read?q=see /read/open-next /read/next-2 ' +
      '/sitemap.xml?part=1 /sitemap.xml?part=2'
    )
      .split(' ')
      .map((path) => baseUrl.path + path);
    for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
      if (seen.has(path)) continue;
      const { statusCode, headers, body } = await browse(path);
      const text = `${JSON.stringify(headers)}\n${body}`.replaceAll(encodeURIComponent(path), '');
      seen.set(path, text);
      t.ok(statusCode < 500, `${path}: ${statusCode}`);
      for (const [, address = ''] of body.matchAll(
        /(?:href|action|src|template)="([^"#]*)["#]|<(?:loc|id)>([^<]*)<|\]\(([^)]*)\)/g,
      )) {
        const to = address.replaceAll('&#38;', '&').replaceAll('&amp;', '&').replace(baseUrl.origin, '');
        if (to.startsWith(`${baseUrl.path}/`) && !to.includes('{')) waiting.push(to);
      }
    }
    t.ok(seen.size > 60, `${seen.size} addresses`);
    const leaks = [...seen].flatMap(([path, text]) =>
      secretWords
        .filter((word) => spellingsOf(word).some((one) => text.toLowerCase().includes(one)))
        .map((word) => `${word} at ${path}`),
    );
    t.same(leaks, []);
    const [named, other] = [
      await browse(`${baseUrl.path}/read/zirconium`),
      await browse(`${baseUrl.path}/read/zirkonium`),
    ];
    t.same(
      [named.statusCode, named.body, Object.keys(named.headers)],
      [other.statusCode, other.body, Object.keys(other.headers)],
      'whether something exists makes no difference',
    );
  }
});

/** A picture stands in a page as base64, which depends on where it begins. */
function spellingsOf(word: string): readonly string[] {
  const encoded = ['', 'x', 'xx'].map((before) =>
    Buffer.from(before + word)
      .toString('base64')
      .slice(before.length + (before === '' ? 0 : 1), -3)
      .toLowerCase(),
  );
  return [word, ...encoded];
}

t.test('the owner sees the same as before', async (t) => {
  const { browse, access } = shared;
  const { name, value } = await openSession(access.owners);
  const headers = { cookie: `${name}=${value}` };
  const library = (await browse('/read', { headers })).body;
  for (const text of ['The zirconium file', 'The halcyon draft', 'The peregrine book', 'sign-out', '.epub'])
    t.match(library, text);
  const start = (await browse('/read/start', { headers })).body;
  t.match(start, 'href="/read/zirconium"');
  t.match(start, 'href="/read/start.pdf"');
  t.match((await browse('/read/zirconium', { headers })).body, 'saffron');
  t.match((await browse('/read/collections/peregrine/feed.atom', { headers })).body, 'The zirconium file');
  t.equal((await browse('/opensearch.xml', { headers })).statusCode, 200);
});

t.test('what is public no more is closed at once', async (t) => {
  const { browse, content, indexer } = await openStranger(t);
  t.equal((await browse('/read/start')).statusCode, 200);
  const change = async (files: Record<string, string>) => {
    await writeFiles(content, files);
    await indexer.sync();
  };
  t.match((await browse('/read/start')).body, 'href="/read/next"');
  await change({ 'open/next.md': '---\ntitle: Next steps\ntype: note\ndraft: true\n---\nwords' });
  t.equal((await browse('/read/next')).statusCode, 303, 'a draft');
  t.notMatch((await browse('/read/start')).body, 'href="/read/next"');
  await change({ 'collections/guides.yaml': 'title: All guides\npublic: maybe\nquery: { type: guide }\n' });
  t.equal((await browse('/read/collections/guides')).statusCode, 303, 'a wrong value opens nothing');
  await change({ 'collections/handbook.yaml': 'title: The handbook\ndocs: [start]\n' });
  for (const path of ['/read', '/read/start', '/read/collections/handbook', '/read?q=words'])
    t.equal((await browse(path)).statusCode, 303, path);
  for (const path of ['/sitemap.xml', '/opensearch.xml']) t.equal((await browse(path)).statusCode, 404, path);
  t.equal((await browse('/llms.txt')).statusCode, 401);
  t.match((await browse('/robots.txt')).body, 'Disallow: /\n');
});

t.test('what strangers find, and its order, comes from public documents as they are now', async (t) => {
  const open = {
    'a.md': `# One\n\nacquisition ${'of many other words '.repeat(9)} weather weather`,
    'b.md': `# Two\n\nacquisition acquisition ${'of many other words '.repeat(9)} weather`,
    'collections/open.yaml': 'public: true\ndocs: [a, b]',
  };
  const closed = Array.from({ length: 60 }, (_, at) => [`c${at}.md`, 'acquisition '.repeat(20)]);
  const { browse, content, indexer } = await openStranger(t, {}, { ...open, ...Object.fromEntries(closed) });
  const alone = await openStranger(t, {}, open);
  const found = async (from: typeof alone, words: string) => {
    const path = `/read?q=${encodeURIComponent(words)}`;
    const { body } = await poll(
      () => from.browse(path),
      ({ statusCode }) => statusCode === 200,
    );
    return [...body.matchAll(/href="\/read\/(\w+)"/g)].map(([, slug]) => slug).join(' ');
  };
  for (const words of ['acquisition weather', 'weather', 'acquisition -rain'])
    t.equal(await found({ ...alone, browse }, words), await found(alone, words), words);
  await writeFiles(content, { 'b.md': '# Two\n\nweather \\<!-- no comment, a sign' });
  await indexer.sync();
  t.equal(await found({ ...alone, browse }, 'acquisition'), 'a', 'a word that was deleted');
  t.equal(await found({ ...alone, browse }, 'comment'), 'b');
});

t.test('documents with the same title have no folders in public collections', async (t) => {
  const { browse } = await openStranger(
    t,
    {},
    {
      'halcyon/one/start.md': '# Same\n',
      'halcyon/two/obsidian.md': '---\nslug: second\n---\n# Same\n',
      'collections/book.yaml': 'public: true\ndocs: [start, second]\n',
    },
  );
  const book = (await browse('/read/collections/book')).body;
  t.match(book, 'Same · start</a>');
  t.match(book, 'Same · second</a>');
  const page = (await browse('/read/start?in=book')).body;
  t.match(page, 'Same · second');
  t.notMatch(book + page, /halcyon|obsidian/);
});

t.test('strangers do not see when something else changes', async (t) => {
  const { browse, content, indexer } = await openStranger(t);
  const paths = ['/read', '/read/start', '/read?q=lantern', '/read/collections/handbook'];
  const others = ['/llms.txt', '/sitemap.xml', '/robots.txt', '/read/collections/handbook/feed.atom'];
  const look = async () => {
    const seen = [];
    for (const path of [...paths, ...others]) {
      const { headers, body } = await browse(path);
      seen.push([path, headers['etag'], body]);
    }
    return seen;
  };
  const before = await look();
  const { writeFiles } = await import('../support/temporaryFolder.ts');
  await writeFiles(content, { 'closed/zirconium.md': '# Other words\n', 'closed/new.md': 'lantern\n' });
  await indexer.sync();
  t.same(await look(), before);
  await writeFiles(content, { 'open/undated.md': '# Undated, but new\n\nA lantern.\n' });
  await indexer.sync();
  const etagIn = (seen: typeof before) => seen.find(([path]) => path === '/llms.txt')?.[1];
  t.not(etagIn(await look()), etagIn(before));
});

t.test('strangers count by address, and take nothing from the owner', async (t) => {
  const limits = { requests: 5, renders: 10, authFailures: 10 };
  const { browse, createToken, get } = await openStranger(t, { limits, trustProxy: ['127.0.0.1'] });
  await createToken();
  const from = (address: string) => browse('/read/undated', { headers: { 'x-forwarded-for': address } });
  const statuses: number[] = [];
  for (let at = 0; at < 7; at++) statuses.push((await from('203.0.113.1')).statusCode);
  t.same(statuses, [200, 200, 200, 200, 200, 429, 429]);
  const refused = await from('203.0.113.1');
  t.match(refused.headers, { 'retry-after': /\d/ });
  t.match(refused.body, 'href="/sign-in"');
  t.equal((await from('203.0.113.2')).statusCode, 200);
  t.equal((await get('/api/v1/docs')).statusCode, 200);
  for (const path of ['/sitemap.xml', '/llms.txt', '/opensearch.xml', '/read/collections/guides/feed.atom'])
    t.equal((await browse(path, { headers: { 'x-forwarded-for': '203.0.113.1' } })).statusCode, 429, path);
});

t.test('where another server signs people in, strangers read too', async (t) => {
  const { browse } = await openStranger(t, { signIn: { issuer: 'https://auth.example' } });
  const page = await browse('/read/start');
  t.equal(page.statusCode, 200);
  t.notMatch(page.body, 'sign-in');
  t.equal((await browse('/read/zirconium')).statusCode, 404);
  t.match((await browse('/')).body, 'href="/read"');
});
