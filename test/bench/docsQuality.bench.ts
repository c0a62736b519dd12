// How good the order of a search is: questions about this project's own pages and about the documentation of Fastify,
// which is among the packages of this project. A runner that embeds may be named.
// Usage: RUNNER_TEST_EMBEDDINGS=http://127.0.0.1:11434
//        RUNNER_TEST_EMBEDDINGS_MODEL=nomic-embed-text node .tap-build/docsQuality.bench.mjs
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import type { Document } from '../../docs-service/content/document.ts';
import { Embeddings } from '../../docs-service/meaning/embeddings.ts';
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

const fastify = 'node_modules/fastify/docs';
await judge("This project's pages", ['docs'], questions.runner);
await judge('The documentation of Fastify', [`${fastify}/Guides`, `${fastify}/Reference`], questions.fastify);

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

async function openLibrary(documents: readonly Document[]) {
  const folder = mkdtempSync(join(tmpdir(), 'runner-docs-bench-'));
  const worker = resolve('dist/docs-service/indexWorker.cjs');
  const index = createSqliteIndex(join(folder, 'index.db'), worker, console.log);
  await index.apply({ put: documents, isComplete: true });
  const vectors = url === undefined ? undefined : await embed(url, join(folder, 'vectors.db'), documents);
  const search = createLibrarySearch(
    index,
    vectors && {
      generation: 0,
      nearest: (question, options) => vectors.nearest(question, options),
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
  const embeddings = new Embeddings({ url, model });
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
