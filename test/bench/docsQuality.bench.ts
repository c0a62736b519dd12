// How good the order of a search is, with and without meaning: questions about this project's own pages and about the
// documentation of Fastify, which is among the packages of this project. It needs a runner that embeds.
// Usage: RUNNER_TEST_EMBEDDINGS=http://127.0.0.1:11434 RUNNER_TEST_EMBEDDINGS_MODEL=nomic-embed-text
//        node .tap-build/docsQuality.bench.mjs
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { createEmbeddings } from '../../docs-service/meaning/embeddings.ts';
import { createLibrarySearch, type LibrarySearch } from '../../docs-service/meaning/librarySearch.ts';
import { MeaningIndex } from '../../docs-service/meaning/meaningIndex.ts';
import { openSqliteVectors } from '../../docs-service/meaning/sqliteVectors.ts';
import { createSqliteIndex } from '../../docs-service/search/sqlite/sqliteIndex.ts';
import { documentOf } from '../support/documents.ts';
import { createFigures } from './figures.ts';

type Question = readonly [sentence: string, words: string, slug: string];

const { RUNNER_TEST_EMBEDDINGS: url, RUNNER_TEST_EMBEDDINGS_MODEL: model = 'nomic-embed-text' } = process.env;
const questions = JSON.parse(readFileSync('test/fixtures/docsQuestions.json', 'utf8')) as Readonly<
  Record<'runner' | 'fastify', readonly Question[]>
>;
const { section, row } = createFigures('docsQuality');
const places = [5, 10];

if (url === undefined) {
  section('Quality');
  row('all of it', 'left out: RUNNER_TEST_EMBEDDINGS names no runner');
} else {
  const fastify = 'node_modules/fastify/docs';
  await judge("This project's pages", ['docs'], questions.runner);
  await judge(
    'The documentation of Fastify',
    [`${fastify}/Guides`, `${fastify}/Reference`],
    questions.fastify,
  );
}

async function judge(title: string, folders: readonly string[], asked: readonly Question[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'runner-docs-bench-'));
  const worker = resolve('dist/docs-service/indexWorker.cjs');
  const index = createSqliteIndex({ file: join(folder, 'index.db'), worker, log: console.log });
  const store = await openSqliteVectors(join(folder, 'vectors.db'));
  const embeddings = createEmbeddings({ url: url ?? '', model });
  const vectors = new MeaningIndex({ store, embeddings, model, onChange: () => undefined });
  const documents = folders.flatMap(readDocuments);
  await index.apply({ put: documents, isComplete: true });
  for (let at = 0; at < documents.length; at += 8) await vectors.put(documents.slice(at, at + 8));
  const search = createLibrarySearch(index, {
    generation: 0,
    progress: { embedded: documents.length, toEmbed: 0 },
    nearest: (question, options) => vectors.nearest(question, options),
    embedAll: async () => undefined,
    close: async () => undefined,
  });
  section(`${title}: ${documents.length} documents, ${asked.length} questions, with ${model}`);
  for (const [name, column] of Object.entries({ sentences: 0, 'a few words': 1 } as const))
    for (const mode of ['text', 'meaning', 'both'] as const) {
      const ranks = await ranksOf(
        search,
        asked.map((one) => [one[column], one[2]] as const),
        mode,
      );
      const reciprocal = ranks.reduce<number>((sum, rank) => sum + (rank === undefined ? 0 : 1 / rank), 0);
      const recalls = places.map((place) => {
        const found = ranks.filter((rank) => rank !== undefined && rank <= place).length;
        return `recall at ${place} ${(found / ranks.length).toFixed(2)}`;
      });
      row(`${name}, by ${mode}`, `MRR ${(reciprocal / ranks.length).toFixed(2)}, ${recalls.join(', ')}`);
    }
  await Promise.all([index.close(), vectors.close()]);
  rmSync(folder, { recursive: true });
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
