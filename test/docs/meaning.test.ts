import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { openDatabase } from '../../docs-service/base/sqliteDatabase.ts';
import { Embeddings, prefixesFor, tooLate } from '../../docs-service/meaning/embeddings.ts';
import { MeaningIndex } from '../../docs-service/meaning/meaningIndex.ts';
import { openPostgresVectors } from '../../docs-service/meaning/postgresVectors.ts';
import { openSqliteVectors } from '../../docs-service/meaning/sqliteVectors.ts';
import { VectorTable } from '../../docs-service/meaning/vectorTable.ts';
import { callDocs } from '../support/docsCommand.ts';
import { runDocs, serveDocs } from '../support/docsProcess.ts';
import { documentOf } from '../support/documents.ts';
import { type EmbeddingsStandIn, send, startEmbeddings } from '../support/embeddingsStandIn.ts';
import { failsWith } from '../support/failsWith.ts';
import { needs } from '../support/parts.ts';
import { startPostgres, tryFindPostgres } from '../support/postgres.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { poll } from '../support/waiting.ts';

t.test('the nearest sections are found, exactly or by signs', async (t) => {
  const dimensions = 64;
  const random = fc.sample(
    fc.array(fc.float({ min: -1, max: 1, noNaN: true }), { minLength: dimensions, maxLength: dimensions }),
    300,
  );
  const vectors = random.map((numbers) => Int8Array.from(numbers, (number) => number * 127));
  const table = new VectorTable(dimensions);
  for (const [at, vector] of vectors.entries())
    table.put(`doc-${at}`, at % 10 === 0, [undefined, vector, vector]);
  const dot = (one: Int8Array, other: Int8Array) => {
    let sum = 0;
    for (let at = 0; at < one.length; at++) sum += (one[at] ?? 0) * (other[at] ?? 0);
    return sum;
  };
  const cosine = (one: Int8Array, other: Int8Array) =>
    dot(one, other) / Math.hypot(...one) / Math.hypot(...other);
  const [question] = vectors;
  if (!question) throw new Error('There is no vector.');
  const expected = vectors
    .map((vector, at) => ({ slug: `doc-${at}`, near: cosine(question, vector) }))
    .sort((one, other) => other.near - one.near || (one.slug < other.slug ? -1 : 1));
  const nearest = table.nearest(question, { drafts: true, count: 20 });
  t.strictSame(
    nearest.filter(({ place }) => place === 1).map(({ slug }) => slug),
    expected.slice(0, 10).map(({ slug }) => slug),
  );
  t.ok(table.nearest(question, { drafts: false, count: 600 }).every(({ slug }) => !slug.endsWith('0')));
  for (const { slug } of expected.slice(0, 100)) table.remove(slug);
  const left = table.nearest(question, { drafts: true, count: 1 });
  t.strictSame(left, [{ slug: expected[100]?.slug, place: 1 }], 'rows that were moved are found');

  // Of many rows, signs choose those that are compared. Groups of vectors are near to each other, as in a language.
  const large = new VectorTable(256);
  const exact: { readonly slug: string; readonly vector: Int8Array; readonly length: number }[] = [];
  let state = 1;
  const next = () => ((state = (state * 48_271) % 2_147_483_647) / 2_147_483_647) * 2 - 1;
  const subjects = Array.from({ length: 300 }, () => Float32Array.from({ length: 256 }, next));
  const stepsOf = (numbers: Float32Array) => Int8Array.from(numbers, (number) => number * 70);
  for (let at = 0; at < 24_000; at++) {
    const subject = subjects[at % subjects.length];
    const vector = subject && stepsOf(subject.map((number) => number + next() * 0.8));
    if (!vector) continue;
    large.put(`doc-${at}`, false, [vector]);
    exact.push({ slug: `doc-${at}`, vector, length: Math.hypot(...vector) });
  }
  let same = 0;
  for (const subject of subjects.slice(0, 20)) {
    const asked = stepsOf(subject);
    const best = exact
      .map(({ slug, vector, length }) => ({ slug, near: dot(asked, vector) / length }))
      .sort((one, other) => other.near - one.near)
      .slice(0, 10)
      .map(({ slug }) => slug);
    const found = large.nearest(asked, { drafts: false, count: 100 }).slice(0, 10);
    same += found.filter(({ slug }) => best.includes(slug)).length;
  }
  t.ok(same >= 198, `${same} of 200`);
});

t.test('a runner of either API embeds, and what is wrong is said', async (t) => {
  const signal = AbortSignal.timeout(60_000);
  for (const api of ['ollama', 'openai'] as const) {
    const runner = await startEmbeddings({ api, maxLength: 40 });
    t.teardown(() => runner.close());
    const folder = await temporaryFolder(t, { token: 'top/secret\n' });
    const embeddings = new Embeddings({
      url: runner.url,
      model: 'nomic-embed-text',
      tokenFile: join(folder, 'token'),
    });
    t.teardown(() => embeddings.close());
    const vectors = await embeddings.embed(['a car', 'the sea'], { kind: 'text', signal });
    t.equal(vectors.length, 2);
    t.ok((vectors[0]?.[0] ?? 0) > 0.5 && (vectors[1]?.[2] ?? 0) > 0.5, 'in their order');
    const [first] = runner.calls;
    t.match(first, { model: 'nomic-embed-text', authorization: 'Bearer top/secret' });
    t.strictSame(first?.input, ['search_document: a car', 'search_document: the sea']);
    await embeddings.embed(['ship'], { kind: 'question', signal });
    t.strictSame(runner.calls.at(-1)?.input, ['search_query: ship']);
    const [long] = await embeddings.embed(['the sea and the bread and nothing else at all'], {
      kind: 'text',
      signal,
    });
    t.ok((long?.[2] ?? 0) > 0 && (long?.[3] ?? 0) > 0, 'of both halves');

    const cases: readonly [
      string,
      (call: { readonly input: readonly string[] }) => object | string,
      RegExp,
    ][] = [
      ['fewer', () => ({ embeddings: [], data: [] }), /did not answer with 1 vectors/],
      [
        'not a number',
        () => '{"embeddings":[[1,null]],"data":[{"index":0,"embedding":[1,"x"]}]}',
        /no vector/,
      ],
      ['zero', () => ({ embeddings: [[0, 0]], data: [{ index: 0, embedding: [0, 0] }] }), /no direction/],
      ['endless', () => `[${'1,'.repeat(2_000_000)}1]`, /too large/],
    ];
    for (const [name, answer, message] of cases) {
      runner.answer((response, call) => {
        const said = answer(call);
        response.writeHead(200).end(typeof said === 'string' ? said : JSON.stringify(said));
      });
      await t.rejects(
        embeddings.embed(['x'], { kind: 'text', signal }),
        { name: 'EmbeddingsError', message },
        `${api}: ${name}`,
      );
    }
    // As large as those of the longest texts with the longest vectors.
    const wide = Array.from({ length: 4_000 }, (_, at) => (at + 1.2345678) / 10_000);
    runner.answer((response, { input }) =>
      send(response, 200, {
        embeddings: input.map(() => wide),
        data: input.map((_, index) => ({ index, embedding: wide })),
      }),
    );
    const texts = Array.from({ length: 16 }, (_, at) => `text ${at}`);
    const large = await embeddings.embed(texts, { kind: 'text', signal });
    t.strictSame(
      new Set(large.map(({ length }) => length)),
      new Set([4_000]),
      `${api}: large answers are whole`,
    );
    runner.answer((response) => send(response, 404, { error: 'model "nomic-embed-text" not found' }));
    await t.rejects(embeddings.embed(['x'], { kind: 'text', signal }), {
      message: /status 404: model .* not found/,
    });
    const echo = ['Bearer top/secret', 'top%2fsecret', Buffer.from('top/secret').toString('base64')];
    runner.answer((response) => send(response, 401, { error: { message: `no ${echo.join(' ')}` } }));
    await t.rejects(embeddings.embed(['x'], { kind: 'text', signal }), {
      message: /^It answered with status 401: no Bearer \*+ \*+ \*+\w?=*$/,
    });
    runner.answer((response) => response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end());
    await t.rejects(
      embeddings.embed(['x'], { kind: 'text', signal }),
      { message: /status 302/ },
      'no redirect is followed',
    );
    runner.answer(() => undefined);
    const short = AbortSignal.timeout(500);
    await t.rejects(embeddings.embed(['x'], { kind: 'text', signal: short }), { message: /in time/ });
    runner.answer(undefined);
    t.equal((await embeddings.embed(['x'], { kind: 'text', signal })).length, 1);
  }
});

t.test('vectors of different lengths are refused, and a text is cut where its model says so', async (t) => {
  const signal = AbortSignal.timeout(60_000);
  const runner = await startEmbeddings({ api: 'openai' });
  t.teardown(() => runner.close());
  const embeddings = new Embeddings({ url: runner.url, model: 'm' });
  t.teardown(() => embeddings.close());
  await embeddings.embed(['x'], { kind: 'text', signal });
  const entries = (vectors: readonly (readonly number[])[]) => ({
    data: vectors.map((embedding, index) => ({ index, embedding })).reverse(),
  });
  const ask = (texts: readonly string[]) => embeddings.embed(texts, { kind: 'text', signal });
  const cases: readonly { readonly answer: object; readonly message: RegExp }[] = [
    { answer: entries([[1], [1, 2]]), message: /different lengths/ },
    { answer: entries([[1], []]), message: /no vector/ },
    { answer: entries([[1], Array<number>(16_385).fill(1)]), message: /no vector/ },
    { answer: { error: { message: 'Out of\nmemory' } }, message: /did not answer with 2 vectors/ },
  ];
  for (const { answer, message } of cases) {
    runner.answer((response) => send(response, 200, answer));
    await t.rejects(ask(['a', 'b']), { name: 'EmbeddingsError', message });
  }
  runner.answer((response) =>
    send(
      response,
      200,
      entries([
        [1, 0],
        [0, 1],
      ]),
    ),
  );
  t.strictSame(await ask(['a', 'b']), [Float32Array.of(1, 0), Float32Array.of(0, 1)], 'in any order');
  runner.answer((response) => send(response, 500, { error: { message: 'Out of\nmemory' } }));
  await t.rejects(ask(['a']), { message: 'It answered with status 500: Out of memory', isTooLong: false });
  runner.answer((response) => send(response, 500, {}));
  await t.rejects(ask(['a']), { message: 'It answered with status 500' });

  const asked: string[] = [];
  runner.answer((response, { input: [text = ''] }) => {
    asked.push(text);
    const isLong = text.length > 12;
    if (isLong) send(response, 400, { error: 'the input exceeds the context length' });
    else send(response, 200, entries([text.includes('x') ? [3, 0] : [0, 5]]));
  });
  t.strictSame(await ask(['xxxxx yyyyyyyy']), [Float32Array.of(1, 1)], 'both halves count alike');
  t.strictSame(asked.slice(-2), ['xxxxx', ' yyyyyyyy'], 'between two words');
  asked.length = 0;
  await ask(['𠮷𠮷𠮷𠮷𠮷𠮷𠮷']);
  t.strictSame(asked.slice(2), ['𠮷𠮷𠮷', '𠮷𠮷𠮷𠮷'], 'and never within a character');
  runner.answer((response, { input: [text = ''] }) => {
    asked.push(text);
    send(response, 400, { error: 'too long' });
  });
  asked.length = 0;
  await t.rejects(ask(['x'.repeat(1_200)]), failsWith({ isTooLong: true }));
  t.strictSame(
    asked.map(({ length }) => length),
    [1_200, 1_200, 600, 300, 150, 75, 38, 19],
    'it ends after six halves of halves',
  );
});

t.test('each family of models is asked as its card says', async (t) => {
  const search = 'Represent this sentence for searching relevant passages: ';
  const cases: readonly [string, string, string][] = [
    ['nomic-embed-text:v1.5', 'search_query: ', 'search_document: '],
    ['Embeddinggemma:300m', 'task: search result | query: ', 'title: none | text: '],
    ['multilingual-e5-large', 'query: ', 'passage: '],
    ['bge-large', search, ''],
    ['snowflake-arctic-embed2', '', ''],
  ];
  for (const [model, question, text] of cases) t.strictSame(prefixesFor(model), { question, text }, model);
  t.match(prefixesFor('qwen3-embedding:0.6b'), { question: /^Instruct: .*\nQuery:$/s, text: '' });
});

let server: ReturnType<typeof startPostgres> | undefined;
t.teardown(async () => (await server)?.remove());

/** One server has the databases of all tests. */
async function newDatabase(): Promise<string> {
  server ??= startPostgres(tryFindPostgres() ?? '');
  return (await server).database();
}

const stores: readonly {
  readonly name: string;
  readonly options: object;
  readonly open: (t: Test) => Promise<() => ReturnType<typeof openSqliteVectors>>;
}[] = [
  {
    name: 'SQLite',
    options: {},
    open: async (t) => {
      const folder = await temporaryFolder(t, {});
      return () => openSqliteVectors(join(folder, 'vectors.db'));
    },
  },
  {
    name: 'PostgreSQL',
    options: needs('postgres'),
    open: async () => {
      const url = await newDatabase();
      return () => openPostgresVectors(url, () => undefined);
    },
  },
];
for (const { name, options, open } of stores)
  t.test(`vectors are kept in ${name}, and each text is embedded once`, options, async (t) => {
    const runner = await startEmbeddings();
    t.teardown(() => runner.close());
    const openStore = await open(t);
    const start = async (model = 'first', { url } = runner) => {
      const embeddings = new Embeddings({ url, model });
      const index = new MeaningIndex({
        store: await openStore(),
        embeddings,
        model,
        onChange: () => undefined,
      });
      t.teardown(() => index.close());
      return index;
    };
    const documents = [
      documentOf('cars', '# Cars\n\nAn automobile.\n\n# Other\n\nMedicine.', { contentHash: 'a' }),
      documentOf('sea', 'Waves of the ocean.', { contentHash: 'b' }),
      documentOf('hidden', 'A ship.', { contentHash: 'c', draft: true }),
    ];
    const listed = documents.map(({ slug, contentHash, draft }) => ({ slug, contentHash, isDraft: draft }));
    const near = async (index: MeaningIndex, question: string, drafts = false) =>
      (await index.nearest(question, { drafts, count: 2 })).map(({ slug, place }) => `${slug} ${place}`);
    const one = await start();
    t.strictSame(await one.nearest('vehicle', { drafts: false, count: 1 }), [], 'nothing yet');
    t.strictSame(await one.sync(listed), ['cars', 'sea', 'hidden']);
    await one.put(documents);
    await one.finish();
    t.equal(runner.embedded(), 4);
    t.strictSame((await near(one, 'vehicle')).slice(0, 1), ['cars 0']);
    t.strictSame((await near(one, 'physician')).slice(0, 1), ['cars 1']);
    t.strictSame((await near(one, 'ship', true)).toSorted(), ['hidden 0', 'sea 0']);
    t.notOk((await near(one, 'ship')).includes('hidden 0'), 'a draft is for who may see it');
    t.strictSame(await one.sync(listed), [], 'nothing to do');

    const other = await start();
    await other.refresh();
    const before = runner.embedded();
    t.strictSame(await other.sync(listed), [], 'what is stored is not embedded again');
    t.strictSame((await near(other, 'physician')).slice(0, 1), ['cars 1']);
    t.equal(runner.embedded(), before + 1, 'the question alone');

    const [cars] = documents;
    if (!cars) return;
    const changed = { ...cars, body: `${cars.body}\n\n# New\n\nBaking.`, contentHash: 'd' };
    const now = [{ slug: 'cars', contentHash: 'd', isDraft: false }];
    t.strictSame(await one.sync(now), ['cars'], 'others are gone');
    await one.put([changed]);
    await one.finish();
    t.equal(runner.embedded(), before + 2, 'only the new section');
    t.strictSame((await near(one, 'loaf')).slice(0, 1), ['cars 2']);
    t.notOk((await near(one, 'ship')).includes('sea 0'));
    await other.refresh();
    t.strictSame((await near(other, 'loaf')).slice(0, 1), ['cars 2'], 'another process sees it');

    const store = await openStore();
    t.teardown(() => store.close());
    const known = await store.documents();
    t.strictSame(
      known.map(({ slug }) => slug),
      ['cars'],
      'what is gone is gone from the store',
    );
    const hashes = known.flatMap((document) => document.hashes);
    // As if it had been interrupted after one section.
    await store.putVectors('second', await store.vectors('first', hashes.slice(0, 1)));
    const newer = await start('second');
    t.strictSame(await newer.sync(now), ['cars'], 'another model embeds everything again');
    await near(newer, 'loaf bread');
    t.equal(runner.calls.at(-1)?.model, 'first', 'until then the old one answers');
    const first = runner.embedded();
    await newer.put([changed]);
    await newer.finish();
    t.equal(runner.embedded(), first + 2, 'but not what it has embedded before');
    await near(newer, 'loaf bread');
    t.equal(runner.calls.at(-1)?.model, 'second');
    t.strictSame((await near(newer, 'loaf')).slice(0, 1), ['cars 2']);

    const kept = async (model: string, hashes: readonly string[]) =>
      (await store.vectors(model, hashes)).size;
    t.strictSame([await kept('first', hashes), await kept('second', hashes)], [0, 3], 'of one model alone');
    await store.putVectors('second', new Map([['gone', Int8Array.of(1)]]));
    await store.serve('second');
    t.strictSame([await kept('second', ['gone']), await kept('second', hashes)], [0, 3], 'of no other text');
  });

t.test('a file of vectors that is damaged, or of another version, is made anew', async (t) => {
  const folder = await temporaryFolder(t, { 'damaged.db': 'x'.repeat(5_000) });
  const vector = Int8Array.of(1, -2, 3);
  for (const name of ['damaged.db', 'new.db']) {
    const store = await openSqliteVectors(join(folder, name));
    await store.putVectors('m', new Map([['h', vector]]));
    await store.close();
    const again = await openSqliteVectors(join(folder, name));
    t.strictSame(
      [...(await again.vectors('m', ['h', 'other']))].map(([hash, steps]) => [hash, [...steps]]),
      [['h', [1, -2, 3]]],
    );
    t.equal(await again.changes(), 1);
    await again.close();
  }
  const older = await openDatabase(join(folder, 'new.db'));
  older.exec('PRAGMA user_version = 0');
  older.close();
  const anew = await openSqliteVectors(join(folder, 'new.db'));
  t.equal((await anew.vectors('m', ['h'])).size, 0);
  await anew.close();
  await t.rejects(openSqliteVectors(join(folder, 'none', 'vectors.db')), 'a folder that does not exist');
});

t.test('a slow runner gets fewer texts at once, and goes on with a question', async (t) => {
  const folder = await temporaryFolder(t, {});
  const sizes: number[] = [];
  const questions: { readonly signal: AbortSignal; answer(): void }[] = [];
  const vector = Float32Array.of(1, 0);
  const slow: Pick<Embeddings, 'embed' | 'close'> = {
    embed: (texts, { kind, signal }) => {
      if (kind === 'question')
        return new Promise((resolve) => questions.push({ signal, answer: () => resolve([vector]) }));
      sizes.push(texts.length);
      return texts.length > 3 ? Promise.reject(tooLate()) : Promise.resolve(texts.map(() => vector));
    },
    close: async () => undefined,
  };
  const start = async (model: string, embeddings: Pick<Embeddings, 'embed' | 'close'>) => {
    const store = await openSqliteVectors(join(folder, 'vectors.db'));
    const index = new MeaningIndex({ store, embeddings, model, onChange: () => undefined });
    t.teardown(() => index.close());
    await index.refresh();
    return index;
  };
  const index = await start('m', slow);
  const parts = Array.from({ length: 10 }, (_, at) => `# Part ${at}\n\nText ${at}.`);
  await index.put([documentOf('one', parts.join('\n\n'))]);
  t.strictSame(sizes, [10, 3, 3, 3, 1]);

  const asked = { drafts: false, count: 1 };
  await t.rejects(index.nearest('Where?', asked), { name: 'EmbeddingsError', message: /in time/ });
  await t.rejects(index.nearest('Where?', asked), { message: /in time/ }, 'it is asked again');
  t.strictSame(
    questions.map(({ signal }) => signal.aborted),
    [false, true],
    'a model that is being loaded goes on, and only this one question',
  );
  questions[0]?.answer();
  await setImmediate();
  t.strictSame(await index.nearest('Where?', asked), [{ slug: 'one', place: 0 }]);
  t.equal(questions.length, 2, 'its answer is kept');
});

const content = {
  'cars.md': '# Cars\n\n## Wheels\n\nAn automobile has four wheels.\n',
  'sea.md': '---\ntags: [Water]\n---\n# The sea\n\nWaves of the ocean.\n',
  'bread.md': '# Bread\n\nThe oven bakes a loaf.\n',
  'draft.md': '---\ndraft: true\n---\n# A ship\n\nIt sails.\n',
};

async function serveWith(t: Test, runner: EmbeddingsStandIn, more: readonly string[] = []) {
  const folder = await temporaryFolder(t, content);
  const data = join(await temporaryFolder(t, {}), 'data');
  const places = ['--data', data, ...more.filter((_, at) => more[0] === '--database' && at < 2)];
  const flags = ['--content', folder, '--data', data, '--embeddings', runner.url, '--embeddings-model', 'm'];
  const service = await serveDocs([...flags, ...more]);
  t.teardown(() => service.stop());
  await service.whenReady();
  const token = (await runDocs(['token', 'create', ...places])).stdout.trim();
  const search = async (query: string) => {
    const response = await service.get(`/api/v1/docs?${query}`, token);
    const { items = [], total } = (await response.json()) as {
      items?: readonly { readonly slug: string; readonly matched: string }[];
      total?: number;
    };
    return {
      status: response.status,
      mode: response.headers.get('search-mode'),
      found: items.map(({ slug, matched }) => `${slug} ${matched}`),
      total,
    };
  };
  const ready = () => fetch(`${service.origin}/readyz`).then((response) => response.json());
  return { service, token, search, folder, ready };
}

t.test('the service finds documents by their meaning, too', async (t) => {
  const runner = await startEmbeddings({ api: 'openai' });
  t.teardown(() => runner.close());
  const { service, token, search, folder, ready } = await serveWith(t, runner);
  const counts: number[] = [];
  const look = async () => {
    const found = await ready();
    if (found.toEmbed !== undefined) counts.push(found.embedded + found.toEmbed);
    return found;
  };
  t.match(await poll(look, ({ toEmbed }) => toEmbed === 0), { documents: 3, embedded: 4 });
  t.same([...new Set(counts)], [4], 'nothing is counted before everything is');
  t.match(await search('q=vehicle'), {
    mode: null,
    found: ['cars meaning', 'bread meaning', 'sea meaning'],
    total: 3,
  });
  t.match(await search('q=automobile&limit=1'), { found: ['cars both'], total: 3 });
  t.match(await search('q=automobile&mode=text'), { found: ['cars text'], total: 1 });
  t.match(await search('q=ship&mode=meaning&limit=1'), { found: ['sea meaning'] });
  t.match(await search('q=vehicle%20-wheels&limit=9'), { total: 2 });
  t.match(await search('q=vehicle&tag=water'), { found: ['sea meaning'], total: 1 });
  t.match(await search('q=vehicle&mode=words'), { status: 400 });
  const before = runner.calls.length;
  await search('q=vehicle&offset=1');
  t.equal(runner.calls.length, before, 'a question is embedded once');

  const call = { name: 'search_docs', arguments: { query: 'physician vehicle', limit: 1 } };
  const asked = await fetch(`${service.origin}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }),
  });
  t.match(JSON.parse((await asked.text()).replace(/^[\s\S]*?data: /, '')).result.structuredContent.results, [
    { slug: 'cars', section: 'wheels', address: `${service.origin}/read/cars#wheels`, matched: 'meaning' },
  ]);

  await writeFile(join(folder, 'doctor.md'), '# Health\n\nMedicine.\n');
  await poll(
    () => search('q=physician&limit=1'),
    ({ found }) => found[0] === 'doctor meaning',
  );

  const flags = ['--content', folder, '--embeddings', runner.url, '--embeddings-model', 'm'];
  const other = join(await temporaryFolder(t, {}), 'data');
  const indexed = await runDocs(['index', '--data', other, ...flags]);
  t.match(indexed, { code: 0, stdout: /^4 documents, 0 problems\n5 documents embedded\n$/ });
  t.match((await runDocs(['doctor', '--data', other, ...flags])).stdout, /ok .*embeds with m: 32 numbers/);

  await runner.close();
  const warned = await runDocs(['doctor', '--data', other, ...flags]);
  t.match(warned.stdout, /warning .*cannot embed with m: It does not answer.*found by text alone/);
  const without = await runDocs(['index', '--data', other, ...flags]);
  t.match(without, { code: 0, stderr: '', stdout: /5 documents embedded/ }, 'everything is there already');
  t.match(await search('q=illness'), { status: 200, mode: 'text', found: [], total: 0 });
  t.match(await search('q=automobile%20wheels'), { mode: 'text', found: ['cars text'] });
  t.match(service.stderr(), /searched by text alone, because .* cannot embed: It does not answer/);
  const again = await startEmbeddings({
    ...{ api: 'openai', port: Number(new URL(runner.url).port) },
    dimensions: 40,
  });
  t.teardown(() => again.close());
  await poll(
    () => search('q=loaf%20baking'),
    ({ mode, found }) => mode === null && found[0] === 'bread both',
  );
  await poll(ready, ({ toEmbed }) => toEmbed === 0);
  t.equal(service.stderr().match(/another length/g)?.length, 1, 'another model of the name is embedded anew');
});

t.test('after a slow or a wrong answer of the runner, meaning is soon back', async (t) => {
  const runner = await startEmbeddings();
  t.teardown(() => runner.close());
  const { search, ready } = await serveWith(t, runner, ['--limit-requests', '100000']);
  await poll(ready, ({ toEmbed }) => toEmbed === 0);
  const wrong = { embeddings: [[1, 2, 3]] };
  for (const [name, question, answer] of [
    ['none', 'q=vehicle', () => undefined],
    ['a vector of another length', 'q=ship', (response) => send(response, 200, wrong)],
    ['an error', 'q=loaf', (response) => send(response, 500, {})],
  ] as const satisfies readonly (readonly [string, string, Parameters<EmbeddingsStandIn['answer']>[0]])[]) {
    const embedded = runner.embedded();
    runner.answer(answer);
    t.match(await search(question), { status: 200, mode: 'text' }, name);
    runner.answer(undefined);
    const recovered = Date.now();
    await poll(
      () => search(question),
      ({ status, mode }) => status === 200 && mode === null,
    );
    t.ok(Date.now() - recovered < 15_000, `${name}: after ${Date.now() - recovered} ms`);
    t.ok(runner.embedded() - embedded <= 2, `${name}: no document is embedded again`);
  }
});

t.test('several instances on PostgreSQL search the same vectors', needs('postgres'), async (t) => {
  const runner = await startEmbeddings();
  t.teardown(() => runner.close());
  const database = ['--database', await newDatabase()];
  const one = await serveWith(t, runner, database);
  await poll(one.ready, ({ toEmbed, embedded }) => toEmbed === 0 && embedded === 4);
  const embedded = runner.embedded();
  const other = await serveWith(t, runner, database);
  const want = await one.search('q=vehicle');
  t.match(want, { found: ['cars meaning', 'bread meaning', 'sea meaning'] });
  t.strictSame(
    await poll(
      () => other.search('q=vehicle'),
      ({ total }) => total === 3,
    ),
    want,
  );
  t.equal(runner.embedded(), embedded + 2, 'beside the question of each, nothing is embedded again');
});

t.test('without a runner nothing changes, and wrong flags are named', async (t) => {
  const folder = await temporaryFolder(t, content);
  const data = join(folder, 'data');
  const service = await serveDocs(['--content', folder, '--data', data]);
  t.teardown(() => service.stop());
  t.notOk('embedded' in (await service.whenReady()));
  const token = (await runDocs(['token', 'create', '--data', data])).stdout.trim();
  const response = await service.get('/api/v1/docs?q=automobile&mode=both', token);
  t.match(await response.json(), { items: [{ slug: 'cars', matched: 'text' }], total: 1 });
  t.equal(response.headers.get('search-mode'), null);
  const refused = await service.get('/api/v1/docs?q=automobile&mode=meaning', token);
  t.equal(refused.status, 400);
  t.match(await refused.json(), { detail: /does not embed documents/ });
  const at = (address: string, model = 'm') => ['--embeddings', address, '--embeddings-model', model];
  const wrong = ['host', 'ftp://host', 'http://h/v1', 'http://h?a', 'http://a@h'];
  const cases: readonly (readonly [flags: readonly string[], stderr: RegExp])[] = [
    [['--embeddings', 'http://127.0.0.1:1'], /--embeddings needs --embeddings-model/],
    [['--embeddings-model', 'm'], /--embeddings-model needs --embeddings URL/],
    [['--embeddings-token-file', 'x'], /--embeddings-token-file needs/],
    ...wrong.map((address) => [at(address), /without a path/] as const),
    [at('http://a:secret@h'), /^(?!.*secret).*without a path/s],
  ];
  for (const [flags, stderr] of cases)
    t.match(await callDocs(['serve', '--data', data, '--content', folder, ...flags]), { code: 2, stderr });
});
