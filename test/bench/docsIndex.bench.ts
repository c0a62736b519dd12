// Usage: node .tap-build/docsIndex.bench.mjs [--documents 100000] [--engine sqlite|postgres]
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { DocumentIndex, IndexWriter } from '../../docs-service/search/documentIndex.ts';
import { createPostgresIndex } from '../../docs-service/search/postgres/postgresIndex.ts';
import { createSqliteIndex } from '../../docs-service/search/sqlite/sqliteIndex.ts';
import { startPostgres, tryFindPostgres } from '../support/postgres.ts';
import { createSynthesis, type Synthesis } from '../support/syntheticDocuments.ts';
import { createFigures, quantile } from './figures.ts';

type Index = DocumentIndex & IndexWriter;

const { values: options } = parseArgs({
  options: { documents: { type: 'string' }, engine: { type: 'string' } },
  strict: false,
});
const count = Number(options.documents ?? 2_000);
/** The caller of the index gives documents in such pieces. */
const piece = 1_000;
const rounds = 200;
const figures = createFigures('docsIndex');

async function embedded(synthesis: Synthesis): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'runner-docs-bench-'));
  const file = join(folder, 'index.db');
  const open = () => createSqliteIndex(file, resolve('dist/docs-service/indexWorker.cjs'), console.log);
  const index = open();
  figures.section(`SQLite, ${count} documents`);
  await fill(index, synthesis);
  const size = statSync(file).size / 1e6;
  figures.row('the file', `${size.toFixed(0)} MB`);
  await index.close();
  const begun = performance.now();
  const again = open();
  await again.search({ text: synthesis.rare[0] ?? '', drafts: false, limit: 20, offset: 0 });
  figures.row('restart to the first answer', `${(performance.now() - begun).toFixed(0)} ms`);
  await read(again, synthesis);
  await again.close();
  rmSync(folder, { recursive: true });
}

/** On a server of its own, where Debian's PostgreSQL is installed. */
async function shared(synthesis: Synthesis): Promise<void> {
  const bin = tryFindPostgres();
  figures.section(`PostgreSQL, ${count} documents`);
  if (!bin) return figures.row('all of it', 'left out: PostgreSQL is not installed');
  const server = await startPostgres(bin);
  const url = await server.database();
  const index = createPostgresIndex(url, console.log);
  await fill(index, synthesis);
  await index.pool.query('VACUUM ANALYZE docs_documents');
  await index.close();
  const begun = performance.now();
  const again = createPostgresIndex(url, console.log);
  await again.search({ text: synthesis.rare[0] ?? '', drafts: false, limit: 20, offset: 0 });
  figures.row('restart to the first answer', `${(performance.now() - begun).toFixed(0)} ms`);
  await read(again, synthesis);
  await again.close();
  await server.remove();
}

async function fill(index: Index, synthesis: Synthesis): Promise<void> {
  const begun = performance.now();
  const sent: Promise<void>[] = [];
  for (let from = 0; from < count; from += piece) {
    // Made while the pieces before are written, as the library reads its files.
    const put = Array.from({ length: Math.min(piece, count - from) }, (_, at) =>
      synthesis.document(from + at),
    );
    if (sent.length === 3) await sent.shift();
    sent.push(index.apply({ put }));
  }
  await Promise.all(sent);
  await index.apply({ isComplete: true });
  const seconds = (performance.now() - begun) / 1_000;
  figures.row(
    `${count} documents from scratch`,
    `${seconds.toFixed(1)} s, ${((seconds / count) * 1e3).toFixed(2)} ms each`,
  );
}

async function read(index: Index, synthesis: Synthesis): Promise<void> {
  const paging = { drafts: false, limit: 20 };
  await times('list', 'p99 5 ms', (round) => index.list({ ...paging, offset: (round % 10) * 20 }));
  await times('list of a tag', 'p99 5 ms', () => index.list({ ...paging, tag: synthesis.tag, offset: 0 }));
  await times('deep list', 'p99 5 ms', (round) =>
    index.list({ ...paging, offset: Math.floor((count * (round % 19)) / 20) }),
  );
  for (const [name, queries] of Object.entries(queriesOf(synthesis)))
    await times(`search, ${name}`, name.includes('word') ? 'p99 20 ms' : 'p99 40 ms', (round) =>
      index.search({ ...paging, offset: 0, text: queries[round % queries.length] ?? '' }),
    );
  await times('search, common within a tag', 'p99 40 ms', (round) =>
    index.search({ ...paging, tag: synthesis.tag, offset: 0, text: synthesis.common[round % 5] ?? '' }),
  );
}

function queriesOf({
  rare,
  common,
  middling,
  phrases,
}: Synthesis): Readonly<Record<string, readonly string[]>> {
  const some = (words: readonly string[], from: number, count: number) =>
    Array.from({ length: count }, (_, at) => words[(from + at) % words.length] ?? '');
  return {
    'a rare word': rare,
    'a middling word': middling,
    'a common word': common,
    'two words': pairs(middling, common),
    'two common words': pairs(common, common.toReversed()),
    'twelve, six of them common': common.map((_, at) =>
      [...some(common, at, 6), ...some(middling, at, 4), ...some(rare, at, 2)].join(' '),
    ),
    'a mistake in typing': middling.map((word) => word.slice(0, 3) + word.slice(4)),
    phrase: phrases.map((phrase) => `"${phrase}"`),
    'a common one without another': common.map((word, index) => `${word} -${middling[index] ?? ''}`),
    'all but one': middling.map((word) => `-${word}`),
    'prefix of three letters': middling.map((word) => `${word.slice(0, 3)}*`),
    'prefix of one letter': middling.map((word) => `${word.slice(0, 1)}*`),
  };
}

function pairs(one: readonly string[], other: readonly string[]): readonly string[] {
  return one.map((word, index) => `${word} ${other[index % other.length] ?? ''}`);
}

async function times(
  what: string,
  goal: string | undefined,
  work: (round: number) => Promise<unknown>,
): Promise<void> {
  const taken: number[] = [];
  const processor: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const [begun, before] = [performance.now(), process.cpuUsage()];
    await work(round);
    const { user, system } = process.cpuUsage(before);
    taken.push(performance.now() - begun);
    processor.push((user + system) / 1_000);
  }
  row(what, taken, { goal, processor });
}

function row(
  what: string,
  taken: readonly number[],
  { goal, processor }: { readonly goal?: string | undefined; readonly processor?: readonly number[] } = {},
): void {
  const at = (some: readonly number[], part: number) => quantile(some, part).toFixed(2);
  const p99 = Number(at(taken, 0.99));
  const limit = /\d+/.exec(goal ?? '')?.[0];
  const plot = limit === undefined ? {} : { plot: { unit: 'ms', bars: { goal: Number(limit), p99 } } };
  const own = processor ? `; processor p99 ${at(processor, 0.99)} ms` : '';
  figures.row(what, `p50 ${at(taken, 0.5)} ms, p99 ${at(taken, 0.99)} ms${own}`, {
    ...(goal === undefined ? {} : { goal }),
    ...plot,
  });
}

const synthesis = createSynthesis();
if (options.engine !== 'postgres') await embedded(synthesis);
if (options.engine !== 'sqlite') await shared(synthesis);
