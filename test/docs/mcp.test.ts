import { EventEmitter, once } from 'node:events';
import { STATUS_CODES } from 'node:http';
import fastify from 'fastify';
import t from 'tap';
import { parseBaseUrl } from '../../docs-service/base/baseUrl.ts';
import { RendererBusyError } from '../../docs-service/formats/renderer.ts';
import { UnrenderableError } from '../../docs-service/formats/renderJob.ts';
import { mountMcp } from '../../docs-service/http/mcp/mcpRoute.ts';
import { answerErrors } from '../../docs-service/http/problems.ts';
import {
  IndexUnavailableError,
  type SearchHit,
  type SearchPage,
} from '../../docs-service/search/documentIndex.ts';
import { openTestApp } from '../support/docsApp.ts';
import { beginAnew } from '../support/docsLibrary.ts';
import { documentOf } from '../support/documents.ts';
import { golden, withoutProse } from '../support/golden.ts';
import { markdownReaders, unlistedIn } from '../support/markdownReaders.ts';
import { connectClient, connectNewerClient, listenForMcp, textOf } from '../support/mcpClients.ts';
import { writeFiles } from '../support/temporaryFolder.ts';

const fence = ['```js', 'const one = 1;', '', 'const two = 2;', '```'].join('\n');
const files = {
  'first.md': `---\ntitle: First steps\ntype: guide\ntags: [News]\ndate: 2026-01-02\n---\n# Begin\n\nWords about <script>alert(1)</script>this.\n\n## Part 7\n\n${fence}\n\n### Deeper\n\nMore.\n\n## The end\n\nLast 🎉.\n`,
  'second.md': '---\ntitle: Second [one]\ntype: note\ndate: 2026-03-01\n---\nMore words.\n',
  'größe.md': '# Größe\n',
  'secret.md': '---\ntitle: Secret plan\ndraft: true\n---\nHush, words.\n',
  'long.md': `# Long\n\n${Array.from({ length: 300 }, (_, at) => `Paragraph ${at} has some text.`).join('\n\n')}\n`,
  'collections/book.yaml': 'title: The book\ndescription: All of it.\ndocs: [first, second, secret]',
  'collections/guides.yaml': 'query: { type: guide }',
};

type Options = Parameters<typeof openTestApp>;

async function openMcp(t: Options[0], overrides: Options[2] = {}, more: Options[1] = {}) {
  const test = await openTestApp(t, { ...files, ...more }, overrides);
  return { ...test, url: await listenForMcp(test.app) };
}

/** For all tests that only read. No wrong token of theirs counts against another. */
const shared = await openMcp(t, { limits: { requests: 10_000, renders: 10_000, authFailures: 1_000 } });

const hostile = {
  'tag.md': 'needle <img src=x title="\n| a | b | c |\n|---|---|\n" onerror=alert(1)>',
  'link.md': '[needle](\n javascript:alert(1)\n)| a | b |\n|---|---|\n| ',
  'fence.md': `\`\`\`\n${'code '.repeat(100)}\n<img src=x onerror=alert(1)> needle\n\`\`\``,
  'deep.md': `${'>'.repeat(200)} needle <b>`,
  'good.md': 'A [needle](first.md) in `Map<string>`.',
};

/** For tests of these files, and for those that change something. */
const other = await openMcp(
  t,
  { trustProxy: ['127.0.0.1'] },
  {
    ...hostile,
    'guides/README.md': '# Guides\n',
    'guides/secret.md': '---\nslug: hidden\ndraft: true\n---\n',
    'title.md': '---\ntitle: <img src=x onerror=alert(1)> [a](javascript:alert(1))\n---\nWords.\n',
  },
);

/** Sends one message as a program does that knows no SDK. */
async function post(
  url: URL,
  token: string | undefined,
  body: unknown,
  headers: Record<string, string> = {},
) {
  return fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

t.test('what the server says about itself and its tools', async (t) => {
  const { url, createToken } = shared;
  const client = await connectClient(t, url, await createToken());
  const instructions = client.getInstructions() ?? '';
  t.match(instructions, /search_docs.*get_doc_markdown.*list_collections/s);
  t.ok(instructions.length <= 512);
  t.match(client.getServerVersion(), { name: 'runner-docs', title: 'Documents' });
  const { tools } = await client.listTools();
  t.strictSame(
    tools.map(({ name }) => name),
    ['search_docs', 'get_doc_markdown', 'list_collections'],
  );
  const { prompts } = await client.listPrompts();
  t.match(prompts, [{ name: 'answer_from_docs', arguments: [{ name: 'question', required: true }] }]);
  const { messages } = await client.getPrompt({ name: 'answer_from_docs', arguments: { question: 'Why?' } });
  t.match(messages, [
    {
      role: 'user',
      content: { type: 'text', text: /search_docs\. Ask the question as it is[\s\S]*Question: Why\?$/ },
    },
  ]);
  await t.rejects(client.getPrompt({ name: 'answer_from_docs' }), { code: -32_602 });
  await t.rejects(client.getPrompt({ name: 'other' }), { code: -32_602, message: /answer_from_docs/ });
  await t.rejects(client.callTool({ name: 'delete_docs' }), { code: -32_602, message: /There is no tool/ });
});

t.test('connectors that look for two tools get them if the operator says so', async (t) => {
  const pages = {
    'guide.md': '---\ntype: guide\ntags: [One]\n---\n# A guide\n\nHow to plant a needle.\n',
    'fits.md': `# Fits\n\n${'x '.repeat(99_995)}yz`,
    'long.md': `# Long\n\n${'x '.repeat(99_995)}y😀`,
  };
  const { url, createToken } = await openMcp(t, { hasConnectorTools: true }, pages);
  const client = await connectClient(t, url, await createToken());
  const names = (await client.listTools()).tools.map(({ name }) => name);
  t.strictSame(names, ['search_docs', 'get_doc_markdown', 'list_collections', 'search', 'fetch']);
  const call = async (name: string, args: object) => client.callTool({ name, arguments: { ...args } });
  const found = await call('search', { query: 'needle' });
  t.match(found.structuredContent, {
    results: [{ id: 'guide', title: 'A guide', url: /^http.*\/read\/guide$/, text: /needle/ }],
  });
  t.match((await call('fetch', { id: 'guide' })).structuredContent, {
    id: 'guide',
    title: 'A guide',
    text: /How to plant a needle/,
    url: /\/read\/guide$/,
    metadata: { type: 'guide', tags: ['One'] },
  });
  const long = await call('fetch', { id: 'long' });
  t.match(
    long.structuredContent,
    { text: /^.{199999}$/s, metadata: { isCut: true } },
    'half a sign is left out',
  );
  const fits = (await call('fetch', { id: 'fits' })).structuredContent as { text: string; metadata: object };
  t.equal(fits.text.length, 200_000);
  t.notOk('isCut' in fits.metadata);
  t.match(await call('fetch', { id: 'guides' }), { isError: true, content: [{ text: /"guide"|guide/ }] });
  t.match(await call('search', {}), { isError: true, content: [{ text: /"query" is missing/ }] });
});

t.test('what agents are told about tools, prompts and resources changes only on purpose', async (t) => {
  const { url, createToken } = await openMcp(t, { hasConnectorTools: true });
  const client = await connectClient(t, url, await createToken());
  const [{ tools }, { prompts }, { resourceTemplates }] = await Promise.all([
    client.listTools(),
    client.listPrompts(),
    client.listResourceTemplates(),
  ]);
  const { actual, accepted } = golden('mcp.json', withoutProse({ tools, prompts, resourceTemplates }));
  t.strictSame(JSON.parse(actual), JSON.parse(accepted || '{}'), 'ACCEPT=1 accepts a change');
  const found = await client.callTool({ name: 'search_docs', arguments: { query: 'words' } });
  t.notMatch(found.structuredContent, { notice: String }, 'nothing is missing');
});

t.test('prompts and their completion', async (t) => {
  const { url, createToken } = shared;
  const client = await connectClient(t, url, await createToken());
  const ask = (question: string) => client.getPrompt({ name: 'answer_from_docs', arguments: { question } });
  t.match((await ask(` ${'x'.repeat(10_000)} `)).messages[0]?.content, { text: /Question: x{10000}$/ });
  await t.rejects(ask('x'.repeat(10_001)), { code: -32_602, message: /at most 10000 characters/ });
  await t.rejects(ask('  '), { code: -32_602, message: /"question" is missing/ });
  const complete = (name: string) =>
    client.complete({ ref: { type: 'ref/prompt', name }, argument: { name: 'question', value: 'W' } });
  t.strictSame((await complete('answer_from_docs')).completion, { values: [], hasMore: false });
  await t.rejects(complete('other'), { code: -32_602, message: /There is no prompt "other"/ });
});

t.test('an excerpt is sanitised on its own', async (t) => {
  const { url, createToken } = other;
  const client = await connectClient(t, url, await createToken());
  const { structuredContent } = await client.callTool({
    name: 'search_docs',
    arguments: { query: 'needle' },
  });
  const { results } = structuredContent as { results: { slug: string; snippet: string }[] };
  t.equal(results.length, 5);
  for (const { slug, snippet } of results)
    for (const { name, print } of markdownReaders)
      t.strictSame(unlistedIn(print(snippet)), [], `${slug}, read by ${name}`);
  t.equal(results.find(({ slug }) => slug === 'good')?.snippet, hostile['good.md']);
});

t.test('a document can be read by each of its names, its addresses and its path', async (t) => {
  const { url, createToken } = other;
  const client = await connectClient(t, url, await createToken());
  const read = async (slug: string) => client.callTool({ name: 'get_doc_markdown', arguments: { slug } });
  const base = 'http://127.0.0.1:4000';
  for (const reference of [
    'guides-readme',
    `${base}/read/guides`,
    `${base}/read/guides?x#part`,
    ...['', '.md', '.html', '.pdf'].map((ending) => `${base}/api/v1/docs/guides${ending}`),
    'docs://doc/guides#part',
    'guides/README.md',
    '/guides/README',
    'guides/',
    'Guides/readme.md',
    'guides.md',
  ])
    t.match(
      (await read(reference)).structuredContent,
      { slug: /^guides$/, markdown: '# Guides\n' },
      `${reference}, and the answer has its slug`,
    );
  t.match((await client.readResource({ uri: 'docs://doc/guides-readme' })).contents, [
    { text: '# Guides\n' },
  ]);
  for (const reference of ['guides-secret', 'guides/secret.md', 'https://other.example/read/guides'])
    t.ok((await read(reference)).isError, `${reference}: neither a draft nor another site has other names`);
  const reader = await connectClient(t, url, await createToken(['read', 'draft']));
  const draft = await reader.callTool({ name: 'get_doc_markdown', arguments: { slug: 'guides/secret.md' } });
  t.match(draft.structuredContent, { slug: 'hidden' });
});

t.test('an agent learns how a search came by its answer', async (t) => {
  const { index, url, createToken } = shared;
  const client = await connectClient(t, url, await createToken());
  const search = index.search.bind(index);
  t.teardown(() => Object.assign(index, { search }));
  const page = (more: Partial<SearchPage>) => ({
    ...{ items: [], total: 0, allWords: 0, corrected: [], approximate: false },
    ...more,
  });
  const hit = (missing: readonly string[], matched = 'text') =>
    ({ document: documentOf('first', ''), snippet: 'x', section: null, missing, matched }) as SearchHit;
  const corrected = [{ written: 'instaled', meant: 'installed' }];
  const nothing = /^No document has any of these words and passes .* say that .* stop there\.$/;
  type Case = readonly [query: object, page: Partial<SearchPage>, want: object, notice: RegExp | undefined];
  const cases: readonly Case[] = [
    [{ query: 'words' }, { items: [hit([])], total: 1, allWords: 1 }, { total: 1, allWords: 1 }, undefined],
    [
      { query: 'instaled first' },
      { items: [hit(['first'])], total: 1, corrected },
      { results: [{ missing: ['first'] }], corrected, allWords: 0 },
      /^No document has "instaled", so "installed" was searched for\. No document has all of these words: "missing" /,
    ],
    [
      { query: 'how do I begin' },
      { items: [hit(['how', 'do'])], total: 1 },
      { results: [{ missing: ['how', 'do'] }] },
      undefined,
    ],
    [
      { query: 'car' },
      { items: [hit(['car'], 'meaning')], total: 1 },
      { results: [{ missing: ['car'] }] },
      undefined,
    ],
    [{ query: 'zebra' }, {}, { total: 0 }, nothing],
  ];
  for (const [query, found, want, notice] of cases) {
    Object.assign(index, { search: async () => page(found) });
    const { structuredContent } = await client.callTool({ name: 'search_docs', arguments: { ...query } });
    t.match(structuredContent, want, JSON.stringify(query));
    const { notice: told } = structuredContent as { readonly notice?: string };
    if (notice === undefined) t.equal(told, undefined, JSON.stringify(query));
    else t.match(told, notice, JSON.stringify(query));
    const fields = ['corrected', 'approximate', 'missing'].filter(
      (name) => !JSON.stringify(want).includes(name),
    );
    t.notMatch(
      JSON.stringify(structuredContent),
      new RegExp(`"(${fields.join('|')})":`),
      'what is empty is left out',
    );
  }
});

t.test('the tools', async (t) => {
  const { url, createToken } = shared;
  const client = await connectClient(t, url, await createToken());
  const newer = await connectNewerClient(t, url, await createToken());
  const call = async (name: string, args: Record<string, unknown> = {}) => {
    const result = await client.callTool({ name, arguments: args });
    t.strictSame(JSON.parse(textOf(result).text), result.structuredContent, 'the text mirrors the structure');
    const again = await newer.callTool({ name, arguments: args });
    t.strictSame(again.structuredContent, result.structuredContent, 'both revisions give the same');
    return result.structuredContent;
  };

  t.match(await call('search_docs', { query: 'words' }), {
    results: [
      { slug: 'second', title: 'Second [one]', type: 'note', snippet: /More words/, tags: [] },
      { slug: 'first', title: 'First steps', type: 'guide', tags: [{ slug: 'news', title: 'News' }] },
    ],
    total: 2,
    limit: 10,
    offset: 0,
  });
  t.match(await call('search_docs', { query: 'words', type: 'guide' }), { total: 1 });
  t.match(await call('search_docs', { query: 'words', tag: 'news', limit: 50 }), { total: 1, limit: 50 });
  t.match(await call('search_docs', { query: 'words', offset: 1, limit: 1 }), {
    results: [{ slug: 'first' }],
    total: 2,
    offset: 1,
  });
  t.match(await call('search_docs', { query: '???' }), {
    results: [],
    total: 0,
    notice: /^No document has any of these words and passes/,
  });
  const address = 'http://127.0.0.1:4000/read/first';
  t.match(await call('search_docs', { query: 'deeper' }), {
    results: [{ slug: 'first', section: 'deeper', address: `${address}#deeper` }],
  });
  t.match(await call('get_doc_markdown', { slug: 'first' }), { address });
  const [one, other] = await Promise.all(
    ['deeper', 'unknown'].map((id) => client.readResource({ uri: `docs://doc/first#${id}` })),
  );
  t.match(one?.contents, [{ uri: 'docs://doc/first#deeper', text: '### Deeper\n\nMore.\n\n' }]);
  t.match(other?.contents, [{ text: /^# .*## Part 7/s }], 'as in a browser, the document');

  const whole = '# Begin\n\nWords about alert(1)this.\n';
  const first = await call('get_doc_markdown', { slug: 'first' });
  t.match(first, { slug: 'first', title: 'First steps', offset: 0, nextOffset: undefined });
  t.notMatch(JSON.stringify(first), /<script>|title:/, 'sanitised, without front matter');
  t.ok(String((first as { markdown: string }).markdown).startsWith(whole.slice(0, 20)));
  t.strictSame(await call('get_doc_markdown', { slug: 'first', section: 'Part 7' }), {
    slug: 'first',
    title: 'First steps',
    address: `${address}#part-7`,
    markdown: `## Part 7\n\n${fence}\n\n### Deeper\n\nMore.\n\n`,
    offset: 0,
    totalChars: `## Part 7\n\n${fence}\n\n### Deeper\n\nMore.\n\n`.length,
  });
  t.match(await call('get_doc_markdown', { slug: 'first', section: 'part-7', maxChars: 20, offset: 11 }), {
    markdown: '```js\nconst one = 1;'.slice(0, 6),
    offset: 11,
  });
  t.match(await call('get_doc_markdown', { slug: 'größe' }), { markdown: '# Größe\n' });
  t.strictSame(await call('list_collections'), {
    collections: [
      { name: 'book', title: 'The book', documents: 2 },
      { name: 'guides', title: 'guides', documents: 1 },
    ],
  });

  const size = files['long.md'].length;
  const atEnd = { markdown: '', offset: size, totalChars: size, nextOffset: undefined };
  t.match(await call('get_doc_markdown', { slug: 'long', offset: size }), atEnd, 'nothing is after the end');
  let joined = '';
  for (let offset: number | undefined = 0; offset !== undefined; ) {
    const page = (await call('get_doc_markdown', { slug: 'long', offset, maxChars: 1_000 })) as {
      readonly markdown: string;
      readonly nextOffset?: number;
    };
    t.ok(page.markdown.length <= 1_000);
    joined += page.markdown;
    offset = page.nextOffset;
  }
  t.equal(joined, files['long.md'], 'the pages make the whole');
});

t.test('wrong arguments are explained in sentences, and other forms of right ones are taken', async (t) => {
  const { url, createToken } = shared;
  const client = await connectClient(t, url, await createToken());
  const long = 'x'.repeat(51);
  const unknown = Object.fromEntries(Array.from({ length: 6 }, (_, at) => [`a${at}`, 1]));
  const cases: readonly (readonly [tool: string, args: Record<string, unknown>, want: RegExp])[] = [
    ['search_docs', {}, /"query" is missing/],
    ['search_docs', { query: 'x', mode: 'meaning' }, /cannot be searched by meaning/],
    ['search_docs', { query: 'x'.repeat(1_001) }, /at most 1000 char/],
    ['search_docs', { query: Array.from({ length: 70 }, (_, at) => `w${at}`).join(' ') }, /Leave some/],
    ['search_docs', { query: 'x', limit: 0 }, /at least 1/],
    ['search_docs', { query: 'x', offset: -1 }, /at least 0/],
    ['search_docs', { query: 'x', max: 1 }, /no argument "max".*limit/],
    ['list_collections', { constructor: 1 }, /no argument "constructor"/],
    ['get_doc_markdown', { slug: 'frist' }, /Did you mean "first"/],
    ['get_doc_markdown', { slug: 'zzzz' }, /search_docs finds/],
    ['get_doc_markdown', { slug: '\0\ud800' }, /no document/],
    ['get_doc_markdown', { slug: 'secret' }, /There is no document/],
    ['get_doc_markdown', { slug: 'first', section: 'Prat 7' }, /no section "Prat 7"\. There is "Part 7"/],
    ['get_doc_markdown', { slug: 'second', offset: 99 }, /there are 12 characters/],
    ['get_doc_markdown', { slug: 'first', section: 'The end', offset: 18 }, /middle of a character/],
    ['search_docs', { query: 'x', [long]: 1 }, /There is no argument "x{50}"\. There is query, /],
    ['search_docs', { query: 'x', ...unknown }, /^(?:[^"]*no argument "a\d"[^"]*){5}$/],
  ];
  const call = async (name: string, args: Record<string, unknown>) =>
    client.callTool({ name, arguments: args });
  for (const [tool, args, want] of cases) {
    const { text, isError } = textOf(await call(tool, args));
    t.equal(isError, true, JSON.stringify(args));
    t.match(text, want, JSON.stringify(args));
  }
  const forms: readonly (readonly [args: Record<string, unknown>, want: object])[] = [
    [
      { type: '', tag: null, mode: '', limit: null, offset: '' },
      { total: 2, limit: 10, offset: 0 },
    ],
    [
      { limit: '5', offset: ' 1 ' },
      { limit: 5, offset: 1 },
    ],
    [
      { limit: 100, offset: 1e300 },
      { limit: 50, offset: Number.MAX_SAFE_INTEGER },
    ],
    [{ query: 'x'.repeat(1_000), limit: 50 }, { total: 0 }],
  ];
  for (const [args, want] of forms)
    t.match((await call('search_docs', { query: 'words', ...args })).structuredContent, want);
});

t.test('resources', async (t) => {
  const { url, createToken } = shared;
  const client = await connectClient(t, url, await createToken());
  const newer = await connectNewerClient(t, url, await createToken());
  const { resourceTemplates } = await client.listResourceTemplates();
  t.strictSame(
    resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    ['docs://doc/{slug}', 'docs://collection/{name}'],
  );
  const { resources, nextCursor } = await client.listResources();
  t.equal(nextCursor, undefined);
  t.strictSame(
    new Set(resources.map(({ uri }) => uri)),
    new Set([
      ...['docs://collection/book', 'docs://collection/guides', 'docs://doc/second', 'docs://doc/first'],
      ...[`docs://doc/${encodeURIComponent('größe')}`, 'docs://doc/long'],
    ]),
  );
  t.match(resources[0], { name: 'book', title: 'The book', description: 'All of it.' });
  for (const { uri } of resources) {
    const { contents } = await client.readResource({ uri });
    t.match(contents, [{ uri, mimeType: 'text/markdown', text: String }]);
    t.strictSame((await newer.readResource({ uri })).contents, contents);
  }
  const { contents } = await client.readResource({ uri: 'docs://collection/book' });
  t.match(contents[0], {
    text: '# The book\n\nAll of it.\n\n- first: [First steps](docs://doc/first)\n- second: [Second \\[one\\]](docs://doc/second)\n',
  });
  const textOfResource = async (slug: string) => {
    const [first] = (await client.readResource({ uri: `docs://doc/${slug}` })).contents;
    return first !== undefined && 'text' in first ? first.text : undefined;
  };
  t.equal(await textOfResource('größe'), '# Größe\n', 'a text with its title stays as it is');
  t.equal(await textOfResource('second'), '# Second \\[one\\]\n\nMore words.\n', 'others get it');

  for (const uri of [
    'docs://doc/secret',
    'docs://doc/frist',
    'docs://collection/bok',
    'docs://doc/%ff',
    'x://y',
  ]) {
    await t.rejects(client.readResource({ uri }), { code: -32_002, data: { uri } }, `${uri} in 2025-11-25`);
    await t.rejects(newer.readResource({ uri }), { code: -32_602, data: { uri } }, `${uri} in 2026-07-28`);
  }
  await t.rejects(client.readResource({ uri: 'docs://doc/frist' }), /Did you mean "first"/);
  await t.rejects(client.listResources({ cursor: 'bm9uZQ' }), { code: -32_602 });

  const complete = async (uri: string, name: string, value: string) =>
    (await client.complete({ ref: { type: 'ref/resource', uri }, argument: { name, value } })).completion
      .values;
  t.strictSame(await complete('docs://doc/{slug}', 'slug', 'se'), ['second'], 'no draft');
  t.strictSame(await complete('docs://doc/{slug}', 'slug', ''), ['first', 'größe', 'long', 'second']);
  t.strictSame(await complete('docs://doc/{slug}', 'slug', '\0\ud800'), []);
  t.strictSame(await complete('docs://collection/{name}', 'name', 'g'), ['guides']);
  t.strictSame(
    await complete('docs://collection/{name}', 'name', 'ook'),
    [],
    'a name is completed at its end',
  );
  await t.rejects(complete('docs://other/{slug}', 'slug', ''), { code: -32_602 });
});

t.test('a list of many resources comes in pages', async (t) => {
  const many = Object.fromEntries(Array.from({ length: 250 }, (_, at) => [`n${at}.md`, `# N${at}`]));
  const { app, createToken } = await openTestApp(t, {
    ...many,
    'collections/c.yaml': 'query: { type: guide }',
    'n1.md': '---\ntype: guide\n---\n# N1',
    'n2.md': '---\ntype: guide\nhidden: true\n---\n# N2',
  });
  const client = await connectClient(t, await listenForMcp(app), await createToken());
  const { structuredContent } = await client.callTool({ name: 'list_collections', arguments: {} });
  t.match(
    structuredContent,
    { collections: [{ name: 'c', documents: 1 }] },
    'what it does not list does not count',
  );
  const uris = new Set<string>();
  let pages = 0;
  for (let cursor: string | undefined; pages === 0 || cursor !== undefined; pages++) {
    const page = await client.listResources(cursor === undefined ? {} : { cursor });
    for (const { uri } of page.resources) uris.add(uri);
    cursor = page.nextCursor;
  }
  t.equal(pages, 3);
  t.equal(uris.size, 251);
  const { completion } = await client.complete({
    ref: { type: 'ref/resource', uri: 'docs://doc/{slug}' },
    argument: { name: 'slug', value: 'n' },
  });
  t.match(completion, { values: { length: 100 }, hasMore: true });
  const { completion: fewer } = await client.complete({
    ref: { type: 'ref/resource', uri: 'docs://doc/{slug}' },
    argument: { name: 'slug', value: 'n2' },
  });
  t.match(fewer, { values: { length: 61 }, hasMore: false });
});

t.test('a title above the text of a resource is neither a tag nor a link', async (t) => {
  const { url, createToken } = other;
  const client = await connectClient(t, url, await createToken());
  const { contents } = await client.readResource({ uri: 'docs://doc/title' });
  const text = contents[0] !== undefined && 'text' in contents[0] ? contents[0].text : '';
  t.match(text, 'Words.');
  for (const { name, print } of markdownReaders) t.same(unlistedIn(print(text)), [], name);
});

t.test('drafts are visible only with the scope draft', async (t) => {
  const { url, createToken } = shared;
  const client = await connectClient(t, url, await createToken(['read', 'draft']));
  const found = await client.callTool({ name: 'search_docs', arguments: { query: 'hush' } });
  t.match(found.structuredContent, { total: 1, results: [{ slug: 'secret' }] });
  const read = await client.callTool({ name: 'get_doc_markdown', arguments: { slug: 'secret' } });
  t.match(read.structuredContent, { markdown: 'Hush, words.\n' });
  t.match((await client.readResource({ uri: 'docs://doc/secret' })).contents, [
    { text: '# Secret plan\n\nHush, words.\n' },
  ]);
});

t.test('listening clients are notified when documents change', async (t) => {
  const { url, createToken, content, indexer } = other;
  const client = await connectNewerClient(t, url, await createToken());
  const heard = new Promise<void>((resolve) =>
    client.setNotificationHandler('notifications/resources/list_changed', () => resolve()),
  );
  const subscription = await client.listen({ resourcesListChanged: true });
  await writeFiles(content, { 'new.md': '# New' });
  await indexer.sync();
  await heard;
  await subscription.close();
  t.match(client.getServerCapabilities(), { resources: { listChanged: true } });
  const older = await connectClient(t, url, await createToken());
  t.notOk(older.getServerCapabilities()?.resources?.listChanged, 'a client without sessions cannot hear it');
});

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
};
const json = 'application/json';
const list = { jsonrpc: '2.0', id: 2, method: 'tools/list', params: {} };

t.test('errors before a message is read are answered with a problem', async (t) => {
  const { url, createToken } = shared;
  const token = await createToken();
  const profile = await createToken(['profile']);
  const cases: readonly {
    name: string;
    want: number;
    token?: string | undefined;
    body?: unknown;
    headers?: Record<string, string>;
  }[] = [
    { name: 'no token', want: 401, token: undefined },
    { name: 'a wrong token', want: 401, token: 'rdocs_wrong' },
    { name: 'a token without the scope', want: 403, token: profile },
    { name: 'no JSON', want: 400, body: '{"jsonrpc":' },
    { name: 'a batch', want: 400, body: [list, list] },
    { name: 'a prototype', want: 400, body: '{"__proto__":{"a":1}}' },
    { name: 'too large', want: 413, body: { ...list, params: { a: 'x'.repeat(70_000) } } },
    { name: 'no media type of JSON', want: 415, headers: { 'content-type': 'text/plain' } },
    { name: 'answers that it does not take', want: 406, headers: { accept: 'text/html' } },
    {
      name: 'a stream that it does not take',
      want: 406,
      body: listen,
      headers: { ...newerHeaders, accept: json },
    },
    { name: 'another page', want: 403, headers: { origin: 'https://evil.example' } },
  ];
  for (const { name, want, body = list, headers = {}, ...given } of cases) {
    const answer = await post(url, 'token' in given ? given.token : token, body, headers);
    t.equal(answer.status, want, name);
    t.match(answer.headers.get('content-type'), /^application\/problem\+json/, name);
    const problem = { status: want, title: STATUS_CODES[want], detail: /\w/, instance: '/mcp' };
    if (want === 413) problem.title = 'Content Too Large';
    t.match(await answer.json(), problem, name);
    if (want === 401) t.match(answer.headers.get('www-authenticate'), /^Bearer /);
  }
});

t.test('other methods are challenged before they are refused, also with a final slash', async (t) => {
  const { url, createToken } = shared;
  const good = await createToken();
  const withSlash = new URL('/mcp/', url);
  for (const address of [url, withSlash])
    for (const method of ['GET', 'HEAD', 'DELETE', 'PUT']) {
      for (const token of ['', 'rdocs_wrong']) {
        const answer = await fetch(address, { method, headers: { authorization: `Bearer ${token}` } });
        const name = `${method} ${address.pathname} with the token "${token}"`;
        t.equal(answer.status, 401, name);
        const metadata = `resource_metadata="${url.origin}/.well-known/oauth-protected-resource/mcp"`;
        t.ok(answer.headers.get('www-authenticate')?.includes(metadata), name);
      }
      const answer = await fetch(address, { method, headers: { authorization: `Bearer ${good}` } });
      t.equal(answer.status, 405, method);
      t.equal(answer.headers.get('allow'), 'POST');
    }
  t.equal((await post(withSlash, undefined, list)).status, 401);
  const client = await connectClient(t, withSlash, good);
  t.equal((await client.listTools()).tools.length, 3);
});

t.test('on this machine, an answer names the host of the request in lower case', async (t) => {
  const { app, url } = other;
  const { payload } = await app.inject({
    url: '/.well-known/oauth-protected-resource/mcp',
    headers: { host: `LocalHost:${url.port}` },
  });
  t.equal(JSON.parse(payload).resource, `http://localhost:${url.port}/mcp`);
});

t.test('no Host header makes a request fail', async (t) => {
  const { app, url, createToken, log } = other;
  const token = await createToken();
  const cases: readonly { name: string; headers: Record<string, string>; want: number }[] = [
    { name: 'a port that cannot be', headers: { host: 'localhost:99999' }, want: 403 },
    { name: 'no name', headers: { host: 'a b' }, want: 403 },
    { name: 'another port', headers: { host: 'localhost:65535' }, want: 200 },
    { name: 'a forwarded name that is none', headers: { 'x-forwarded-host': 'a b' }, want: 200 },
    { name: 'a forwarded port that cannot be', headers: { 'x-forwarded-host': 'a:99999' }, want: 200 },
    {
      name: 'a forwarded address',
      headers: { 'x-forwarded-host': '[:::]', 'x-forwarded-proto': '%' },
      want: 200,
    },
  ];
  for (const { name, headers, want } of cases) {
    const answer = await app.inject({
      method: 'POST',
      url: '/mcp',
      headers: {
        host: url.host,
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        ...headers,
      },
      payload: JSON.stringify(list),
    });
    t.equal(answer.statusCode, want, name);
  }
  t.notMatch(log.join(), /a defect/);
});

t.test('parameters of a wrong type are explained in sentences, in both revisions', async (t) => {
  const { url, createToken, log } = shared;
  const token = await createToken();
  const cases: readonly (readonly [method: string, params: Record<string, unknown>, want: RegExp])[] = [
    ['resources/read', { uri: 5 }, /^The parameter "uri" must be a text\.$/],
    ['resources/list', { cursor: 5 }, /"cursor" must be a text/],
    ['tools/call', {}, /"name" is missing/],
    [
      'prompts/get',
      { name: 'answer_from_docs', arguments: { question: 5 } },
      /"arguments\.question" must be a text/,
    ],
    ['completion/complete', { ref: 5, argument: 1 }, /"ref" is not valid.*"argument" must be/],
    ['tools/call', { name: null, arguments: null }, /^The parameter "name" is missing\.$/],
  ];
  const older = ['initialize', { protocolVersion: 5 }, /"protocolVersion" must be a text/] as const;
  for (const [method, params, want] of [...cases, older]) {
    const answer = await post(url, token, { jsonrpc: '2.0', id: 1, method, params });
    t.match(
      messageIn(await answer.text()).error,
      { code: -32_602, message: want },
      `${method} in 2025-11-25`,
    );
  }
  for (const [method, params, want] of cases) {
    const { name, uri } = params;
    const answer = await post(
      url,
      token,
      { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: listen.params._meta } },
      {
        ...newerHeaders,
        'mcp-method': method,
        ...(name === undefined && uri === undefined ? {} : { 'mcp-name': String(name ?? uri) }),
      },
    );
    t.match(
      messageIn(await answer.text()).error,
      { code: -32_602, message: want },
      `${method} in 2026-07-28`,
    );
  }
  t.notMatch(log.join(), /a defect/);
});

/** Of an answer that is JSON, or one event. */
function messageIn(answer: string) {
  return JSON.parse(answer.replace(/^event: message\ndata: /, ''));
}

t.test('streams end with their token, and their number for a token is limited', async (t) => {
  const { url, createToken, access } = other;
  const open = async (token: string) => post(url, token, listen, newerHeaders);
  const [token, short] = [await createToken(), await createToken(['read'], 2_000)];
  const streams = await Promise.all(Array.from({ length: 8 }, () => open(token)));
  for (const { status, headers } of streams) {
    t.equal(status, 200);
    t.match(headers.get('content-type'), /event-stream/);
  }
  const ninth = await open(token);
  t.equal(ninth.status, 429);
  t.match(await ninth.json(), { detail: /at most 8 streams/ });
  const brief = await open(short);
  t.equal(brief.status, 200, 'another token has its own');
  await streams[0]?.body?.cancel();
  await until(async () => {
    const again = await open(token);
    if (again.status === 200) streams[0] = again;
    else await again.body?.cancel();
    return again.status === 200;
  });
  await ended(brief);
  t.equal((await open(short)).status, 401, 'the stream ended as the token had expired');
  for (const { id } of await access.tokens.list()) await access.tokens.revoke(id);
  await Promise.all(streams.map(ended));
  t.pass('all streams of a token that was revoked have ended');
});

const listen = {
  jsonrpc: '2.0',
  id: 1,
  method: 'subscriptions/listen',
  params: {
    notifications: { resourcesListChanged: true },
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1.0.0' },
    },
  },
};
const newerHeaders = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' };

/** Reads to the end, however it comes. */
async function ended(answer: Response): Promise<void> {
  await answer.text().catch(() => undefined);
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setImmediate(resolve));
}

t.test('invalid messages are refused', async (t) => {
  const { url, createToken, log } = shared;
  const token = await createToken();
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
  const cases: readonly { name: string; body: unknown; headers?: Record<string, string>; want: RegExp }[] = [
    {
      name: 'an unknown revision',
      body: list,
      headers: { 'mcp-protocol-version': '1999-01-01' },
      want: /^400 .*Unsupported protocol version/s,
    },
    { name: 'no message', body: { a: 1 }, want: /^400 .*-32\d+/s },
    { name: 'a text', body: '"x"', want: /^400 / },
    { name: 'an unknown method', body: { ...list, method: 'nothing/here' }, want: /-32601/ },
    { name: 'deep arguments', body: call(`{"query":${deep}}`), want: /must be a text/ },
    { name: 'deep beside', body: call(`{"query":"x","y":${deep}}`), want: /no argument/ },
    { name: 'many arguments', body: call(manyArguments()), want: /is missing/ },
  ];
  for (const { name, body, headers = {}, want } of cases) {
    const answer = await post(url, token, body, headers);
    const text = await answer.text();
    t.match(`${answer.status} ${text}`, want, name);
    t.ok(text.length < 3_000, `${name}: the answer is short`);
  }
  t.strictSame(
    log.filter((line) => /"level":50/.test(line)),
    [],
    'none of it is a defect',
  );
});

function call(args: string): string {
  return `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"search_docs","arguments":${args}}}`;
}

function manyArguments(): string {
  return JSON.stringify(Object.fromEntries(Array.from({ length: 3_000 }, (_, at) => [`a${at}`, at])));
}

t.test('curl needs nothing but a token, and an answer has a type that the client accepts', async (t) => {
  const { url, createToken, log } = shared;
  const token = await createToken();
  const accepting = async (accept: string, body: unknown, headers = {}) => {
    const answer = await post(url, token, body, { accept, ...headers });
    t.equal(answer.status, 200, accept);
    t.equal(answer.headers.get('cache-control'), 'no-store');
    t.equal(answer.headers.get('x-content-type-options'), 'nosniff');
    t.match(answer.headers.get('ratelimit'), /"requests";r=9\d\d\d/);
    return { type: answer.headers.get('content-type')?.split(';')[0], text: await answer.text() };
  };
  const newer = { ...list, params: { cursor: null, _meta: listen.params._meta } };
  const stream = 'text/event-stream';
  const cases = [
    { accept: '*/*', want: [stream, json] },
    { accept: `${json}, ${stream}`, want: [stream, json] },
    { accept: json, want: [json, json] },
    { accept: `${json}, application/mcp+json`, want: [json, json] },
    { accept: 'application/*;q=0.5', want: [json, json] },
    { accept: stream, want: [stream, stream] },
  ];
  for (const { accept, want } of cases) {
    const older = await accepting(accept, initialize);
    t.match(messageIn(older.text), { id: 1, result: { protocolVersion: '2025-11-25' } }, accept);
    const headers = { ...newerHeaders, 'mcp-method': 'tools/list' };
    const answered = await accepting(accept, newer, headers);
    t.match(messageIn(answered.text), { id: 2, result: { tools: [{}, {}, {}] } }, accept);
    t.strictSame([older.type, answered.type], want, accept);
  }
  t.notMatch(log.join(), token, 'no token in the log');
});

t.test('REST and MCP requests count towards the same limit', async (t) => {
  const { url, createToken } = await openMcp(t, { limits: { requests: 4, renders: 9, authFailures: 9 } });
  const token = await createToken();
  const rest = () => fetch(new URL('/api/v1/docs', url), { headers: { authorization: `Bearer ${token}` } });
  const statuses = [];
  for (const ask of [rest, () => post(url, token, list), rest, () => post(url, token, list), rest])
    statuses.push((await ask()).status);
  t.strictSame(statuses, [200, 200, 200, 200, 429]);
  const answer = await post(url, token, list);
  t.equal(answer.status, 429);
  t.match(answer.headers.get('content-type'), /problem\+json/);
});

t.test('a library that is being read for the first time', async (t) => {
  const { url, createToken, index } = other;
  t.teardown(beginAnew(index));
  const client = await connectClient(t, url, await createToken());
  const ask = async (name: string, args = {}) =>
    textOf(await client.callTool({ name, arguments: args })).text;
  for (const [name, args] of [
    ['search_docs', { query: 'words' }],
    ['list_collections', {}],
    ['get_doc_markdown', { slug: 'nothing' }],
  ] as const) {
    t.match(await client.callTool({ name, arguments: args }), { isError: true }, name);
    t.match(await ask(name, args), /^The library is being read for the first time\. Try again/, name);
  }
});

t.test('failures are explained, and internal errors go only to the log', async (t) => {
  const { read } = other.index;
  t.teardown(() => Object.assign(other.index, { read }));
  const client = await connectClient(t, other.url, await other.createToken());
  const cases: readonly { error: Error; want: RegExp; isDefect: boolean }[] = [
    { error: new IndexUnavailableError('disk'), want: /index does not answer\. Try again/, isDefect: false },
    { error: new RendererBusyError('Too much.'), want: /^Too much\.$/, isDefect: false },
    { error: new UnrenderableError('It is too long.'), want: /It is too long\./, isDefect: false },
    { error: new Error('secret detail'), want: /^The service has failed/, isDefect: true },
  ];
  for (const { error, want, isDefect } of cases) {
    other.index.read = async () => {
      throw error;
    };
    const { text, isError } = textOf(
      await client.callTool({ name: 'get_doc_markdown', arguments: { slug: 'first' } }),
    );
    t.equal(isError, true);
    t.match(text, want);
    await t.rejects(client.readResource({ uri: 'docs://doc/first' }), { code: -32_603 });
    t.equal(
      other.log.some((line) => line.includes(error.message)),
      isDefect,
      error.message,
    );
  }
});

t.test('at most 512 requests are in progress, also while the first one loads the SDK', async (t) => {
  const app = fastify();
  t.teardown(() => app.close());
  app.decorateRequest('grant', null);
  answerErrors(app, parseBaseUrl('http://127.0.0.1:4000'));
  let load: () => void = () => undefined;
  const loaded = new Promise<void>((resolve) => {
    load = resolve;
  });
  mountMcp(app, {
    authorization: { requireReader: async () => undefined, stillReads: async () => true },
    address: 'http://127.0.0.1:4000/mcp',
    openHandler: async () => {
      await loaded;
      return { fetch: async () => Response.json({}), close: async () => undefined };
    },
    ending: undefined,
  });
  const url = await listenForMcp(app);
  const ask = () => post(url, undefined, {});
  const all = Array.from({ length: 513 }, ask);
  const refused = await Promise.race(all);
  t.equal(refused.status, 503);
  t.equal(refused.headers.get('retry-after'), '1');
  t.match(await refused.json(), { detail: /Too many requests are in progress\. Try again/ });
  load();
  t.equal((await Promise.all(all)).filter(({ status }) => status === 200).length, 512);
  t.equal((await ask()).status, 200, 'there is room again');
});

t.test('work for a client ends when the client disconnects', async (t) => {
  const begun = new EventEmitter();
  const rendition = {
    ...{ etag: '"1"', mediaType: 'application/json', cachedSize: () => undefined },
    ...{ openCached: async () => undefined, cached: async () => undefined },
    render: (signal: AbortSignal) =>
      new Promise((_resolve, reject) => {
        begun.emit('begun');
        signal.addEventListener('abort', () => {
          reject(signal.reason);
          begun.emit('ended');
        });
      }),
  };
  const { url, createToken, renditions } = await openMcp(t);
  Object.assign(renditions, { parts: async () => rendition });
  const token = await createToken();
  const wanted = { name: 'get_doc_markdown', arguments: { slug: 'first' } };
  const older = await connectClient(t, url, token);
  const newer = await connectNewerClient(t, url, token);
  const leaving = new AbortController();
  const cases = [
    { name: '2025-11-25', ask: (): Promise<unknown> => older.callTool(wanted), leave: () => older.close() },
    {
      name: '2026-07-28',
      ask: (): Promise<unknown> => newer.callTool(wanted, { signal: leaving.signal }),
      leave: async () => leaving.abort(),
    },
  ];
  for (const { name, ask, leave } of cases) {
    const isBegun = once(begun, 'begun');
    const hasEnded = once(begun, 'ended');
    const asked = t.rejects(ask(), name);
    await isBegun;
    await leave();
    await hasEnded;
    await asked;
  }
  t.equal((await post(url, token, list)).status, 200, 'and the others are answered');
});
