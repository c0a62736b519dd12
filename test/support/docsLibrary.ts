import { join, resolve } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import {
  type ContentFolder,
  type ContentOptions,
  openContentFolder,
} from '../../docs-service/content/contentFolder.ts';
import type { ContentProblem, ContentWarning } from '../../docs-service/content/document.ts';
import { Library } from '../../docs-service/library/library.ts';
import { LibraryIndexer } from '../../docs-service/library/libraryIndexer.ts';
import type { SlugRecord, SlugRecords } from '../../docs-service/library/slugRegister.ts';
import type { DocumentIndex, IndexWriter } from '../../docs-service/search/documentIndex.ts';
import { createSqliteIndex } from '../../docs-service/search/sqlite/sqliteIndex.ts';
import { temporaryFolder } from './temporaryFolder.ts';

/** What was built beside the program. */
export const parts = resolve('dist/docs-service');

interface Teardown {
  teardown(work: () => unknown): void;
}

export interface TestLibrary {
  /** The content folder. */
  readonly content: string;
  readonly folder: ContentFolder;
  readonly index: DocumentIndex & IndexWriter;
  readonly indexer: LibraryIndexer;
  readonly problems: readonly ContentProblem[];
  readonly warnings: readonly ContentWarning[];
  /** The sentences about documents that the index should have. */
  readonly losses: readonly string[];
  readonly records: SlugRecords;
  /** The slugs of the list, in its order. */
  slugs(): Promise<readonly string[]>;
}

export interface TestLibraryOptions extends ContentOptions {
  readonly now?: () => number;
  readonly future?: boolean;
  /** The content folder and the file of the index of another library, to go on with. */
  readonly content?: string;
  readonly file?: string;
  readonly records?: SlugRecords;
}

/** A library on a real folder and a real index. Nothing is indexed until somebody says so. */
export async function openTestLibrary(
  t: Teardown,
  files: Readonly<Record<string, string | Uint8Array>>,
  // Far in the future no file is so young that it may be half written.
  { now = () => Date.now() + 3_600_000, ...given }: TestLibraryOptions = {},
): Promise<TestLibrary> {
  const content = given.content ?? (await temporaryFolder(t, files));
  const file = given.file ?? join(await temporaryFolder(t), 'index.db');
  const index = createSqliteIndex(file, join(parts, 'indexWorker.cjs'), () => undefined);
  t.teardown(() => index.close());
  const folder = await openContentFolder(content, given);
  const problems: ContentProblem[] = [];
  const warnings: ContentWarning[] = [];
  const losses: string[] = [];
  const { records = createSlugRecords() } = given;
  const indexer = await LibraryIndexer.create({
    folder,
    index,
    slugs: records,
    now,
    future: given.future,
    onProblem: (problem) => problems.push(problem),
    onWarnings: (found) => warnings.push(...found),
    onLoss: (sentence) => losses.push(sentence),
  });
  const slugs = async () =>
    (await index.list({ limit: 100, offset: 0, drafts: true })).items.map(({ slug }) => slug);
  return { content, folder, index, indexer, problems, warnings, losses, records, slugs };
}

/** The index is as if somebody had deleted it, and not all files were read again yet. Returns what ends that. */
export function beginAnew(index: DocumentIndex): () => void {
  const { summary } = index;
  Object.assign(index, {
    summary: async () => ({ documents: 0, problems: [], warnings: [], isComplete: false }),
  });
  const before = Object.getOwnPropertyDescriptor(index, 'generation') ?? {};
  Object.defineProperty(index, 'generation', { value: index.generation + 1, configurable: true });
  return () => {
    Object.assign(index, { summary });
    Object.defineProperty(index, 'generation', before);
  };
}

/** Slugs that last as long as the test. */
export function createSlugRecords(): SlugRecords {
  const kept = new Map<string, SlugRecord>();
  return {
    all: async () => [...kept.values()],
    async change(put, remove) {
      for (const slug of remove) kept.delete(slug);
      for (const record of put) kept.set(record.slug, record);
    },
  };
}

/** A library that follows its folder, and what resolves once it has come to a state. */
export async function followTestLibrary(t: Teardown, library: TestLibrary) {
  const errors: Error[] = [];
  const following = new Library({
    folder: library.folder,
    indexer: library.indexer,
    rescan: 3_600,
    onError: (error) => errors.push(error),
  });
  t.teardown(() => following.close());
  await following.start();
  return {
    errors,
    following,
    /** Looks after each change of the index whether it is so. */
    async until(isSo: () => Promise<boolean>): Promise<void> {
      await new Promise<void>((resolve, reject) => {
        const look = () =>
          void isSo().then((so) => (so ? resolve(subscription.dispose()) : undefined), reject);
        const subscription = library.index.onDidChange(look);
        look();
      });
    },
  };
}

/** Around a command whose output somebody else takes. */
export const quietSurroundings = {
  env: {},
  version: '0',
  program: '',
  parts,
  sample: '',
  isTerminal: false,
  ending: new AbortController().signal,
  readLine: async () => undefined,
  protocolStreams: () => ({ input: Readable.from([]), output: new PassThrough() }),
};
