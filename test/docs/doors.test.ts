import { marked } from 'marked';
import { SaxesParser } from 'saxes';
import t from 'tap';
import { parseBaseUrl } from '../../docs-service/base/baseUrl.ts';
import { type LlmsList, llmsText } from '../../docs-service/http/open/llmsRoute.ts';
import { sitemapFiles } from '../../docs-service/http/open/publicRoutes.ts';
import { openTestApp } from '../support/docsApp.ts';
import { documentOf } from '../support/documents.ts';
import { hostileMarks } from '../support/hostileMarks.ts';
import { openLibrary } from '../support/openLibrary.ts';
import { openSession, readingLibrary } from '../support/readingLibrary.ts';

const host = { host: '127.0.0.1:4000' };

t.test('/llms.txt lists what the asker may read', async (t) => {
  const { app, access, createToken, get } = await openTestApp(t, readingLibrary);
  const session = await openSession(access.owners);
  const ask = (headers: Record<string, string>, url = '/llms.txt') =>
    app.inject({ url, headers: { ...host, ...headers } });
  const bearer = async (...scopes: Parameters<typeof createToken>) => ({
    authorization: `Bearer ${await createToken(...scopes)}`,
  });

  const read = await get('/llms.txt');
  t.equal(read.statusCode, 200);
  t.equal(read.headers['content-type'], 'text/plain; charset=utf-8');
  t.match(read.headers['vary'], 'Cookie');
  t.match(read.body, /^# runner-docs\n\n> A library of 5 documents\.\n\n\S/);
  t.same(
    [...read.body.matchAll(/^## (.*)$/gm)].map(([, title]) => title?.slice(0, 22)),
    ['The handbook of models', 'Models \\</title\\>\\</st', 'Other documents'],
    'a section for each collection that has documents, and one for the rest',
  );
  t.match(
    read.body,
    '- [Choosing a local model](http://127.0.0.1:4000/api/v1/docs/guide.md): What fits into your memory',
  );
  t.notMatch(read.body, 'A plan for models', 'a draft');
  for (const [, address = ''] of read.body.matchAll(/\]\((http[^)]+)\)/g))
    t.equal((await get(new URL(address).pathname)).statusCode, 200, address);

  const drafts = await ask(await bearer(['read', 'draft']));
  t.match(drafts.body, '- [A plan for models](http://127.0.0.1:4000/api/v1/docs/draft.md): a draft\n');
  const owner = await ask({ cookie: `${session.name}=${session.value}` });
  t.match(owner.body, '- [A plan for models](http://127.0.0.1:4000/read/draft.md): a draft\n');

  t.equal((await ask({})).statusCode, 401, 'nothing is public');
  t.match((await ask({})).headers['www-authenticate'], 'resource_metadata=');
  t.equal((await ask({ authorization: 'Bearer wrong' })).statusCode, 401);
  const wrong = { authorization: 'Bearer wrong', cookie: `${session.name}=${session.value}` };
  t.equal((await ask(wrong)).statusCode, 401, 'a wrong token counts, whatever the cookie');
  t.equal((await ask(await bearer(['profile']))).statusCode, 403);
  t.equal((await ask({ cookie: `${session.name}=wrong` })).statusCode, 401);

  const etag = String(read.headers['etag']);
  const again = await get('/llms.txt', { headers: { 'if-none-match': etag } });
  t.match([again.statusCode, again.body], [304, '']);
  t.not(drafts.headers['etag'], etag);
  const head = await get('/llms.txt', { method: 'HEAD' });
  t.match([head.statusCode, head.body, head.headers['etag']], [200, '', etag]);
});

async function textOf(
  list: Partial<LlmsList> & { readonly documents: readonly ReturnType<typeof documentOf>[] },
) {
  const { documents, ...more } = list;
  const sections = (async function* () {
    yield { title: hostileMarks.title, documents: pieces(documents) };
  })();
  const addressOf = (slug: string) => `https://docs.example/${slug}`;
  let text = '';
  const asked = { title: 'Library', summary: 'All.', about: 'Read.', sections, addressOf, ...more };
  for await (const piece of llmsText(asked)) text += piece;
  return text;
}

async function* pieces<Item>(items: readonly Item[]) {
  yield items;
}

t.test('titles and descriptions in /llms.txt are text, whatever they contain', async (t) => {
  const marks = [
    ...Object.values(hostileMarks),
    '](https://evil.example) [x',
    '\n\n## A section\n- [a](https://evil.example)',
    '\u2028## A section',
    '`code` *b* _c_ ~~d~~ | e | <b>f</b> &lt; &amp;copy; \\',
    '![x](https://evil.example/x.png)',
    'https://evil.example www.evil.example HTTP://evil.example a@evil.example',
    '[x]: https://evil.example',
    '1. one',
    '- one',
    '=====',
    '\u202eturned',
  ];
  const documents = marks.map((mark, at) => documentOf(`d-${at}`, '', { title: mark, description: mark }));
  const text = await textOf({ documents, title: marks[7] ?? '' });
  const tokens = marked.lexer(text).filter(({ type }) => type !== 'space');
  t.same(
    tokens.map(({ type }) => type),
    ['heading', 'blockquote', 'paragraph', 'heading', 'list'],
  );
  const links: string[] = [];
  const kinds = new Set<string>();
  marked.walkTokens(tokens, (token) => {
    if (token.type === 'link') links.push(token.href);
    kinds.add(token.type);
  });
  t.same(
    links,
    documents.map(({ slug }) => `https://docs.example/${slug}`),
  );
  t.same(
    [...kinds].sort(),
    ['blockquote', 'escape', 'heading', 'link', 'list', 'list_item', 'paragraph', 'text'],
    'nothing else is active',
  );
  t.notMatch(text, /[\u202a-\u202e\u2028]/);
});

t.test('a list is made while it is sent', async (t) => {
  let made = 0;
  const documents = (async function* () {
    for (; made < 200; made++)
      yield Array.from({ length: 500 }, (_, at) => documentOf(`d-${made * 500 + at}`, ''));
  })();
  const sections = (async function* () {
    yield { title: 'All', documents };
  })();
  const addressOf = (slug: string) => `https://docs.example/${slug}`;
  const text = llmsText({ title: 'Library', summary: 'All.', about: 'Read.', sections, addressOf });
  await text.next();
  t.match((await text.next()).value, '## All\n\n- [d-0](https://docs.example/d-0)\n');
  t.equal(made, 0, 'the first piece is sent before the second is made');
  let lines = 0;
  for await (const piece of text) lines += piece.split('\n').length - 1;
  t.equal(lines, 99_500);
});

interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: XmlElement[];
  text: string;
}

/** By a strict parser. Throws if the text is not well-formed. */
function parseXml(text: string): XmlElement {
  const root: XmlElement = { name: '', attributes: {}, children: [], text: '' };
  const open = [root];
  const parser = new SaxesParser();
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ name, attributes }) => {
    const element = { name, attributes, children: [], text: '' };
    open.at(-1)?.children.push(element);
    open.push(element);
  });
  parser.on('closetag', () => void open.pop());
  parser.on('text', (more) => {
    const last = open.at(-1);
    if (last) last.text += more;
  });
  parser.write(text).close();
  return root.children[0] ?? root;
}

/** What RFC 4287 requires of a feed, as far as this one uses it. */
function problemsOfFeed(feed: XmlElement): readonly string[] {
  const problems: string[] = [];
  const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
  const check = (
    { name, children }: XmlElement,
    allowed: Readonly<Record<string, readonly [number, number]>>,
  ) => {
    for (const [child, [least, most]] of Object.entries(allowed)) {
      const count = children.filter((one) => one.name === child).length;
      if (count < least || count > most) problems.push(`${name} has ${count} ${child}`);
    }
    for (const child of children) {
      if (!(child.name in allowed)) problems.push(`${name} has ${child.name}`);
      if (['updated', 'published'].includes(child.name) && !instant.test(child.text))
        problems.push(`${child.name}: ${child.text}`);
      if (child.name === 'id' && !URL.canParse(child.text)) problems.push(`id ${child.text}`);
      if (child.name === 'link' && !URL.canParse(child.attributes['href'] ?? ''))
        problems.push(`link ${child.attributes['href']}`);
      if (child.name === 'category' && !child.attributes['term']) problems.push('category without term');
      if (child.name === 'author' && child.children.map(({ name: one }) => one).join() !== 'name')
        problems.push('author');
    }
  };
  const shared = { id: [1, 1], title: [1, 1], updated: [1, 1], link: [1, 2], category: [0, 99] } as const;
  check(feed, { ...shared, subtitle: [0, 1], author: [1, 1], entry: [0, 100] });
  for (const entry of feed.children.filter(({ name }) => name === 'entry'))
    check(entry, { ...shared, published: [0, 1], author: [0, 99], summary: [0, 1] });
  const ids = feed.children
    .flatMap(({ children }) => children.filter(({ name }) => name === 'id'))
    .map(({ text }) => text);
  if (new Set(ids).size < ids.length) problems.push('an id stands twice');
  if (feed.attributes['xmlns'] !== 'http://www.w3.org/2005/Atom') problems.push('xmlns');
  return problems;
}

function textIn({ children }: XmlElement, ...path: readonly string[]): readonly string[] {
  const [name, ...rest] = path;
  const found = children.filter((one) => one.name === name);
  return rest.length === 0 ? found.map(({ text }) => text) : found.flatMap((one) => textIn(one, ...rest));
}

const base = parseBaseUrl('https://docs.example.org/library');

t.test('the feed of a collection', async (t) => {
  const hostile = {
    'hostile.md': readingLibrary['hostile.md'] ?? '',
    'collections/hostile.yaml': `title: '${hostileMarks.title}'\ndescription: '${hostileMarks.description}'\npublic: true\ndocs: [hostile]\n`,
    'collections/empty.yaml': 'title: Empty\npublic: true\ndocs: [halcyon]\n',
  };
  const { app } = await openTestApp(
    t,
    { ...openLibrary, ...hostile },
    { baseUrl: base, look: { title: 'Pages' } },
  );
  const ask = (path: string, headers: Record<string, string> = {}) =>
    app.inject({ url: `/library${path}`, headers: { host: base.host, ...headers } });
  const answer = await ask('/read/collections/handbook/feed.atom');
  t.equal(answer.headers['content-type'], 'application/atom+xml; charset=utf-8');
  const feed = parseXml(answer.body);
  t.same(problemsOfFeed(feed), []);
  t.same(textIn(feed, 'title'), ['The handbook']);
  t.same(textIn(feed, 'author', 'name'), ['Grace Hopper']);
  const titles = textIn(feed, 'entry', 'title');
  t.same(titles, ['Undated', 'Next steps', 'First steps'], 'the newest first; one without a date is new');
  t.same(textIn(feed, 'entry', 'updated').slice(1), ['2026-11-20T09:00:00.000Z', '2026-11-02T00:00:00.000Z']);
  t.same(textIn(feed, 'entry', 'id').at(-1), `${base.href}/read/start`);
  t.same(
    feed.children.filter(({ name }) => name === 'link').map(({ attributes }) => attributes['href']),
    [`${base.href}/read/collections/handbook/feed.atom`, `${base.href}/read/collections/handbook`],
  );
  const etag = String(answer.headers['etag']);
  const again = await ask('/read/collections/handbook/feed.atom', { 'if-none-match': etag });
  t.match([again.statusCode, again.body, again.headers['etag']], [304, '', etag]);
  for (const name of ['hostile', 'empty', 'guides']) {
    const { body } = await ask(`/read/collections/${name}/feed.atom`);
    t.same(problemsOfFeed(parseXml(body)), [], name);
  }
  const { body } = await ask('/read/collections/empty/feed.atom');
  t.match(body, '<author><name>Pages</name></author>');
});

t.test('the sitemap, the search description and robots.txt', async (t) => {
  for (const baseUrl of [base, parseBaseUrl('http://127.0.0.1:4000')]) {
    const { app } = await openTestApp(t, openLibrary, {
      baseUrl,
      look: { title: 'The long & <wide> name of it' },
    });
    const ask = (path: string) => app.inject({ url: baseUrl.path + path, headers: { host: baseUrl.host } });
    const map = await ask('/sitemap.xml');
    t.equal(map.headers['content-type'], 'application/xml; charset=utf-8');
    const parsed = parseXml(map.body);
    t.equal(parsed.attributes['xmlns'], 'http://www.sitemaps.org/schemas/sitemap/0.9');
    const { href } = baseUrl;
    t.same(textIn(parsed, 'url', 'loc'), [
      `${href}/read`,
      `${href}/read/collections/guides`,
      `${href}/read/collections/handbook`,
      `${href}/read/start`,
      `${href}/read/next`,
      `${href}/read/undated`,
    ]);
    t.same(textIn(parsed, 'url', 'lastmod'), ['2026-11-02T00:00:00.000Z', '2026-11-20T09:00:00.000Z']);
    for (const address of textIn(parsed, 'url', 'loc'))
      t.equal(
        (await app.inject({ url: new URL(address).pathname, headers: { host: baseUrl.host } })).statusCode,
        200,
        address,
      );
    t.equal((await ask('/sitemap.xml?part=2')).statusCode, 404);

    const search = await ask('/opensearch.xml');
    t.equal(search.headers['content-type'], 'application/opensearchdescription+xml; charset=utf-8');
    const description = parseXml(search.body);
    t.same(textIn(description, 'ShortName'), ['The long & <wide']);
    const template = description.children.find(({ name }) => name === 'Url')?.attributes['template'] ?? '';
    t.equal(template, `${href}/read?q={searchTerms}`);
    t.match((await ask('/read?q=lantern')).body, '2 documents');

    const robots = await ask('/robots.txt');
    if (baseUrl.path === '') t.match(robots.body, `Disallow: /read?\n`);
    if (baseUrl.path === '') t.match(robots.body, `\nSitemap: ${href}/sitemap.xml\n`);
    else t.equal(robots.statusCode, 404, 'robots look for it elsewhere');

    const list = await ask('/llms.txt');
    t.match(
      list.body,
      '# The long \\& \\<wide\\> name of it\n\n> The public part of a library: 3 documents.\n',
    );
    t.match(list.body, `- [First steps](${href}/read/start): How to begin.\n`);
    t.match(list.body, '\n## The handbook\n\n- [Undated]');
  }
});

t.test('a feed has the newest hundred, and says of each what is known', async (t) => {
  const slugs = Array.from({ length: 102 }, (_, at) => `d-${String(at).padStart(3, '0')}`);
  const more: Readonly<Record<string, string>> = {
    'd-000': 'date: 1999-01-01\nauthors: [Ada, "\\u0007"]\ntags: [A]\nlang: en\ndescription: About it.',
    'd-001': 'title: Undated',
    'd-002': 'date: 2000-01-01\nupdated: 2026-06-01T00:00:00Z',
  };
  const files = slugs.map((slug, at) => [
    `${slug}.md`,
    `---\n${more[slug] ?? `date: 19${99 - Math.floor(at / 2)}-01-01`}\n---\n`,
  ]);
  const collection = `title: C\nlang: de\npublic: true\ndocs: [${slugs.toReversed()}]\n`;
  const { app } = await openTestApp(t, { ...Object.fromEntries(files), 'collections/c.yaml': collection });
  const { body } = await app.inject({ url: '/read/collections/c/feed.atom', headers: host });
  const feed = parseXml(body);
  t.same(problemsOfFeed(feed), []);
  t.same(
    textIn(feed, 'entry', 'id').map((id) => id.split('/').at(-1)),
    ['d-001', 'd-002', 'd-000', ...slugs.slice(3, 100)],
    'of the same day in the order of their names',
  );
  t.equal(feed.attributes['xml:lang'], 'de');
  const entryOf = (slug: string) =>
    feed.children.find((one) => one.name === 'entry' && textIn(one, 'id')[0]?.endsWith(slug)) ?? feed;
  t.same(textIn(entryOf('d-000'), 'author', 'name'), ['Ada'], 'an author without a visible name is left out');
  t.same(textIn(entryOf('d-000'), 'summary'), ['About it.']);
  t.equal(entryOf('d-000').attributes['xml:lang'], 'en');
  t.same(textIn(feed, 'updated'), textIn(entryOf('d-001'), 'updated'), 'one without a date is new');
  t.same(textIn(entryOf('d-001'), 'published'), [], 'nobody said when');
  t.same(textIn(entryOf('d-002'), 'published'), ['2000-01-01T00:00:00.000Z']);
});

t.test('a sitemap of more than one file', async (t) => {
  const documents = Array.from({ length: 60_000 }, (_, at) => ({
    ...documentOf(`d-${at}`, ''),
    path: `${at}.md`,
  }));
  const library = { collections: [], documents, bySlug: new Map(), has: () => true };
  const [index = '', ...files] = sitemapFiles(library, 'https://docs.example');
  t.same(textIn(parseXml(index), 'sitemap', 'loc'), [
    'https://docs.example/sitemap.xml?part=1',
    'https://docs.example/sitemap.xml?part=2',
  ]);
  const parts = files.map((file) => textIn(parseXml(file), 'url', 'loc'));
  t.same(
    parts.map(({ length }) => length),
    [50_000, 10_001],
  );
  t.equal(new Set(parts.flat()).size, 60_001);
});
