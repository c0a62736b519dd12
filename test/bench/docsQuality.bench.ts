// How good the order of a search is: questions about this project's own pages and about the documentation of Fastify,
// which is among the packages of this project. A judged collection and a runner that embeds may be named.
// Usage: RUNNER_TEST_CISI=cisi.json RUNNER_TEST_EMBEDDINGS=http://127.0.0.1:11434
//        RUNNER_TEST_EMBEDDINGS_MODEL=nomic-embed-text node .tap-build/docsQuality.bench.mjs
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import type { Document } from '../../docs-service/content/document.ts';
import { createEmbeddings } from '../../docs-service/meaning/embeddings.ts';
import { createLibrarySearch, type LibrarySearch } from '../../docs-service/meaning/librarySearch.ts';
import { MeaningIndex } from '../../docs-service/meaning/meaningIndex.ts';
import { openSqliteVectors } from '../../docs-service/meaning/sqliteVectors.ts';
import { createSqliteIndex } from '../../docs-service/search/sqlite/sqliteIndex.ts';
import { documentOf } from '../support/documents.ts';
import { createFigures } from './figures.ts';

type Question = readonly [sentence: string, words: string, slug: string];

/** By their names: documents, questions, and the names of the documents that answer each. */
interface Collection {
  readonly docs: Readonly<Record<string, readonly [title: string, text: string]>>;
  readonly queries: Readonly<Record<string, string>>;
  readonly relevant: Readonly<Record<string, readonly (string | number)[]>>;
}

const {
  RUNNER_TEST_CISI: judged,
  RUNNER_TEST_EMBEDDINGS: url,
  RUNNER_TEST_EMBEDDINGS_MODEL: model = 'nomic-embed-text',
} = process.env;
const questions = JSON.parse(readFileSync('test/fixtures/docsQuestions.json', 'utf8')) as Readonly<
  Record<'runner' | 'fastify', readonly Question[]>
>;
const { section, row } = createFigures('docsQuality');
const places = [5, 10];

const fastify = 'node_modules/fastify/docs';
await judge("This project's pages", ['docs'], questions.runner);
await judge('The documentation of Fastify', [`${fastify}/Guides`, `${fastify}/Reference`], questions.fastify);
if (judged !== undefined) await judgeCollection(JSON.parse(readFileSync(judged, 'utf8')) as Collection);

async function judge(title: string, folders: readonly string[], asked: readonly Question[]): Promise<void> {
  const documents = folders.flatMap(readDocuments);
  await using library = await openLibrary(documents);
  section(`${title}: ${documents.length} documents, ${asked.length} questions`);
  for (const [name, column] of Object.entries({ sentences: 0, 'a few words': 1 } as const))
    for (const mode of library.modes) {
      const ranks = await ranksOf(
        library.search,
        asked.map((one) => [one[column], one[2]] as const),
        mode,
      );
      const reciprocal = ranks.reduce<number>((sum, rank) => sum + (rank === undefined ? 0 : 1 / rank), 0);
      const recalls = places.map((place) => {
        const found = ranks.filter((rank) => rank !== undefined && rank <= place).length;
        return `recall at ${place} ${(found / ranks.length).toFixed(2)}`;
      });
      row(`${name}, by ${mode}`, `MRR ${(reciprocal / ranks.length).toFixed(3)}, ${recalls.join(', ')}`);
    }
}

/** nDCG at 10, where a document answers a question or does not. */
async function judgeCollection({ docs, queries, relevant }: Collection): Promise<void> {
  const slugOf = (name: string | number) => `d${name}`;
  const documents = Object.entries(docs).map(([name, [title, text]]) =>
    documentOf(slugOf(name), text, { title }),
  );
  await using library = await openLibrary(documents);
  section(`A judged collection: ${documents.length} documents, ${Object.keys(relevant).length} questions`);
  const gain = (rank: number) => 1 / Math.log2(rank + 2);
  let sum = 0;
  let count = 0;
  for (const [name, question] of Object.entries(queries)) {
    const right = new Set(relevant[name]?.map(slugOf));
    if (right.size === 0) continue;
    // A question may have as many words; quotation marks would ask for a phrase.
    const text = question.replaceAll('"', ' ').split(/\s+/).slice(0, 60).join(' ').slice(0, 1_000);
    const { items } = await library.search.search({ text, drafts: false, limit: 10, offset: 0 }, 'text');
    const best = Array.from({ length: Math.min(10, right.size) }, (_, rank) => gain(rank));
    const found = items.map(({ document }, rank) => (right.has(document.slug) ? gain(rank) : 0));
    const total = (gains: readonly number[]) => gains.reduce((all, one) => all + one, 0);
    sum += total(found) / total(best);
    count += 1;
  }
  row('questions, by text', `nDCG@10 ${(sum / count).toFixed(3)}`);
}

async function openLibrary(documents: readonly Document[]) {
  const folder = mkdtempSync(join(tmpdir(), 'runner-docs-bench-'));
  const worker = resolve('dist/docs-service/indexWorker.cjs');
  const index = createSqliteIndex({ file: join(folder, 'index.db'), worker, log: console.log });
  await index.apply({ put: documents, isComplete: true });
  const vectors = url === undefined ? undefined : await embed(url, join(folder, 'vectors.db'), documents);
  const search = createLibrarySearch(
    index,
    vectors && {
      generation: 0,
      progress: { embedded: documents.length, toEmbed: 0 },
      nearest: (question, options) => vectors.nearest(question, options),
      embedAll: async () => undefined,
      close: async () => undefined,
    },
  );
  const modes = vectors ? (['text', 'meaning', 'both'] as const) : (['text'] as const);
  const dispose = async () => {
    await Promise.all([index.close(), vectors?.close()]);
    rmSync(folder, { recursive: true });
  };
  return { search, modes, [Symbol.asyncDispose]: dispose };
}

async function embed(url: string, file: string, documents: readonly Document[]): Promise<MeaningIndex> {
  const store = await openSqliteVectors(file);
  const embeddings = createEmbeddings({ url, model });
  const vectors = new MeaningIndex({ store, embeddings, model, onChange: () => undefined });
  for (let at = 0; at < documents.length; at += 8) await vectors.put(documents.slice(at, at + 8));
  return vectors;
}

/** The place of the right document for each question, from 1; undefined if it was not found. */
async function ranksOf(
  search: LibrarySearch,
  asked: readonly (readonly [text: string, slug: string])[],
  mode: 'text' | 'meaning' | 'both',
): Promise<readonly (number | undefined)[]> {
  const ranks: (number | undefined)[] = [];
  for (const [text, slug] of asked) {
    const { items } = await search.search({ text, drafts: false, limit: 50, offset: 0 }, mode);
    const at = items.findIndex(({ document }) => document.slug === slug);
    ranks.push(at < 0 ? undefined : at + 1);
  }
  return ranks;
}

function readDocuments(folder: string) {
  const names = readdirSync(folder).filter((name) => name.endsWith('.md') && name !== 'Index.md');
  return names.map((name) => {
    const slug = basename(name, '.md').toLowerCase();
    const body = readFileSync(join(folder, name), 'utf8').replace(/^---\n[\s\S]*?\n---\n/, '');
    const title = /^(?:# |<h1[^>]*>)(.*?)(?:<\/h1>)?$/m.exec(body)?.[1] ?? slug;
    return documentOf(slug, body, { title, contentHash: slug });
  });
}
