import { marked } from 'marked';
import t from 'tap';
import { type LlmsList, llmsText } from '../../docs-service/http/open/llmsText.ts';
import { openTestApp } from '../support/docsApp.ts';
import { documentOf } from '../support/documents.ts';
import { hostileMarks } from '../support/hostileMarks.ts';
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

t.test('a description is cut, and a document stands once', async (t) => {
  const long = documentOf('long', '', { description: `${'w'.repeat(299)}\u{1f642} and more` });
  const text = await textOf({ documents: [long, long] });
  t.match(text, `${'w'.repeat(299)}…\n`);
  const twice = (async function* () {
    yield { title: 'A', documents: pieces([long]) };
    yield { title: 'B', documents: pieces([long]) };
  })();
  t.notMatch(await textOf({ documents: [], sections: twice }), '## B');
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
