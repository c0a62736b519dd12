// What finding by meaning costs: embedding beside the runner alone, and a search beside the same search by text.
// Usage: node .tap-build/docsMeaning.bench.mjs [--sections 100000] [--documents 2000]
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Document } from '../../docs-service/content/document.ts';
import { createEmbeddings, type Embeddings } from '../../docs-service/meaning/embeddings.ts';
import { MeaningIndex } from '../../docs-service/meaning/meaningIndex.ts';
import { openSqliteVectors } from '../../docs-service/meaning/sqliteVectors.ts';
import { sectionsOf } from '../../docs-service/search/sections.ts';
import { createSqliteIndex } from '../../docs-service/search/sqlite/sqliteIndex.ts';
import { portOf } from '../support/recordings.ts';
import { createSynthesis } from '../support/syntheticDocuments.ts';
import { createFigures, median } from './figures.ts';

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
const { section, row } = createFigures('docsMeaning');
const synthesis = createSynthesis();
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
  const alone = createEmbeddings({ url, model: 'm' });
  const signal = AbortSignal.timeout(600_000);
  const [bare, ours]: [number[], number[]] = [[], []];
  for (let run = 0; run < 3; run++) {
    bare.push(
      await perSecond(texts.length, async () => {
        for (let at = 0; at < texts.length; at += 64)
          await alone.embed(texts.slice(at, at + 64), { kind: 'text', signal });
      }),
    );
    const index = await openIndex(join(folder, `embedding-${run}.db`), createEmbeddings({ url, model: 'm' }));
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

async function searching(): Promise<void> {
  section(`Search with ${wantedSections} sections of ${dimensions} numbers`);
  const file = join(folder, 'vectors.db');
  const before = process.memoryUsage().rss;
  let index = await openIndex(file, synthetic);
  const many = Math.ceil(wantedSections / 8);
  for (let at = 0; at < many; at += 200)
    await index.put(Array.from({ length: Math.min(200, many - at) }, (_, one) => documentWith(at + one)));
  await index.close();
  row('the file', `${(statSync(file).size / 1e6).toFixed(0)} MB`);
  const begun = performance.now();
  index = await openIndex(file, synthetic);
  await index.refresh();
  await index.nearest('question 0', { drafts: false, count: 100 });
  row('restart to the first answer', `${(performance.now() - begun).toFixed(0)} ms`);
  row(
    'memory of the process, more than before',
    `${((process.memoryUsage().rss - before) / 1e6).toFixed(0)} MB`,
  );
  const nearest = await times((round) =>
    index.nearest(`question ${round % 50}`, { drafts: false, count: 100 }),
  );
  row('the nearest 100 sections', `p50 ${quantile(nearest, 0.5)} ms, p99 ${quantile(nearest, 0.99)} ms`, {
    goal: 'p99 30 ms',
  });

  section(`Search of ${documents} documents, the question embedded already`);
  const text = createSqliteIndex({
    file: join(folder, 'index.db'),
    worker: resolve('dist/docs-service/indexWorker.cjs'),
    log: console.log,
  });
  const all = Array.from({ length: documents }, (_, at) => synthesis.document(at));
  for (let at = 0; at < all.length; at += 500) await text.apply({ put: all.slice(at, at + 500) });
  await text.apply({ isComplete: true });
  const asked = { drafts: false, limit: 20, offset: 0 };
  const words = [...synthesis.common, ...synthesis.middling];
  const near = {
    sections: all.slice(0, 100).map(({ slug }) => ({ slug, place: 0 })),
    count: 100,
    isAlone: false,
  };
  const query = (round: number) => ({ ...asked, text: words[round % words.length] ?? '' });
  const plain = await times((round) => text.search(query(round)));
  const joined = await times((round) => text.search({ ...query(round), near }));
  row('by text', `p50 ${quantile(plain, 0.5)} ms, p99 ${quantile(plain, 0.99)} ms`);
  row(
    'joined with the nearest sections',
    `p50 ${quantile(joined, 0.5)} ms, p99 ${quantile(joined, 0.99)} ms`,
    {
      goal: 'p99 30 ms more',
    },
  );
  await text.close();
  await index.close();
}

async function openIndex(file: string, embeddings: Embeddings): Promise<MeaningIndex> {
  const store = await openSqliteVectors(file);
  return new MeaningIndex({ store, embeddings, model: 'm', onChange: () => undefined });
}

/** Vectors at once, around those of the subjects. */
const synthetic: Embeddings = {
  embed: async (texts) =>
    texts.map((text) => {
      const seed = seedOf(text);
      const noise = randomVector(seed + 1_000);
      return (subjects[seed % subjects.length] ?? noise).map((number, at) => number + 0.7 * (noise[at] ?? 0));
    }),
  close: async () => undefined,
};

await embedding();
await searching();
rmSync(folder, { recursive: true });

function documentWith(number: number): Document {
  const body = Array.from({ length: 8 }, (_, at) => `# Part ${at}\n\nText ${number} ${at}.`).join('\n\n');
  return {
    ...synthesis.document(0),
    slug: `document-${number}`,
    contentHash: String(number),
    draft: false,
    body,
  };
}

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
  const begun = performance.now();
  await work();
  return (count / (performance.now() - begun)) * 1_000;
}

async function times(work: (round: number) => Promise<unknown>): Promise<readonly number[]> {
  const taken: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const begun = performance.now();
    await work(round);
    taken.push(performance.now() - begun);
  }
  return taken.sort((one, other) => one - other);
}

function quantile(sorted: readonly number[], share: number): string {
  return (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(2);
}
