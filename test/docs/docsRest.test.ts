import { once } from 'node:events';
import { type FileHandle, open, readFile, unlink, utimes, writeFile } from 'node:fs/promises';
import {
  type IncomingMessage,
  type RequestListener,
  type RequestOptions,
  request,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { parseBaseUrl } from '../../docs-service/base/baseUrl.ts';
import { callerOf, RateLimiter } from '../../docs-service/base/rateLimiter.ts';
import { addressOf, type ListenerBounds, listen } from '../../docs-service/http/listener.ts';
import { createProxyCheck } from '../../docs-service/http/trustedProxies.ts';
import {
  IndexUnavailableError,
  type SearchPage,
  type SearchQuery,
} from '../../docs-service/search/documentIndex.ts';
import { openTestApp } from '../support/docsApp.ts';
import { beginAnew } from '../support/docsLibrary.ts';
import { golden, withoutProse } from '../support/golden.ts';
import { needs } from '../support/parts.ts';
import { textOf } from '../support/pdfFiles.ts';
import { pictures } from '../support/pictures.ts';
import { where } from '../support/systems.ts';
import { temporaryFolder, writeFiles } from '../support/temporaryFolder.ts';
import { poll } from '../support/waiting.ts';
import { filesOf } from '../support/zip.ts';

const files = {
  'first.md':
    '---\ntitle: First steps\ntype: guide\ntags: [News, { slug: mac, title: macOS }]\ndate: 2026-01-02\nupdated: 2026-02-03T04:05:06Z\nlang: en\nauthors: [Ada]\ndescription: How to begin.\n---\n# Begin\n\nWords about [the second](second.md#part) and ![a picture](p.png).\n\n<script>alert(1)</script>\n',
  'second.md': '---\ntitle: Second\ntype: guide\ndate: 2026-03-01\n---\n## Part\n\nMore words.\n',
  'undated.md': '# Undated\n\nNothing.',
  'also.md': '# Also undated\n',
  'secret.md': '---\ntitle: Secret plan\ndraft: true\ntags: [news]\n---\nHush, words.\n',
  'collections/book.yaml': 'title: The book\ndocs: [first, second, secret]',
  'collections/empty.yaml': 'docs: [secret]',
};

// What several tests read is opened before the first of them: when all tests so far have ended, tap cleans up.

/** For the tests that change nothing of it: a service takes half a second to open, and its worker another half. */
const usual = await openTestApp(t, files);

/** More documents than a page has, each with words of its own. */
const shelf = await openTestApp(t, {
  ...Object.fromEntries(
    Array.from({ length: 25 }, (_, at) => [
      `d${at}.md`,
      `# Title of ${at}\n\nThe words of body-${at}, and [the next](d${at + 1}.md).\n`,
    ]),
  ),
  'collections/some.yaml': 'docs: [d7, d21, d3, d12]',
});

t.test('the list of documents', async (t) => {
  const { get, createToken } = usual;
  const slugs = async (query: string, headers = {}) => {
    const { statusCode, json } = await get(`/api/v1/docs${query}`, { headers });
    t.equal(statusCode, 200, query);
    return json()
      .items.map(({ slug }: { slug: string }) => slug)
      .join(' ');
  };
  const cases: readonly { name: string; query: string; want: string }[] = [
    {
      name: 'newest first, those without a date last, by title',
      query: '',
      want: 'second first also undated',
    },
    { name: 'by type', query: '?type=guide', want: 'second first' },
    { name: 'by the slug of a tag', query: '?tag=mac', want: 'first' },
    { name: 'a page', query: '?limit=1&offset=1', want: 'first' },
    { name: 'unknown parameters are ignored', query: '?page=3&type=guide', want: 'second first' },
    { name: 'a search', query: '?q=words', want: 'second first' },
    { name: 'a title before a text', query: '?q=undat*', want: 'undated also' },
    { name: 'by a folder', query: '?path=collections', want: '' },
    { name: 'changed since', query: '?changed_since=2026-01-02&limit=2', want: 'second first' },
    { name: 'signs alone find nothing', query: '?q=%3F%3F', want: '' },
  ];
  for (const { name, query, want } of cases) t.equal(await slugs(query), want, name);
  const draft = { authorization: `Bearer ${await createToken(['read', 'draft'])}` };
  t.equal(await slugs('?tag=news', draft), 'first secret', 'drafts are seen with the scope draft');

  const { json, headers } = await get('/api/v1/docs?type=guide&limit=1');
  t.match(json(), {
    items: [
      {
        ...{ slug: 'second', path: 'second.md', draft: false, snippet: null },
        links: { self: /docs\/second$/, pdf: /second\.pdf$/, markdown: /second\.md$/ },
      },
    ],
    ...{ total: 2, limit: 1, offset: 0 },
  });
  t.equal(headers['x-total-count'], '2');
  const base = 'http://127.0.0.1:4000/api/v1/docs?type=guide&limit=1&offset=';
  t.equal(headers['link'], `<${base}0>; rel="first", <${base}1>; rel="next", <${base}1>; rel="last"`);
  const { items: found } = (await get('/api/v1/docs?q=words&type=guide')).json();
  t.strictSame(
    found.map(({ snippet, matched }: Record<string, unknown>) => [snippet, matched]),
    [
      ['Part — More words.', 'text'],
      ['Begin — Words about the second and a picture.', 'text'],
    ],
  );
  const { items: hidden } = (await get('/api/v1/docs?tag=news', { headers: draft })).json();
  t.strictSame(
    hidden.map((item: { draft: boolean }) => item.draft),
    [false, true],
  );
  const narrowed = await get('/api/v1/docs?changed_since=2026-01-02&limit=1&q=words');
  t.match(narrowed.headers['link'], 'changed_since=2026-01-02&q=words&limit=1&offset=1>; rel="next"');
  const last = await get('/api/v1/docs?type=guide&limit=1&offset=1');
  t.match(last.headers['link'], /offset=0>; rel="prev"/);
  t.notMatch(last.headers['link'], /rel="next"/);
  const long = await get(`/api/v1/docs?q=テ${'、'.repeat(998)}`);
  t.match(long, { statusCode: 200 });
  t.equal(long.headers['link'], undefined, 'no field that is longer than clients take');
  t.equal((await get('/api/v1/docs?limit=100')).statusCode, 200);
});

t.test(
  'a search says how many documents have all words, what each lacks, and what was corrected',
  async (t) => {
    const { get, index } = usual;
    const search = index.search.bind(index);
    t.teardown(() => Object.assign(index, { search }));
    t.match((await get('/api/v1/docs?q=words')).json(), { total: 2, allWords: 2 });
    t.notOk('allWords' in (await get('/api/v1/docs')).json(), 'a list has none of these fields');
    const corrected = [{ written: 'instaled', meant: 'installed' }];
    Object.assign(index, {
      async search(query: SearchQuery): Promise<SearchPage> {
        const { items } = await search({ ...query, text: 'words' });
        const lacking = items.map((hit, at) => ({ ...hit, missing: at === 0 ? [] : ['instaled'] }));
        return { items: lacking, total: 2, allWords: 1, corrected, approximate: true, clauses: [] };
      },
    });
    const answer = (await get('/api/v1/docs?q=instaled%20words')).json();
    t.match(answer, {
      total: 2,
      allWords: 1,
      corrected,
      approximate: true,
      items: [{}, { missing: ['instaled'] }],
    });
    t.notOk('missing' in answer.items[0], 'it has all words');
  },
);

t.test('invalid parameters are refused by name', async (t) => {
  const { get } = usual;
  const cases: readonly { query: string; path: string; message: RegExp }[] = [
    { query: 'limit=0', path: 'limit', message: /at least 1/ },
    { query: 'limit=101', path: 'limit', message: /at most 100/ },
    { query: 'offset=-1', path: 'offset', message: /at least 0/ },
    { query: 'type=', path: 'type', message: /empty/ },
    { query: 'tag=a&tag=b', path: 'tag', message: /once/ },
    { query: 'q=', path: 'q', message: /empty/ },
    { query: `q=${'a'.repeat(1001)}`, path: 'q', message: /at most 1000/ },
    { query: 'path=../a', path: 'path', message: /below the content folder/ },
    { query: 'changed_since=2026-02-30', path: 'changed_since', message: /a date or a time/ },
  ];
  for (const { query, path, message } of cases) {
    const { statusCode, headers, json } = await get(`/api/v1/docs?${query}`);
    t.equal(statusCode, 400, query);
    t.match(headers['content-type'], /^application\/problem\+json/);
    t.match(json(), { type: 'about:blank', title: 'Bad Request', status: 400, instance: '/api/v1/docs' });
    t.match(json().errors, [{ path, message }], query);
  }
  t.equal((await get('/api/v1/docs?limit=0&tag=')).json().errors.length, 2, 'all at once');
});

t.test('collections, tags and types', async (t) => {
  const { get, createToken } = usual;
  const book = 'http://127.0.0.1:4000/api/v1/collections/book';
  const item = {
    ...{ name: 'book', title: 'The book', count: 2, author: 'Ada', lang: 'en' },
    updated: '2026-03-01',
    links: { self: book, epub: `${book}.epub`, pdf: `${book}.pdf` },
  };
  const list = await get('/api/v1/collections?limit=1');
  t.strictSame(list.json(), { items: [item], total: 2, limit: 1, offset: 0 });
  t.equal(list.headers['x-total-count'], '2');
  t.match(list.headers['link'], '/api/v1/collections?limit=1&offset=1>; rel="next"');
  t.match((await get('/api/v1/collections?offset=1')).json().items, [
    { name: 'empty', count: 0, author: null, lang: null, updated: null },
  ]);
  const { documents, ...one } = (await get('/api/v1/collections/book')).json();
  t.strictSame(one, item);
  t.strictSame(documents[0], (await get('/api/v1/docs/first')).json());
  t.strictSame(
    documents.map(({ slug }: { slug: string }) => slug),
    ['first', 'second'],
    'in its order, without drafts',
  );
  for (const query of ['limit=0', 'limit=101', 'offset=', 'limit=1&limit=1'])
    t.equal((await get(`/api/v1/collections?${query}`)).statusCode, 400, query);

  t.strictSame((await get('/api/v1/tags')).json(), {
    items: [
      { slug: 'mac', title: 'macOS', count: 1 },
      { slug: 'news', title: 'News', count: 1 },
    ],
  });
  t.strictSame((await get('/api/v1/types')).json(), { items: [{ slug: 'guide', title: 'guide', count: 2 }] });
  const headers = { authorization: `Bearer ${await createToken(['read', 'draft'])}` };
  const [most] = (await get('/api/v1/tags', { headers })).json().items;
  t.match(most, { slug: 'news', count: 2 }, 'as many as the token sees');
});

t.test('the metadata of a document', async (t) => {
  const { get, content, indexer } = await openTestApp(t, files);
  const { json, headers } = await get('/api/v1/docs/first');
  t.match(json(), {
    slug: 'first',
    tags: [
      { slug: 'news', title: 'News' },
      { slug: 'mac', title: 'macOS' },
    ],
    updated: '2026-02-03T04:05:06Z',
    authors: ['Ada'],
  });
  const etag = String(headers['etag']);
  for (const header of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    const again = await get('/api/v1/docs/first', { headers: { 'if-none-match': header } });
    t.match(again, { statusCode: 304, body: '' }, header);
    t.equal(again.headers['etag'], etag);
    t.match(again.headers['cache-control'], /private/);
  }
  const conditions = [
    { 'if-none-match': '"other"', want: 200 },
    { 'if-match': etag, want: 200 },
    { 'if-match': `"other" , ${etag}`, want: 200 },
    { 'if-match': '*', want: 200 },
    { 'if-match': '"other"', want: 412 },
    { 'if-match': `W/${etag}`, want: 412 },
    { 'if-match': '', want: 412 },
    { 'if-match': '"other"', 'if-none-match': etag, want: 412 },
    { 'if-match': etag, 'if-none-match': etag, want: 304 },
  ];
  for (const { want, ...headers } of conditions)
    for (const method of ['GET', 'HEAD'] as const)
      t.equal(
        (await get('/api/v1/docs/first', { method, headers })).statusCode,
        want,
        JSON.stringify(headers),
      );
  t.equal((await get('/api/v1/docs/nothing', { headers: { 'if-match': '*' } })).statusCode, 404);
  const head = await get('/api/v1/docs/first', { method: 'HEAD' });
  t.match(head, { statusCode: 200, body: '' });
  t.equal(Number(head.headers['content-length']), Buffer.byteLength(JSON.stringify(json())));
  const list = await get('/api/v1/docs');
  await writeFiles(content, { 'first.md': '# Changed' });
  await indexer.sync();
  t.not((await get('/api/v1/docs/first')).headers['etag'], etag);
  const changed = await get('/api/v1/docs', { headers: { 'if-none-match': String(list.headers['etag']) } });
  t.equal(changed.statusCode, 200, 'the list has changed too');
});

t.test('unknown documents, collections and addresses', async (t) => {
  const { get, app } = usual;
  const missing: readonly [string, RegExp][] = [
    ['/api/v1/docs/secnd', /no document "secnd"\. Did you mean "second"\?/],
    ['/api/v1/docs/secret', /no document "secret"/],
    ['/api/v1/docs/', /no document ""/],
    ['/api/v1/docs/first/', /nothing at/],
    ['/api/v1/docs/..%2Ffirst', /no document/],
    [`/api/v1/docs/${'a'.repeat(1_000)}`, /no document/],
    ['/api/v1/collections/none.epub', /no collection "none"\. There are "book", "empty"/],
    [`/api/v1/collections/${'x'.repeat(101)}`, /no collection "x{100}"/],
    ['/api/v2/docs', /nothing at \/api\/v2\/docs/],
  ];
  for (const [url, detail] of missing) {
    const answer = await get(url);
    t.match(answer.json(), { status: 404, detail }, url);
    t.match(answer.headers['content-type'], /problem\+json/);
  }
  t.match((await get(`/api/v1/docs/${'a'.repeat(2_050)}`)).json(), { status: 414 });
  t.match((await get('/api/v1/docs/%zz')).json(), { status: 400, title: 'Bad Request' });
  const host = '127.0.0.1:4000';
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND'] as const) {
    const answer = await app.inject({ url: '/api/v1/docs/first', method, headers: { host } });
    t.match(answer.json(), { status: 405 }, method);
    t.equal(answer.headers['allow'], 'GET, HEAD');
  }
  const strange = { host, 'content-type': 'application/xml' };
  const image = '/api/v1/docs/first/files/p.png';
  const query = await app.inject({ url: image, method: 'QUERY' as 'GET', headers: { host } });
  t.equal(query.statusCode, 405, 'a method that Fastify knows, at an address of any length');
  const post = await app.inject({ url: '/api/v1/docs', method: 'POST', headers: strange, payload: '<a/>' });
  t.equal(post.statusCode, 405, 'whatever its body is');
});

t.test('files: Markdown, HTML, PDF and EPUB', async (t) => {
  const { get, rendered } = usual;
  const markdown = await get('/api/v1/docs/first.md');
  t.match(markdown.headers['content-type'], /^text\/markdown/);
  t.match(
    markdown.body,
    /^# Begin\n\nWords about \[the second\]\(http:\/\/127\.0\.0\.1:4000\/api\/v1\/docs\/second\.md#part\)/,
  );
  t.notMatch(markdown.body, /<script/);
  const html = await get('/api/v1/docs/first.html');
  t.match(html.body, /<h1 id="begin">Begin<\/h1>/);
  t.match(html.body, /href="http:\/\/127\.0\.0\.1:4000\/api\/v1\/docs\/second\.html#part"/);
  t.notMatch(html.body, /<script/);
  for (const [url, type, magic] of [
    ['/api/v1/docs/first.pdf', 'application/pdf', '%PDF-'],
    ['/api/v1/collections/book.epub', 'application/epub+zip', 'PK'],
    ['/api/v1/collections/book.pdf', 'application/pdf', '%PDF'],
  ] as const) {
    const before = rendered.length;
    const answer = await get(url);
    t.equal(answer.statusCode, 200, url);
    t.equal(answer.headers['content-type'], type);
    t.equal(answer.rawPayload.subarray(0, magic.length).toString(), magic);
    t.match(
      answer.headers['content-disposition'],
      /^inline; filename="(first\.pdf|book\.(epub|pdf))"; filename\*=UTF-8''/,
    );
    const etag = String(answer.headers['etag']);
    t.equal((await get(url, { headers: { 'if-none-match': etag } })).statusCode, 304);
    t.strictSame((await get(url)).rawPayload, answer.rawPayload);
    const head = await get(url, { method: 'HEAD' });
    t.equal(Number(head.headers['content-length']), answer.rawPayload.length);
    const length = answer.rawPayload.length;
    const ranges: readonly [string, number, string?][] = [
      ['bytes=0-4', 206, `bytes 0-4/${length}`],
      ['bytes=-3', 206, `bytes ${length - 3}-${length - 1}/${length}`],
      [`bytes=${length - 1}-`, 206, `bytes ${length - 1}-${length - 1}/${length}`],
      [`bytes=${length}-`, 416, `bytes */${length}`],
      ['bytes=0-1,3-4', 200],
      ['lines=1-2', 200],
    ];
    for (const [range, status, contentRange] of ranges) {
      const part = await get(url, { headers: { range } });
      t.equal(part.statusCode, status, range);
      t.equal(part.headers['content-range'], contentRange);
    }
    t.equal((await get(url, { headers: { range: 'bytes=0-4', 'if-range': '"other"' } })).statusCode, 200);
    t.equal(rendered.length, before + 1, 'all of this was one rendering');
  }
  t.match((await get('/api/v1/collections/empty.epub')).json(), { status: 422, detail: /no documents/ });
});

t.test('a page has 20 documents if the client asks for no other number', async (t) => {
  for (const [query, want] of [
    ['', 20],
    ['?q=words', 20],
    ['?offset=20', 5],
    ['?q=words&offset=20', 5],
    ['?limit=25', 25],
  ] as const) {
    const { json, headers } = await shelf.get(`/api/v1/docs${query}`);
    const { items, limit, total } = json();
    t.strictSame([items.length, limit, total], [want, want === 25 ? 25 : 20, 25], query);
    t.equal(/offset=20>; rel="next"/.test(String(headers['link'])), want === 20, `${query}: the next page`);
    t.match(headers['link'], want === 25 ? 'offset=0>; rel="last"' : 'offset=20>; rel="last"', query);
  }
});

t.test('an EPUB has every document of its collection, in order, each with its own text', async (t) => {
  const { rawPayload } = await shelf.get('/api/v1/collections/some.epub');
  const book = filesOf(rawPayload);
  const opf = book.get('OEBPS/content.opf') ?? '';
  const hrefs = new Map(
    Array.from(opf.matchAll(/<item id="([^"]+)" href="([^"]+)"/g), ([, id, href]) => [id, href]),
  );
  const read = Array.from(opf.matchAll(/<itemref idref="([^"]+)"/g), ([, id]) => hrefs.get(id) ?? id);
  const chapters = read.map((href) => book.get(`OEBPS/${href}`) ?? '');
  t.strictSame(
    chapters.flatMap((text) => text.match(/body-\d+/g)?.join(' ') ?? []),
    ['body-7', 'body-21', 'body-3', 'body-12'],
  );
});

t.test('a PDF has the text of its own document, also from the cache', needs('poppler'), async (t) => {
  const { get, rendered } = shelf;
  const numbers = [4, 14, 24];
  const ask = () => Promise.all(numbers.map((number) => get(`/api/v1/docs/d${number}.pdf`)));
  const made = await ask();
  for (const [at, { rawPayload }] of made.entries()) {
    const text = textOf(rawPayload);
    t.match(text, `Title of ${numbers[at]}`);
    t.strictSame(text.match(/body-\d+/g), [`body-${numbers[at]}`]);
  }
  const before = rendered.length;
  for (const [at, { rawPayload }] of (await ask()).entries())
    t.ok(rawPayload.equals(made[at]?.rawPayload ?? Buffer.of()), `d${numbers[at]} again`);
  t.equal(rendered.length, before);
});

t.test('a PDF and an EPUB change when a picture is replaced', async (t) => {
  const { get, content } = await openTestApp(t, files);
  const etags = () =>
    Promise.all(
      ['/api/v1/docs/first.pdf', '/api/v1/docs/first.html', '/api/v1/collections/book.epub'].map(
        async (url) => (await get(url, { method: 'HEAD' })).headers['etag'],
      ),
    );
  const before = await etags();
  await writeFiles(content, { 'p.png': 'a' });
  const after = await etags();
  for (const [at, etag] of before.entries()) t.not(after[at], etag);
  await utimes(join(content, 'p.png'), new Date(1_000_000), new Date(2_000_000));
  t.strictSame(await etags(), after, 'a new time of the same bytes is no change, so instances agree');
  await writeFiles(content, { 'p.png': 'b' });
  await utimes(join(content, 'p.png'), new Date(1_000_000), new Date(2_000_000));
  const last = await etags();
  for (const [at, etag] of after.entries()) t.not(last[at], etag, 'other bytes of the same size and time');
});

t.test('simultaneous requests for the same rendition share one rendering', async (t) => {
  const { get, rendered } = usual;
  const before = rendered.length;
  const answers = await Promise.all(Array.from({ length: 10 }, () => get('/api/v1/docs/second.pdf')));
  t.ok(answers.every(({ statusCode }) => statusCode === 200));
  t.strictSame(rendered.slice(before), ['pdf']);
  t.equal(new Set(answers.map(({ rawPayload }) => rawPayload.toString('base64'))).size, 1);
});

t.test(
  'a document that cannot be rendered is answered with a problem, and does not affect the next one',
  async (t) => {
    const { get, rendered, index } = await openTestApp(t, {
      'quotes.md': `[a](b.md)\n\n${'>'.repeat(5_000)} deep`,
      'lists.md': Array.from({ length: 500 }, (_, at) => `${'  '.repeat(at)}- item`).join('\n'),
      'good.md': '# Good',
    });
    for (const slug of ['quotes', 'lists'])
      for (const format of ['pdf', 'html', 'md']) {
        const answer = await get(`/api/v1/docs/${slug}.${format}`);
        t.ok([200, 422].includes(answer.statusCode), `${slug}.${format}: ${answer.statusCode}`);
        if (format !== 'pdf') continue;
        t.match(answer.json(), { status: 422, detail: /nested|deep/i });
        t.equal(answer.headers['etag'], undefined, 'no entity tag of a file that was never made');
      }
    t.equal((await get('/api/v1/docs/good.pdf')).statusCode, 200);
    const before = rendered.length;
    Object.assign(index, { slugsOf: () => Promise.reject(new Error('looked')) });
    t.equal((await get('/api/v1/docs/quotes.pdf')).statusCode, 422);
    t.equal(rendered.length, before, 'it is not tried again, and its files are not looked up again');
  },
);

t.test(
  'a document that refers to thousands of files is refused before any of them is looked at',
  async (t) => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, at) => `![](p${at}.png) [](d${at}.md)`).join('\n');
    const { get, index, rendered } = await openTestApp(t, { 'many.md': many(1_001), 'some.md': many(1_000) });
    let looks = 0;
    const { slugsOf } = index;
    Object.assign(index, {
      slugsOf(paths: readonly string[]) {
        looks += 1;
        return slugsOf(paths);
      },
    });
    for (const format of ['html', 'pdf']) {
      const answer = await get(`/api/v1/docs/many.${format}`);
      t.match(answer.json(), { status: 422, detail: /more than 2,000 files\. Split it/ });
    }
    t.equal(looks, 0);
    t.strictSame(rendered, []);
    t.equal((await get('/api/v1/docs/some.html')).statusCode, 200);
  },
);

t.test('a PDF has the paper that was asked for', async (t) => {
  const { get } = usual;
  for (const path of ['docs/first.pdf', 'collections/book.pdf']) {
    const [a4, usualPaper, letter] = await Promise.all(
      ['?paper=a4', '', '?paper=letter'].map((query) => get(`/api/v1/${path}${query}`)),
    );
    t.equal(a4?.headers['etag'], usualPaper?.headers['etag'], path);
    t.not(letter?.headers['etag'], a4?.headers['etag']);
    t.match(letter?.rawPayload.toString('latin1'), '/MediaBox [0 0 612 792]');
  }
  for (const query of ['paper=a3', 'paper=', 'paper=a4&paper=letter']) {
    const { errors } = (await get(`/api/v1/docs/first.pdf?${query}`)).json();
    t.equal(errors[0].path, 'paper', query);
  }
  const bad = (await get('/api/v1/collections/book.pdf?paper=A4')).json();
  t.match(bad.errors, [{ message: 'must be one of "a4", "letter"' }]);
});

t.test('Markdown has absolute addresses, and a picture that a document shows has one', async (t) => {
  const { get, createToken, content } = await openTestApp(t, {
    'guides/one.md':
      '---\ncover: pictures/cover.gif\n---\n# One\r\n\n[a](two.md#Part) [b](<my file.md> "so") [c][ref] [d](/guides/) [e](#here) [f](./one.md#here)\n\n' +
      '> - ![p](../pictures/a%20\\(1\\).png "t") ![q][pic] <img src="../pictures/b.svg" onerror=x> [![](../pictures/c.png)](../pictures/c.png)\n\n' +
      '[only linked](../pictures/secret.png) [away](https://example.org/x.md) [draft](draft.md) [gone](gone.md) `[code](two.md)` ![](../pictures/text.png) ![](../pictures/gone.png)\n\n' +
      '~~~\n![](../pictures/secret.png)\n~~~\n\n[ref]: two.md\n[pic]: ../pictures/p.webp\n',
    'guides/two.md': '# Two\n',
    'guides/my file.md': '# Mine\n',
    'guides/README.md': '# Guides\n',
    'guides/draft.md': '---\ndraft: true\n---\n![](../pictures/secret.png)\n',
    'pictures/a (1).png': pictures.png,
    'pictures/c.png': pictures.png,
    'pictures/p.webp': pictures.webp,
    'pictures/cover.gif': pictures.gif,
    'pictures/secret.png': pictures.png,
    'pictures/text.png': 'No picture.',
    'pictures/b.svg': '<svg xmlns="http://www.w3.org/2000/svg"><script>x</script><rect width="3"/></svg>',
  });
  const docs = 'http://127.0.0.1:4000/api/v1/docs';
  const { body } = await get('/api/v1/docs/one.md');
  t.equal(
    body,
    `# One\r\n\n[a](${docs}/two.md#part) [b](${docs}/my-file.md "so") [c][ref] [d](${docs}/guides.md) [e](#here) [f](#here)\n\n` +
      `> - ![p](${docs}/one/files/pictures/a%20%281%29.png "t") ![q][pic] <img src="${docs}/one/files/pictures/b.svg" /> [![](${docs}/one/files/pictures/c.png)](${docs}/one/files/pictures/c.png)\n\n` +
      '[only linked](../pictures/secret.png) [away](https://example.org/x.md) [draft](draft.md) [gone](gone.md) `[code](two.md)` ![](../pictures/text.png) ![](../pictures/gone.png)\n\n' +
      `~~~\n![](../pictures/secret.png)\n~~~\n\n[ref]: ${docs}/two.md\n[pic]: ${docs}/one/files/pictures/p.webp\n`,
  );
  for (const [name, type] of [
    ['a%20%281%29.png', 'image/png'],
    ['c.png', 'image/png'],
    ['p.webp', 'image/webp'],
    ['cover.gif', 'image/gif'],
    ['b.svg', 'image/svg+xml; charset=utf-8'],
  ] as const) {
    const answer = await get(`/api/v1/docs/one/files/pictures/${name}`);
    t.match(answer, { statusCode: 200, headers: { 'content-type': type } }, name);
    t.equal(answer.headers['x-content-type-options'], 'nosniff');
    t.equal(answer.headers['content-security-policy'], "default-src 'none'; sandbox");
    const etag = String(answer.headers['etag']);
    const again = await get(`/api/v1/docs/one/files/pictures%2F${name}`, {
      headers: { 'if-none-match': etag },
    });
    t.match(again, { statusCode: 304, body: '' });
    if (name === 'c.png') t.strictSame(answer.rawPayload, pictures.png);
    if (name === 'b.svg') t.match(answer.body, /^<svg [^>]*><rect width="3"><\/rect><\/svg>$/);
  }
  for (const path of [
    'one/files/pictures/secret.png',
    'one/files/pictures/text.png',
    'one/files/pictures/gone.png',
    'one/files/pictures/../pictures/c.png/',
    'one/files/guides/two.md',
    'one/files/..%2f..%2fetc%2fpasswd',
    'one/files/',
    'two/files/pictures/c.png',
    'draft/files/pictures/secret.png',
    'none/files/pictures/c.png',
  ])
    t.match((await get(`/api/v1/docs/${path}`)).json(), { status: 404 }, path);
  const headers = { authorization: `Bearer ${await createToken(['read', 'draft'])}` };
  t.equal((await get('/api/v1/docs/draft/files/pictures/secret.png', { headers })).statusCode, 200);
  const moved = await get('/api/v1/docs/guides-one/files/pictures/c.png');
  t.match(moved, { statusCode: 308, headers: { location: '/api/v1/docs/one/files/pictures/c.png' } });
  await writeFiles(content, { 'pictures/c.png': pictures.jpeg });
  const changed = await get('/api/v1/docs/one/files/pictures/c.png');
  t.equal(changed.headers['content-type'], 'image/jpeg', 'its bytes decide');
  t.strictSame(changed.rawPayload, pictures.jpeg);
});

t.test('reading needs a valid token with the scope read', async (t) => {
  let now = Date.now();
  const { get, app, createToken, access, log } = await openTestApp(t, files, { now: () => now });
  const ask = (authorization: string | undefined, url = '/api/v1/docs') =>
    app.inject({
      url,
      headers: { host: 'localhost:4000', ...(authorization === undefined ? {} : { authorization }) },
    });
  const challenge = (error = '') =>
    `Bearer realm="runner-docs"${error}, resource_metadata="http://localhost:4000/.well-known/oauth-protected-resource", scope="read"`;
  const without = await ask(undefined);
  t.match(without.json(), { status: 401, detail: /token create/ });
  t.equal(without.headers['www-authenticate'], challenge(), 'no error where there is no token');
  t.equal((await ask('Basic YTpi')).headers['www-authenticate'], challenge());
  const wrong = await ask('Bearer rdocs_wrong');
  t.equal(wrong.statusCode, 401);
  t.equal(wrong.headers['www-authenticate'], challenge(', error="invalid_token"'));
  const token = await createToken(['read'], 60_000);
  t.equal((await ask(`bearer ${token}`)).statusCode, 200, 'the scheme in any case');
  now += 61_000;
  t.equal((await ask(`Bearer ${token}`)).statusCode, 401, 'it has expired');
  const other = await createToken(['profile']);
  const refused = await ask(`Bearer ${other}`);
  t.match(refused.json(), { status: 403, detail: /scope "read"/ });
  t.match(refused.headers['www-authenticate'], /error="insufficient_scope", .*scope="read"/);
  now += 1;
  const revoked = await createToken();
  t.equal((await ask(`Bearer ${revoked}`)).statusCode, 200);
  const [grant] = await access.tokens.list();
  await access.tokens.revoke(grant?.id ?? '');
  now += 1_000;
  t.equal((await ask(`Bearer ${revoked}`)).statusCode, 401, 'a second after it was revoked');
  t.equal(
    (await ask(`Bearer ${await createToken(['read', 'draft'])}`, '/api/v1/docs/secret.md')).statusCode,
    200,
  );
  for (const url of [
    '/api/v1/docs/first',
    '/api/v1/docs/first.pdf',
    '/api/v1/docs/first.md',
    '/api/v1/collections/book.epub',
    '/api/v1/collections',
    '/api/v1/collections/book',
    '/api/v1/tags',
    '/api/v1/types',
    '/api/v1/openapi.json',
  ])
    t.equal((await ask(undefined, url)).statusCode, 401, url);
  t.equal((await get('/api/v1/docs?access_token=x')).statusCode, 200, 'a token in the address is none');
  t.notMatch(log.join('\n'), /rdocs_/, 'no token in the log');
});

t.test('requests, renders and wrong tokens are limited', async (t) => {
  let now = Date.now();
  const { app, get, createToken } = await openTestApp(t, files, {
    now: () => now,
    limits: { requests: 5, renders: 2, authFailures: 3 },
  });
  const ask = (token: string, url = '/api/v1/docs', remoteAddress = '192.0.2.1') =>
    app.inject({ url, remoteAddress, headers: { host: 'localhost', authorization: `Bearer ${token}` } });
  const token = await createToken();
  for (let left = 4; left >= 0; left--)
    t.equal((await ask(token)).headers['ratelimit'], `"requests";r=${left};t=${12 * (5 - left)}`);
  const limited = await ask(token);
  t.match(limited.json(), { status: 429, detail: /More than 5 requests a minute/ });
  t.equal(limited.headers['retry-after'], '12');
  t.equal((await get('/api/v1/docs')).statusCode, 200, 'another token is another reader');
  now += 12_000;
  t.equal((await ask(token)).statusCode, 200);

  const renderer = await createToken();
  const statuses = [];
  for (const url of ['first.pdf', 'first.pdf', 'second.pdf', 'also.pdf'])
    statuses.push((await ask(renderer, `/api/v1/docs/${url}`)).statusCode);
  t.strictSame(statuses, [200, 200, 200, 429], 'what the cache has is no rendering');
  const both = (await ask(await createToken(), '/api/v1/docs/second.html')).headers;
  t.equal(both['ratelimit-policy'], '"requests";q=5;w=60', 'a text is no rendering that is counted');
  const { headers } = await ask(await createToken(), '/api/v1/docs/undated.pdf');
  t.equal(headers['ratelimit-policy'], '"requests";q=5;w=60, "renders";q=2;w=60');
  t.equal(headers['ratelimit'], '"requests";r=4;t=12, "renders";r=1;t=30');

  for (const want of [401, 401, 401, 429]) t.equal((await ask('rdocs_guess')).statusCode, want);
  t.equal((await ask(await createToken())).statusCode, 200, 'a good token still works from there');
  t.equal((await ask('rdocs_guess', '/api/v1/docs', '192.0.2.2')).statusCode, 401, 'another address');
  for (const want of [401, 401, 401, 429])
    t.equal(
      (await ask('rdocs_x', '/api/v1/docs', `2001:db8:0:1::${want % 7}`)).statusCode,
      want,
      'a /64 is one caller',
    );
  t.equal(
    (await app.inject({ url: '/api/v1/docs', remoteAddress: '192.0.2.1', headers: { host: 'localhost' } }))
      .statusCode,
    401,
    'no token is no guess',
  );
});

/**
 * A rendition of 40 MB, more than sockets hold, in a file that is opened for each reader; and how many have it open.
 */
async function largeRendition(t: Test) {
  const folder = await temporaryFolder(t, { big: Buffer.alloc(40_000_000, 'abcdefghij') });
  const path = join(folder, 'big');
  const handles: FileHandle[] = [];
  const rendition = {
    ...{ etag: '"big"', mediaType: 'application/pdf' },
    cachedSize: () => 40_000_000,
    async openCached() {
      const handle = await open(path);
      handles.push(handle);
      return handle;
    },
    cached: () => readFile(path),
    render: () => readFile(path),
  };
  return { path, rendition, openFiles: () => handles.filter(({ fd }) => fd !== -1).length };
}

t.test('a large file is sent as fast as the client takes it, and only some are sent at once', async (t) => {
  const { path, rendition, openFiles } = await largeRendition(t);
  const { app, createToken, renditions } = await openTestApp(t, files);
  Object.assign(renditions, { pdf: async () => rendition });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  const ask = async (token: string, options: RequestOptions = {}) => {
    const asked = request({
      ...{ port, host: '127.0.0.1', path: '/api/v1/docs/first.pdf', agent: false },
      ...options,
      headers: { host: '127.0.0.1:4000', authorization: `Bearer ${token}`, ...options.headers },
    });
    asked.end();
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    return { response, status: response.statusCode, leave: () => asked.destroy() };
  };
  const none = () =>
    poll(
      async () => openFiles(),
      (count) => count === 0,
    );

  t.test('a file is sent in full, in part, or as headers alone', async (t) => {
    const token = await createToken();
    const whole = await ask(token);
    await unlink(path);
    let size = 0;
    for await (const piece of whole.response) size += piece.length;
    t.equal(size, 40_000_000, 'also if it is deleted meanwhile');
    await writeFile(path, Buffer.alloc(40_000_000, 'abcdefghij'));
    const part = await ask(token, { headers: { range: 'bytes=5-200004' } });
    t.equal(part.response.headers['content-range'], 'bytes 5-200004/40000000');
    const text = (await part.response.setEncoding('utf8').toArray()).join('');
    t.equal(text, 'fghijabcde'.repeat(20_000));
    const head = await ask(token, { method: 'HEAD' });
    t.equal(head.response.headers['content-length'], '40000000');
    head.response.resume();
    const wrong = await ask(token, { headers: { range: 'bytes=40000000-' } });
    t.equal(wrong.status, 416);
    wrong.response.resume();
    await none();
  });
  t.test('at most 32 downloads for a token, and 128 in all', async (t) => {
    const tokens = await Promise.all(Array.from({ length: 5 }, () => createToken()));
    const held = [];
    for (const token of tokens.slice(0, 4)) for (let at = 0; at < 32; at += 1) held.push(await ask(token));
    t.ok(held.every(({ status }) => status === 200));
    t.equal(openFiles(), 128);
    const [first = '', , , , last = ''] = tokens;
    for (const [token, status] of [
      [first, 429],
      [last, 503],
    ] as const) {
      const refused = await ask(token);
      t.equal(refused.status, status);
      t.equal(refused.response.headers['retry-after'], '5');
      refused.response.resume();
    }
    for (const { leave } of held) leave();
    await none();
    const again = await ask(first);
    t.equal(again.status, 200, 'what was given up makes room');
    again.leave();
    await none();
  });
});

/** A listener with bounds in milliseconds, and what its clients see. */
async function openListener(t: Test, bounds: Partial<ListenerBounds>, handler: RequestListener) {
  const listener = await listen('127.0.0.1', 0, {
    ...{ max: 100, maxOfOne: 100, maxStall: 60_000, headersTime: 300, requestTime: 500 },
    isProxy: () => false,
    ...bounds,
  });
  t.teardown(() => listener.close(0));
  const starting = await fetch(addressOf('127.0.0.1', listener.port));
  t.match(starting, { status: 503, statusText: 'Service Unavailable' }, 'the service is starting');
  t.equal(starting.headers.get('retry-after'), '1');
  listener.serve(handler);
  const open = async (text: string, localAddress = '127.0.0.1') => {
    const socket = connect({ port: listener.port, host: '127.0.0.1', localAddress, allowHalfOpen: true });
    t.teardown(() => socket.destroy());
    let received = '';
    socket.on('data', (piece) => (received += piece)).on('error', () => undefined);
    await once(socket, 'connect');
    if (text !== '') socket.write(text);
    return { socket, received: () => received };
  };
  return { open };
}

/** Resolves when the service has let go of the connection, so that a write is answered with a reset. */
async function whenReleased(socket: Socket): Promise<void> {
  await poll(
    async () => socket.destroyed || !socket.write('x'),
    (isOver) => isOver && socket.destroyed,
  );
}

t.test('a client that never completes a request is disconnected', async (t) => {
  const { open } = await openListener(t, {}, async (request, response) => {
    if (request.url === '/body')
      await request
        .resume()
        .toArray()
        .catch(() => []);
    response.end('answered');
  });
  const cases: readonly { name: string; text: string; want: RegExp }[] = [
    { name: 'nothing', text: '', want: /^$/ },
    { name: 'no HTTP', text: 'this is not HTTP\r\n', want: /^HTTP\/1\.1 400 .*not an HTTP request/s },
    { name: 'no end of headers', text: 'GET / HTTP/1.1\r\nHost: x\r\nA', want: /^HTTP\/1\.1 408 .*in time/s },
    {
      name: 'no end of the body',
      text: 'POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx',
      want: /^HTTP\/1\.1 408/,
    },
    {
      name: 'no end of a body that nobody reads',
      text: 'GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx',
      want: /^HTTP\/1\.1 200 .*answered/s,
    },
    {
      name: 'headers that are too long',
      text: `GET / HTTP/1.1\r\nHost: ${'x'.repeat(20_000)}\r\n`,
      want: /^HTTP\/1\.1 431/,
    },
    {
      name: 'another request that is none',
      text: 'GET / HTTP/1.1\r\nHost: x\r\n\r\n???',
      want: /^HTTP\/1\.1 200/,
    },
  ];
  await Promise.all(
    cases.map(async ({ name, text, want }) => {
      const { socket, received } = await open(text);
      await once(socket, 'end');
      await whenReleased(socket);
      t.match(received(), want, name);
    }),
  );
});

t.test(
  'a client that takes nothing is disconnected, but a silent stream stays open',
  where('stalling'),
  async (t) => {
    const streams: ServerResponse[] = [];
    const { open } = await openListener(t, { maxStall: 300 }, (request, response) => {
      if (request.url === '/stream') streams.push(response.writeHead(200));
      else response.end(Buffer.alloc(40_000_000));
      streams.at(-1)?.flushHeaders();
    });
    const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
    const listening = await open(get('/stream'));
    const stalled = await open(get('/'));
    stalled.socket.pause();
    // It is not enough to send something.
    const noise = setInterval(() => stalled.socket.write('\r\n'), 50);
    await new Promise((resolve) => stalled.socket.once('close', resolve));
    clearInterval(noise);
    streams[0]?.write('news');
    await poll(
      async () => listening.received(),
      (text) => text.includes('news'),
    );
    listening.socket.destroy();
  },
);

t.test('with too many connections, the one that keeps the service waiting longest is closed', async (t) => {
  const waiting: ServerResponse[] = [];
  const isProxy = (address: string) => address === '127.0.0.9';
  const times = { headersTime: 60_000, requestTime: 60_000 };
  const { open } = await openListener(t, { max: 6, maxOfOne: 2, isProxy, ...times }, (request, response) => {
    if (request.url === '/slow') waiting.push(response);
    else response.end('answered');
  });
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
  const answered = ({ received }: { readonly received: () => string }) =>
    poll(
      async () => received(),
      (text) => text.includes('answered'),
    );

  const working = await open(get('/slow'));
  await poll(
    async () => waiting.length,
    (count) => count === 1,
  );
  const idle = await open('');
  const third = await open(get('/'));
  await once(idle.socket, 'end');
  await answered(third);
  const others = [await open('', '127.0.0.2'), await open('', '127.0.0.9'), await open('', '127.0.0.9')];
  others.push(await open('', '127.0.0.9'));
  const last = await open(get('/'), '127.0.0.3');
  await once(third.socket, 'end');
  await answered(last);
  t.ok(
    others.every(({ socket }) => !socket.readableEnded),
    'a proxy may have more than one address may',
  );
  waiting[0]?.end('answered');
  await answered(working);
});

t.test('requests need a host name of the service, and an origin of its own', async (t) => {
  const { get } = await openTestApp(t, files, { corsOrigins: ['https://app.example.org'] });
  const cases: readonly [Record<string, string>, number][] = [
    [{ host: '127.0.0.1:4000' }, 200],
    [{ host: 'localhost:9999' }, 200],
    [{ host: '[::1]' }, 200],
    [{ host: 'evil.example' }, 403],
    [{ host: 'localhost.evil.example' }, 403],
    [{ origin: 'http://127.0.0.1:4000' }, 200],
    [{ origin: 'http://localhost:3000' }, 200],
    [{ origin: 'https://evil.example' }, 403],
    [{ origin: 'null' }, 403],
    [{ origin: 'https://app.example.org' }, 200],
  ];
  for (const [headers, want] of cases)
    t.equal((await get('/api/v1/docs', { headers })).statusCode, want, JSON.stringify(headers));
  t.equal((await get('/healthz', { headers: { host: 'anything' } })).statusCode, 200);
  const allowed = await get('/api/v1/docs', { headers: { origin: 'https://app.example.org' } });
  t.equal(allowed.headers['access-control-allow-origin'], 'https://app.example.org');
  t.match(allowed.headers['access-control-expose-headers'], /X-Total-Count/);
  const preflight = await get('/api/v1/docs', {
    method: 'OPTIONS',
    headers: { origin: 'https://app.example.org', 'access-control-request-method': 'GET' },
  });
  t.equal(preflight.statusCode, 204);
  t.match(preflight.headers['access-control-allow-headers'], /Authorization/);
  t.equal(preflight.headers['access-control-allow-methods'], 'GET, HEAD, POST');
  t.equal(preflight.headers['access-control-max-age'], '600');
});

t.test('behind a proxy, the public host name is accepted with and without the default port', async (t) => {
  const { get } = await openTestApp(t, files, { baseUrl: parseBaseUrl('https://docs.example.org') });
  const cases: readonly [string, number][] = [
    ['docs.example.org', 200],
    ['DOCS.example.org:443', 200],
    ['docs.example.org:8443', 403],
    ['localhost', 403],
    ['127.0.0.1:4000', 403],
  ];
  for (const [host, want] of cases)
    t.equal((await get('/api/v1/docs', { headers: { host } })).statusCode, want, host);
  const refused = await get('/api/v1/docs', { headers: { host: 'internal:4000' } });
  t.match(refused.json().detail, 'at https://docs.example.org, and the request has the Host "internal:4000"');
});

t.test('other names of a document redirect to it, on every route', async (t) => {
  const { get, createToken } = await openTestApp(t, {
    'guides/Größe.md': '# Größe\n\nWords.',
    'guides/draft.md': '---\ndraft: true\nslug: hidden\n---\n',
    'undici/README.md': '# undici',
    'collections/book.yaml': 'docs: [undici-readme, undici, guides-größe]',
  });
  for (const ending of ['', '.pdf', '.md', '.html']) {
    const moved = await get(`/api/v1/docs/guides-gr%C3%B6%C3%9Fe${ending}?a=b%20c&d`);
    t.equal(moved.statusCode, 308, ending);
    t.equal(moved.headers['location'], `/api/v1/docs/gr%C3%B6%C3%9Fe${ending}?a=b%20c&d`);
    t.equal(moved.headers['cache-control'], 'no-store', 'it may lead elsewhere later');
    t.match(moved.json(), { status: 308, detail: 'The document has the slug "größe".' });
    t.equal((await get(String(moved.headers['location']))).statusCode, 200);
  }
  t.match((await get('/api/v1/docs/undici')).json(), { slug: 'undici', title: 'undici' });
  t.equal((await get('/api/v1/docs/undici-readme')).headers['location'], '/api/v1/docs/undici');
  t.equal((await get('/api/v1/docs/undici-readme', { method: 'HEAD' })).statusCode, 308);
  t.equal((await get('/api/v1/docs/guides-draft')).statusCode, 404, 'nobody learns the slug of a draft');
  const draft = { authorization: `Bearer ${await createToken(['read', 'draft'])}` };
  t.equal(
    (await get('/api/v1/docs/guides-draft', { headers: draft })).headers['location'],
    '/api/v1/docs/hidden',
  );
  t.match(
    (await get('/readyz')).json(),
    { documents: 2, problems: 0 },
    'a collection may use these names too',
  );
});

t.test('which addresses count as a trusted proxy', async (t) => {
  const cases: readonly { proxies: readonly string[]; yes: readonly string[]; no: readonly string[] }[] = [
    { proxies: [], yes: [], no: ['127.0.0.1', '::1', ''] },
    { proxies: ['192.0.2.1'], yes: ['192.0.2.1', '::ffff:192.0.2.1'], no: ['192.0.2.2', '::1'] },
    {
      proxies: ['10.0.0.0/8', '2001:db8::/32'],
      yes: ['10.9.8.7', '2001:db8:1::1'],
      no: ['11.0.0.1', '2001:db9::1'],
    },
    { proxies: ['loopback'], yes: ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'], no: ['10.0.0.1'] },
    {
      proxies: ['uniquelocal', 'linklocal'],
      yes: ['172.18.0.2', '192.168.1.1', 'fd00::1', 'fe80::1'],
      no: ['127.0.0.1'],
    },
  ];
  for (const { proxies, yes, no } of cases) {
    const isProxy = createProxyCheck(proxies);
    for (const address of yes) t.ok(isProxy(address), `${proxies}: ${address}`);
    for (const address of no) t.notOk(isProxy(address), `${proxies}: ${address}`);
  }
});

t.test('a caller is an IPv4 address or the /64 of an IPv6 address, however it is written', async (t) => {
  const callers: Readonly<Record<string, string>> = {
    '192.0.2.7': '192.0.2.7',
    '::ffff:192.0.2.7': '192.0.2.7',
    '2001:db8:1:2:3:4:5:6': '2001:db8:1:2::/64',
    '2001:db8:1:2::6': '2001:db8:1:2::/64',
    '2001:0DB8:0001:0002::': '2001:db8:1:2::/64',
    '2001:db8::1:2:3:4:5': '2001:db8:0:1::/64',
    '2001:db8::5': '2001:db8:0:0::/64',
    '2001:db8::3:4:5:192.0.2.7': '2001:db8:0:3::/64',
    '::1': '0:0:0:0::/64',
    'fe80::1%eth0': 'fe80:0:0:0::/64',
    'no address': 'no address',
  };
  for (const [address, want] of Object.entries(callers)) t.equal(callerOf(address), want, address);
});

t.test('a limit fills again evenly, and forgets who came least recently of very many', async (t) => {
  let now = 10_000_000;
  const limiter = new RateLimiter(6, () => now);
  const first = { isAllowed: true, remaining: 5, resetAfter: 10 };
  t.strictSame(limiter.take('a'), first, 'ten seconds for each of six');
  for (let taken = 0; taken < 5; taken++) limiter.take('a');
  now -= 3_600_000;
  t.strictSame(
    limiter.take('a'),
    { isAllowed: false, remaining: 0, resetAfter: 10 },
    'the clock is set back',
  );
  now += 9_999;
  t.strictSame(limiter.take('a'), { isAllowed: false, remaining: 0, resetAfter: 1 });
  now += 1;
  t.strictSame(limiter.take('a'), { isAllowed: true, remaining: 0, resetAfter: 60 });
  now += 3_600_000;
  t.strictSame(limiter.take('a'), first, 'it is never fuller than full');
  const few = new RateLimiter(1, () => 0);
  for (let at = 0; at < 100_000; at++) few.take(`caller ${at}`);
  t.notOk(few.take('caller 0').isAllowed, 'as many as are kept');
  few.take('one more');
  t.notOk(few.take('caller 0').isAllowed, 'it came again');
  t.ok(few.take('caller 1').isAllowed);
});

t.test('/healthz and /readyz', async (t) => {
  let hasFailed = false;
  const contents = {
    ...files,
    'bad.md': '---\ndate: x\n---\n',
    'odd.md': '---\ndraft: yes\ndate: 2026/01/01\n---\n',
  };
  const { app, createToken, get, index } = await openTestApp(t, contents, { hasFailed: () => hasFailed });
  const away = { remoteAddress: '192.0.2.7' };
  const parts = ['tags', 'types', 'collections', 'collections/book', 'collections/book.epub'];
  t.match((await get('/healthz')).json(), { status: 'ok' });
  t.strictSame(
    (await get('/readyz')).json(),
    { documents: 5, problems: 2, warnings: 4 },
    'two drafts in collections; three odd values and a picture that is not there',
  );
  const asked = [
    ['a stranger', { remoteAddress: '192.0.2.7' }, { status: 'ready' }],
    ['through a proxy here', { headers: { 'x-forwarded-for': '192.0.2.7' } }, { status: 'ready' }],
    ['this machine', {}, { documents: 5 }],
    ['a wrong token', { ...away, headers: { authorization: 'Bearer no' } }, { status: 'ready' }],
    ['a token', { ...away, headers: { authorization: `Bearer ${await createToken()}` } }, { documents: 5 }],
  ] as const;
  for (const [name, more, want] of asked) {
    const { body } = await app.inject({ url: '/readyz', ...more });
    t.match(JSON.parse(body), want, name);
    t.equal('documents' in JSON.parse(body), 'documents' in want, name);
  }
  t.teardown(beginAnew(index));
  const making = await get('/readyz');
  t.equal(making.statusCode, 503, 'the first index is not complete');
  t.strictSame(making.json(), { documents: 0, problems: 0, warnings: 0 });
  hasFailed = true;
  t.match((await get('/readyz')).json(), { documents: 0, reason: /index failed/ });
  hasFailed = false;
  for (const path of ['', '?q=words', '?path=a', '/none'].map((end) => `docs${end}`).concat(parts)) {
    const answer = await get(`/api/v1/${path}`);
    t.match(answer.json(), { status: 503, detail: /^The library is being read for the first time/ }, path);
    t.equal(answer.headers['retry-after'], '5', path);
  }
  t.equal((await get('/llms.txt')).statusCode, 503);
  t.equal((await get('/api/v1/docs/first')).statusCode, 200, 'a document that was read already');
  Object.assign(index, { summary: () => new Promise(() => undefined) });
  t.equal((await get('/readyz')).statusCode, 503, 'the database hangs');
  Object.assign(index, {
    summary: () => Promise.reject(new IndexUnavailableError('away')),
    list: () => Promise.reject(new IndexUnavailableError('away')),
  });
  t.strictSame((await get('/readyz')).json(), { documents: 0, problems: 0, warnings: 0 });
  const answer = await get('/api/v1/docs');
  t.match(answer.json(), { status: 503 });
  t.equal(answer.headers['retry-after'], '5');
});

t.test('an internal error is logged, and the client learns nothing about it', async (t) => {
  const { get, index, log } = await openTestApp(t, files);
  Object.assign(index, { list: () => Promise.reject(new Error('secret detail at /home/x')) });
  const answer = await get('/api/v1/docs');
  t.equal(answer.statusCode, 500);
  t.notMatch(answer.body, /secret detail/);
  t.match(log.join('\n'), /secret detail/);
});

t.test('openapi.json describes the actual answers', async (t) => {
  const { get } = usual;
  const { json } = await get('/api/v1/openapi.json');
  const description = json();
  const { default: Ajv } = await import('ajv/dist/2020.js');
  const ajv = new Ajv({ strict: false, formats: { uri: true } });
  ajv.addSchema(description, 'openapi');
  const range = { range: 'bytes=999999999-' };
  const docs = '/api/v1/docs';
  const books = '/api/v1/collections';
  const asked: readonly [string, string, string, Record<string, string>?][] = [
    [docs, docs, '200'],
    [`${docs}?q=words`, docs, '200'],
    [`${docs}?limit=0`, docs, '400'],
    [`${docs}/first`, `${docs}/{slug}`, '200'],
    [`${docs}/none`, `${docs}/{slug}`, '404'],
    [`${docs}/first.pdf?paper=a0`, `${docs}/{slug}.pdf`, '400'],
    [`${docs}/first.pdf`, `${docs}/{slug}.pdf`, '416', range],
    [books, books, '200'],
    [`${books}/book`, `${books}/{name}`, '200'],
    [`${books}/none`, `${books}/{name}`, '404'],
    [`${books}/book.epub`, `${books}/{name}.epub`, '416', range],
    ...['/api/v1/tags', '/api/v1/types', '/readyz', '/healthz'].map((url): [string, string, string] => [
      url,
      url,
      '200',
    ]),
  ];
  for (const [url, path, status, headers = {}] of asked) {
    const answer = await get(url, { headers });
    t.equal(String(answer.statusCode), status, url);
    const type = String(answer.headers['content-type']).split(';')[0] ?? '';
    const steps = ['paths', path, 'get', 'responses', status, 'content', type, 'schema'];
    const pointer = steps.map((step) => step.replaceAll('~', '~0').replaceAll('/', '~1')).join('/');
    const validate = ajv.compile({ $ref: `openapi#/${encodeURI(pointer)}` });
    t.ok(validate(answer.json()), `${url}: ${JSON.stringify(validate.errors)}`);
  }
  const responseOf = (path: string, { statusCode }: { readonly statusCode: number }) =>
    description.paths[path].get.responses[String(statusCode)];
  const text = responseOf('/api/v1/docs/{slug}.md', { statusCode: 200 }).content['text/markdown'];
  t.strictSame(text.schema, { type: 'string' }, 'Markdown is a text, and no bytes');
  t.equal(
    description.components.schemas.Document.properties.matched.anyOf[0].$ref,
    '#/components/schemas/Matched',
  );
  const page = await get('/docs', { headers: { authorization: '' } });
  t.match(page.headers['content-type'], /^text\/html/);
  for (const path of Object.keys(description.paths))
    t.match(page.body, new RegExp(path.replace(/[{}.]/g, '\\$&')));
  t.notMatch(page.body, /First steps|<script/, 'it shows no data');
  t.match((await get('/', { headers: { authorization: '' } })).body, /runner-docs/);
});

t.test('what generated clients are made from changes only on purpose', async (t) => {
  const { json } = await usual.get('/api/v1/openapi.json');
  const { actual, accepted } = golden('openapi.json', withoutProse(json()));
  t.strictSame(JSON.parse(actual), JSON.parse(accepted || '{}'), 'ACCEPT=1 accepts a change');
});
