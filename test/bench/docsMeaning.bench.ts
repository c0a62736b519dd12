// What finding by meaning costs: embedding beside the runner alone, and a search beside the same search by text.
// Usage: node .tap-build/docsMeaning.bench.mjs [--sections 100000] [--documents 2000]
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { sectionsOf } from '../../docs-service/content/headings.ts';
import { Embeddings } from '../../docs-service/meaning/embeddings.ts';
import { createLibrarySearch } from '../../docs-service/meaning/librarySearch.ts';
import { MeaningIndex } from '../../docs-service/meaning/meaningIndex.ts';
import { openSqliteVectors } from '../../docs-service/meaning/sqliteVectors.ts';
import { createSqliteIndex } from '../../docs-service/search/sqlite/sqliteIndex.ts';
import { portOf } from '../support/recordings.ts';
import { createSynthesis } from '../support/syntheticDocuments.ts';
import { createFigures, median, quantile, timed } from './figures.ts';

const { values } = parseArgs({
  options: {
    sections: { type: 'string', default: '100000' },
    documents: { type: 'string', default: '2000' },
  },
  strict: false,
});
const [wantedSections, documents] = [Number(values.sections), Number(values.documents)];
/** As many as nomic-embed-text has. */
const dimensions = 768;
/** Milliseconds that the stand-in for a runner takes for a text, as a small model does on a usual machine. */
const textTime = 4;
const rounds = 200;
/** Documents that are read into both indexes at once. */
const pieceSize = 500;
const { section, row } = createFigures('docsMeaning');
const synthesis = createSynthesis();
const sectionsEach = sectionsOf(synthesis.document(0).body).length;
const folder = mkdtempSync(join(tmpdir(), 'runner-docs-bench-'));
/** Texts about one subject are near to each other. */
const subjects = Array.from({ length: 500 }, (_, at) => randomVector(at + 1));

async function embedding(): Promise<void> {
  section(`Embedding, by a runner that takes ${textTime} ms for a text`);
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    const input: readonly string[] = request.method === 'POST' ? JSON.parse(text).input : [];
    await wait(input.length * textTime);
    const embeddings = input.map((_, at) => Array.from(subjects[at % subjects.length] ?? []));
    response.end(JSON.stringify(request.method === 'POST' ? { embeddings } : { version: '1' }));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${portOf(server)}`;
  const some = Array.from({ length: 200 }, (_, at) => synthesis.document(at));
  const texts = some.flatMap(({ body }) => sectionsOf(body).map(({ text }) => text));
  const alone = new Embeddings({ url, model: 'm' });
  const signal = AbortSignal.timeout(600_000);
  const [bare, ours]: [number[], number[]] = [[], []];
  for (let run = 0; run < 3; run++) {
    bare.push(
      await perSecond(texts.length, async () => {
        for (let at = 0; at < texts.length; at += 64)
          await alone.embed(texts.slice(at, at + 64), { kind: 'text', signal });
      }),
    );
    const index = await openIndex(join(folder, `embedding-${run}.db`), new Embeddings({ url, model: 'm' }));
    ours.push(
      await perSecond(texts.length, async () => {
        for (let at = 0; at < some.length; at += 16) await index.put(some.slice(at, at + 16));
      }),
    );
    await index.close();
  }
  const [rate, own] = [median(bare), median(ours)];
  row('the runner alone', `${rate.toFixed(0)} sections a second`);
  row('into the store', `${own.toFixed(0)} a second: ${(own / rate).toFixed(2)}`, { goal: '0.9' });
  await alone.close();
  server.close();
}

/** Each section has a vector, and each question is embedded at once: what is left is comparing and joining. */
async function searching(count: number): Promise<void> {
  const file = join(folder, `vectors-${count}.db`);
  const before = process.memoryUsage().rss;
  const worker = resolve('dist/docs-service/indexWorker.cjs');
  const text = createSqliteIndex(join(folder, `index-${count}.db`), worker, console.log);
  let vectors = await openIndex(file, synthetic);
  for (let at = 0; at < count; at += pieceSize) {
    const piece = Array.from({ length: Math.min(pieceSize, count - at) }, (_, one) =>
      synthesis.document(at + one),
    );
    await Promise.all([text.apply({ put: piece }), vectors.put(piece)]);
  }
  await text.apply({ isComplete: true });
  await vectors.close();
  section(`Search of ${count} documents, ${count * sectionsEach} sections of ${dimensions} numbers`);
  const bytes = [file, `${file}-wal`].map((path) => statSync(path, { throwIfNoEntry: false })?.size ?? 0);
  row('the file of the vectors', `${(bytes.reduce((sum, one) => sum + one) / 1e6).toFixed(1)} MB`);

  const begun = performance.now();
  vectors = await openIndex(file, synthetic);
  await vectors.refresh();
  const search = createLibrarySearch(text, {
    generation: 0,
    nearest: (question, options) => vectors.nearest(question, options),
  });
  const words = [...synthesis.common, ...synthesis.middling];
  const query = (round: number) => ({
    text: words[round % words.length] ?? '',
    drafts: false,
    limit: 20,
    offset: 0,
  });
  await search.search(query(0));
  row('restart to the first answer', `${(performance.now() - begun).toFixed(0)} ms`);
  const memory = process.memoryUsage().rss - before;
  row('memory of the process, more than before', `${(memory / 1e6).toFixed(0)} MB`);
  const nearest = await times((round) => vectors.nearest(query(round).text, { drafts: false, count: 100 }));
  const plain = await times((round) => search.search(query(round), 'text'));
  const both = await times((round) => search.search(query(round)));
  row('the nearest 100 sections', figuresOf(nearest));
  row('by text', figuresOf(plain));
  row('by text and meaning', figuresOf(both), { goal: 'p99 30 ms more' });
  await Promise.all([text.close(), vectors.close()]);
}

function figuresOf(taken: readonly number[]): string {
  return `p50 ${quantile(taken, 0.5).toFixed(2)} ms, p99 ${quantile(taken, 0.99).toFixed(2)} ms`;
}

async function openIndex(file: string, embeddings: typeof synthetic): Promise<MeaningIndex> {
  const store = await openSqliteVectors(file);
  return new MeaningIndex({ store, embeddings, model: 'm', onChange: () => undefined });
}

/** Vectors at once, around those of the subjects. */
const synthetic: Pick<Embeddings, 'embed' | 'close'> = {
  embed: async (texts) =>
    texts.map((text) => {
      const seed = seedOf(text);
      const noise = randomVector(seed + 1_000);
      return (subjects[seed % subjects.length] ?? noise).map((number, at) => number + 0.7 * (noise[at] ?? 0));
    }),
  close: async () => undefined,
};

await embedding();
await searching(documents);
await searching(Math.ceil(wantedSections / sectionsEach));
rmSync(folder, { recursive: true });

function randomVector(seed: number): Float32Array {
  let state = seed % 2_147_483_647 || 1;
  return Float32Array.from({ length: dimensions }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return (state / 2_147_483_647) * 2 - 1;
  });
}

function seedOf(text: string): number {
  let seed = 7;
  for (let at = 0; at < text.length; at++) seed = (seed * 31 + text.charCodeAt(at)) % 1_000_003;
  return seed;
}

async function perSecond(count: number, work: () => Promise<void>): Promise<number> {
  return (count / (await timed(work))) * 1_000;
}

async function times(work: (round: number) => Promise<unknown>): Promise<readonly number[]> {
  const taken: number[] = [];
  for (let round = 0; round < rounds; round++) {
    taken.push(await timed(() => work(round)));
  }
  return taken;
}
