import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { createCalledWorker } from '../../docs-service/base/calledWorker.ts';
import { openDatabase } from '../../docs-service/base/sqliteDatabase.ts';
import { sectionsOf } from '../../docs-service/content/sections.ts';
import {
  createEmbeddings,
  type Embeddings,
  prefixesFor,
  tooLate,
} from '../../docs-service/meaning/embeddings.ts';
import { parseEmbeddings } from '../../docs-service/meaning/embeddingsConfig.ts';
import { createLibrarySearch, type SearchMode } from '../../docs-service/meaning/librarySearch.ts';
import type { Meaning } from '../../docs-service/meaning/meaning.ts';
import { MeaningIndex } from '../../docs-service/meaning/meaningIndex.ts';
import { openPostgresVectors } from '../../docs-service/meaning/postgresVectors.ts';
import { openSqliteVectors } from '../../docs-service/meaning/sqliteVectors.ts';
import type { VectorStore } from '../../docs-service/meaning/vectorStore.ts';
import { compactVector, VectorTable } from '../../docs-service/meaning/vectorTable.ts';
import type { DocumentIndex } from '../../docs-service/search/documentIndex.ts';
import { runDocs, serveDocs } from '../support/docsProcess.ts';
import { documentOf } from '../support/documents.ts';
import { type EmbeddingsStandIn, send, startEmbeddings } from '../support/embeddingsStandIn.ts';
import { failsWith } from '../support/failsWith.ts';
import { needs } from '../support/parts.ts';
import { startPostgres, tryFindPostgres } from '../support/postgres.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { poll } from '../support/waiting.ts';

t.test('a document has a section for each heading, and long ones are cut', async (t) => {
  const text =
    'Before.\n\n# One\n\nFirst.\n\nTwo\n---\n\n```\n# no heading\n```\n\n## Empty\n\n### Last\nEnd.';
  t.strictSame(sectionsOf(text), [
    { heading: '', text: 'Before.', start: text.indexOf('Before.') },
    { heading: 'One', text: 'First.', start: text.indexOf('First.') },
    { heading: 'Two', text: '```\n# no heading\n```', start: text.indexOf('```\n# no heading\n```') },
    { heading: 'Last', text: 'End.', start: text.indexOf('End.') },
  ]);
  t.strictSame(sectionsOf('<script>\nsecret\n</script>\n'), []);
  const long = Array.from({ length: 100 }, (_, at) => `Paragraph ${at} of several words.`).join('\n\n');
  const pieces = sectionsOf(`# Long\n\n${long}`);
  t.ok(
    pieces.length > 2 &&
      pieces.every(({ text }) => text.length <= 1_200 && /^Paragraph .*words\.$/s.test(text)),
  );
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 6_000 }), (text) => {
      const kept = sectionsOf(text).map((section) => section.text);
      const plain = (value: string) => value.replace(/\s/g, '');
      if (!/[#<`~=-]/.test(text) && plain(kept.join('')) !== plain(text)) t.fail(JSON.stringify(text));
      if (kept.some((piece) => piece.length > 1_200 || piece.trim() === '')) t.fail('too long');
    }),
    { numRuns: 50 },
  );
});

t.test('the nearest sections are found, exactly or by signs', async (t) => {
  const dimensions = 64;
  const random = fc.sample(
    fc.array(fc.float({ min: -1, max: 1, noNaN: true }), { minLength: dimensions, maxLength: dimensions }),
    300,
  );
  const vectors = random.map((numbers) => compactVector(Float32Array.from(numbers)));
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
  const [question] = vectors.filter((vector) => vector !== undefined);
  if (!question) throw new Error('There is no vector.');
  const expected = vectors
    .map((vector, at) => ({ slug: `doc-${at}`, near: vector ? cosine(question, vector) : -2 }))
    .filter(({ near }) => near > -2)
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
  for (let at = 0; at < 24_000; at++) {
    const subject = subjects[at % subjects.length];
    const vector = subject && compactVector(subject.map((number) => number + next() * 0.8));
    if (!vector) continue;
    large.put(`doc-${at}`, false, [vector]);
    exact.push({ slug: `doc-${at}`, vector, length: Math.hypot(...vector) });
  }
  let same = 0;
  for (const subject of subjects.slice(0, 20)) {
    const asked = compactVector(subject);
    if (!asked) continue;
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

t.test('equally near sections stand by slug and place', async (t) => {
  const table = new VectorTable(2);
  const [near, far] = [Int8Array.of(100, 0), Int8Array.of(0, 100)];
  for (const slug of ['b', 'c', 'a']) table.put(slug, false, [far, near, undefined, near]);
  const order = ['a 1', 'a 3', 'b 1', 'b 3', 'c 1', 'c 3', 'a 0', 'b 0', 'c 0'];
  for (const count of [1, 5, 9, 20]) {
    const found = table.nearest(near, { drafts: false, count });
    t.strictSame(
      found.map(({ slug, place }) => `${slug} ${place}`),
      order.slice(0, count),
    );
  }
});

t.test('what a search asks of the meaning', async (t) => {
  const asked: { readonly question: string; readonly count: number }[] = [];
  const index = { generation: 3, search: async () => ({ items: [], total: 0 }) };
  const meaning = {
    generation: 4,
    nearest: async (question: string, { count }: { readonly count: number }) => {
      asked.push({ question, count });
      return question === 'away' ? undefined : [];
    },
  };
  const search = createLibrarySearch(index as unknown as DocumentIndex, meaning as unknown as Meaning);
  const searchText = createLibrarySearch(index as unknown as DocumentIndex);
  t.strictSame([search.generation, searchText.generation], [7, 3]);
  const query = { text: 'cars', drafts: false, limit: 10, offset: 0 };
  const cases: readonly [query: object, mode: SearchMode | undefined, want: object | undefined][] = [
    [{}, undefined, { question: 'cars', count: 100 }],
    [{}, 'meaning', { question: 'cars', count: 100 }],
    [{}, 'text', undefined],
    [{ text: '' }, 'both', undefined],
    [{ text: 'cars -bikes' }, 'both', { question: 'cars', count: 2_000 }],
    [{ text: 'fast "cars"' }, 'both', { question: 'fast cars', count: 2_000 }],
    [{ type: 'guide' }, 'both', { question: 'cars', count: 2_000 }],
    [{ tag: 'a' }, 'both', { question: 'cars', count: 2_000 }],
    [{ folder: 'a/' }, 'both', { question: 'cars', count: 2_000 }],
  ];
  for (const [more, mode, want] of cases) {
    asked.length = 0;
    t.match(await search.search({ ...query, ...more }, mode), { isTextAlone: false });
    t.strictSame(asked, want === undefined ? [] : [want], JSON.stringify([more, mode]));
  }
  t.match(await search.search({ ...query, text: 'away' }), { isTextAlone: true });
});

t.test('a runner of either API embeds, and what is wrong is said', async (t) => {
  const signal = AbortSignal.timeout(60_000);
  for (const api of ['ollama', 'openai'] as const) {
    const runner = await startEmbeddings({ api, maxLength: 40 });
    t.teardown(() => runner.close());
    const folder = await temporaryFolder(t, { token: 'top/secret\n' });
    const embeddings = createEmbeddings({
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
      ['text', () => 'hello', /did not answer with/],
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
  const embeddings = createEmbeddings({ url: runner.url, model: 'm' });
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
    { answer: { data: [1, 2] }, message: /did not answer with 2 vectors/ },
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
  runner.answer((response) => send(response, 200, entries([Array<number>(16_384).fill(1)])));
  t.equal((await ask(['a']))[0]?.length, 16_384);
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
  const halves: readonly { text: string; want: readonly string[] }[] = [
    { text: 'abcdefghijklmn', want: ['abcdefg', 'hijklmn'] },
    { text: 'abc defghijklmn', want: ['abc defg', 'hijklmn'] },
    { text: 'abcd fghijklmn', want: ['abcd', ' fghijklmn'] },
    { text: '𠮷𠮷𠮷𠮷𠮷𠮷𠮷', want: ['𠮷𠮷𠮷', '𠮷𠮷𠮷𠮷'] },
  ];
  for (const { text, want } of halves) {
    asked.length = 0;
    await ask([text]);
    t.strictSame(asked, [text, text, ...want]);
  }
  runner.answer((response, { input: [text = ''] }) => {
    asked.push(text);
    send(response, 400, { error: 'too long' });
  });
  for (const { text, want } of [
    { text: 'ab', want: ['ab', 'ab', 'a'] },
    { text: '𠮷', want: ['𠮷', '𠮷', '𠮷', '𠮷', '𠮷', '𠮷', '𠮷', '𠮷'] },
    {
      text: 'x'.repeat(1_200),
      want: [1_200, 1_200, 600, 300, 150, 75, 38, 19].map((length) => 'x'.repeat(length)),
    },
  ]) {
    asked.length = 0;
    await t.rejects(ask([text]), failsWith({ isTooLong: true }));
    t.strictSame(asked, want, 'it ends after six halves of halves');
  }
});

t.test('the address of a runner and its model are checked', async (t) => {
  const [url, model] = ['http://127.0.0.1:11434', 'm'];
  const read = (embeddings?: string, name?: string, file?: string) =>
    parseEmbeddings({
      embeddings,
      'embeddings-model': name,
      'embeddings-token-file': file,
    });
  t.equal(read(), undefined);
  t.strictSame(read(`${url}/`, model), { url, model, tokenFile: undefined });
  const file = join(process.cwd(), 'token');
  t.strictSame(read('https://host', model, 'token'), { url: 'https://host', model, tokenFile: file });
  const wrong = [
    'host',
    'ftp://host',
    `${url}/v1`,
    `${url}?a`,
    `${url}#a`,
    'http://a@host',
    'http://:b@host',
  ];
  for (const address of wrong) t.throws(() => read(address, model), { message: /without a path/ }, address);
  for (const name of [undefined, '', ' '])
    t.throws(() => read(url, name), { message: /needs --embeddings-m/ });
  t.throws(() => read(undefined, model, file), { message: /^--embeddings-model needs --embeddings URL/ });
  t.throws(() => read(undefined, undefined, file), { message: /^--embeddings-token-file needs/ });
});

t.test('each family of models is asked as its card says', async (t) => {
  const search = 'Represent this sentence for searching relevant passages: ';
  const cases: readonly [string, string, string][] = [
    ['nomic-embed-text:v1.5', 'search_query: ', 'search_document: '],
    ['Embeddinggemma:300m', 'task: search result | query: ', 'title: none | text: '],
    ['multilingual-e5-large', 'query: ', 'passage: '],
    ['hf.co/x/e5-small', 'query: ', 'passage: '],
    ['some5-model', '', ''],
    ['bge-large', search, ''],
    ['bge-m3', '', ''],
    ['mxbai-embed-large', search, ''],
    ['snowflake-arctic-embed:110m', search, ''],
    ['snowflake-arctic-embed2', '', ''],
    ['all-minilm', '', ''],
  ];
  for (const [model, question, text] of cases) t.strictSame(prefixesFor(model), { question, text }, model);
  t.match(prefixesFor('qwen3-embedding:0.6b'), { question: /^Instruct: .*\nQuery:$/s, text: '' });
});

t.test('a worker that dies is replaced, and its calls end', async (t) => {
  const folder = await temporaryFolder(t, {
    'worker.cjs': `
      const { parentPort } = require('node:worker_threads');
      parentPort.on('message', ({ id, method, parameters }) => {
        if (method === 'finish') process.exit(3);
        if (method === 'close') return parentPort.close();
        if (method === 'sync') return parentPort.postMessage({ id, error: { kind: 'query', message: 'No.' } });
        for (const answer of [{ note: 'A note.' }, { id, value: parameters }]) parentPort.postMessage(answer);
      });`,
  });
  const notes: string[] = [];
  const create = () =>
    createCalledWorker<Record<'finish' | 'sync' | 'nearest', (text?: string) => unknown>, string>({
      ...{ program: join(folder, 'worker.cjs'), data: {}, name: 'test' },
      onNote: (note) => notes.push(note),
      toError: ({ kind, message }) => Object.assign(new Error(message), { name: kind }),
      log: (note) => notes.push(note),
    });
  const worker = create();
  t.teardown(() => worker.close());
  await t.rejects(worker.call('sync'), { name: 'query', message: 'No.' });
  t.strictSame(await worker.call('nearest', 'Where?'), ['Where?']);
  const calls = [worker.call('finish'), worker.call('nearest', 'Both?')];
  for (const call of calls) await t.rejects(call, { name: 'unavailable', message: /stopped.*Try again\./ });
  t.strictSame(await worker.call('nearest', 'Again?'), ['Again?']);
  await worker.close();
  await worker.close();
  await t.rejects(worker.call('nearest', 'Where?'), { message: 'The worker of the test is closed.' });
  const died = 'The worker of the test has died: it ended. It is being restarted.';
  t.strictSame(notes, ['A note.', died, 'A note.'], 'its end is no death');
  const unused = create();
  await unused.close();
  await t.rejects(unused.call('finish'), { message: /is closed/ });
});

const stores: readonly {
  readonly name: string;
  readonly options: object;
  readonly open: (t: Test) => Promise<() => Promise<VectorStore>>;
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
    open: async (t) => {
      const server = await startPostgres(tryFindPostgres() ?? '');
      t.teardown(() => server.remove());
      const url = await server.database();
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
      const embeddings = createEmbeddings({ url, model });
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

    const otherLength = { name: 'Error', message: /another length/ };
    const another = async (dimensions: number) => {
      const build = await startEmbeddings({ dimensions });
      t.teardown(() => build.close());
      return start('second', build);
    };
    const asked = await another(40);
    t.strictSame(await asked.sync(now), []);
    for (const time of ['first', 'second']) await t.rejects(near(asked, 'waves'), otherLength, time);
    t.strictSame(await asked.sync(now), ['cars'], 'a question shows it, and everything is embedded anew');
    await asked.put([changed]);
    await asked.finish();
    t.strictSame((await near(asked, 'loaf')).slice(0, 1), ['cars 2']);
    const put = await another(24);
    const [, sea] = documents;
    if (!sea) return;
    const both = [...now, { slug: 'sea', contentHash: 'b', isDraft: false }];
    t.strictSame(await put.sync(both), ['sea']);
    await t.rejects(put.put([sea]), otherLength);
    t.strictSame(await put.sync(both), ['cars', 'sea'], 'a text shows it, too');
    await put.put([changed, sea]);
    t.strictSame((await near(put, 'waves')).slice(0, 1), ['sea 0']);
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
  const slow: Embeddings = {
    embed: (texts, { kind, signal }) => {
      if (kind === 'question')
        return new Promise((resolve) => questions.push({ signal, answer: () => resolve([vector]) }));
      sizes.push(texts.length);
      return texts.length > 3 ? Promise.reject(tooLate()) : Promise.resolve(texts.map(() => vector));
    },
    close: async () => undefined,
  };
  let reading: Promise<void> | undefined;
  const start = async (model: string, embeddings: Embeddings) => {
    const store = await openSqliteVectors(join(folder, 'vectors.db'));
    const documents = async () => {
      await reading;
      return store.documents();
    };
    const held = { ...store, documents };
    const index = new MeaningIndex({ store: held, embeddings, model, onChange: () => undefined });
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

  const longer = { ...slow, embed: async (texts: readonly string[]) => texts.map(() => vector.map(() => 1)) };
  const other = await start('n', longer);
  await other.put([documentOf('two', 'Text.')]);
  await other.finish();
  const pending = index.nearest('Pending?', asked);
  let goOn: () => void = () => undefined;
  reading = new Promise((resolve) => (goOn = resolve));
  const refreshed = index.refresh();
  await setImmediate();
  t.strictSame(
    await index.nearest('Where?', asked),
    [{ slug: 'one', place: 0 }],
    'while the vectors of another model are read',
  );
  goOn();
  await refreshed;
  questions.at(-1)?.answer();
  t.strictSame(await pending, [{ slug: 'one', place: 0 }], 'an answer counts for the model that was asked');
  const anew = index.nearest('Where?', asked);
  t.equal(questions.length, 4, 'the other model has not answered this yet');
  questions.at(-1)?.answer();
  t.strictSame(await anew, [{ slug: 'two', place: 0 }]);
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
  const server = await startPostgres(tryFindPostgres() ?? '');
  t.teardown(() => server.remove());
  const runner = await startEmbeddings();
  t.teardown(() => runner.close());
  const database = ['--database', await server.database()];
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
  for (const [flags, message] of [
    [['--embeddings', 'http://127.0.0.1:1'], /--embeddings needs --embeddings-model/],
    [
      ['--embeddings', 'http://127.0.0.1:1', '--embeddings-model', ' '],
      /--embeddings needs --embeddings-model/,
    ],
    [['--embeddings-model', 'm'], /--embeddings-model needs --embeddings/],
    [['--embeddings', 'http://127.0.0.1:1/v1', '--embeddings-model', 'm'], /without a path/],
    [['--embeddings', 'http://a:b@127.0.0.1:1', '--embeddings-model', 'm'], /without a path/],
  ] as const) {
    const { code, stderr } = await runDocs(['serve', '--data', data, '--content', folder, ...flags]);
    t.equal(code, 2);
    t.match(stderr, message);
    t.notMatch(stderr, /a:b/);
  }
});
