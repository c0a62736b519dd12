import { createCalledWorker, type WorkerFailure } from '../../base/calledWorker.ts';
import { createChanges, type LibraryState } from '../changes.ts';
import {
  type DocumentIndex,
  type IndexChanges,
  IndexUnavailableError,
  type IndexWriter,
  QueryError,
} from '../documentIndex.ts';
import type { SqliteReader } from './sqliteReader.ts';
import type { SqliteWriter } from './sqliteWriter.ts';

interface SqliteIndexOptions {
  /** Created if it is missing. Several processes may share it. */
  readonly file: string;
  /** The worker's program, `docs-service/indexWorker.cjs` beside this one. */
  readonly worker: string;
  /** Whether everything that only a writer needs is refused. */
  readonly readOnly?: boolean;
  readonly log: (message: string) => void;
}

/** The index in an SQLite file. Readers and the writer have a thread each, so that neither waits for a transaction. */
export function createSqliteIndex(options: SqliteIndexOptions): DocumentIndex & IndexWriter {
  const { file, worker: program, log } = options;
  const changes = createChanges();
  const data: IndexThreadData = { file, program };
  const start = () =>
    createCalledWorker<IndexMethods, LibraryState>({
      ...{ program, data, name: 'index', log, toError },
      // Each answer has the state of the library that it was read from.
      onNote: changes.onState,
    });
  const [reader, writer] = [start(), start()];
  // From now on, changes are noticed; the first call shows whether the index can be read.
  reader.call('summary').catch(() => undefined);
  const writing =
    <Name extends 'files' | 'indexId' | 'apply'>(name: Name) =>
    async (...parameters: Parameters<IndexMethods[Name]>) => {
      if (options.readOnly) throw new IndexUnavailableError('This index is open for reading only.');
      return writer.call(name, ...parameters);
    };
  return {
    get generation() {
      return changes.generation();
    },
    list: (query) => reader.call('list', query),
    search: (query) => reader.call('search', query),
    read: (slug) => reader.call('read', slug),
    metadataOf: (slugs) => reader.call('metadataOf', slugs),
    select: (selection) => reader.call('select', selection),
    slugsOf: (paths) => reader.call('slugsOf', paths),
    slugsNamed: (names, who) => reader.call('slugsNamed', names, who),
    changedAt: (slugs) => reader.call('changedAt', slugs),
    nearSlugs: (slug, limit) => reader.call('nearSlugs', slug, limit),
    slugsFrom: (prefix, limit) => reader.call('slugsFrom', prefix, limit),
    terms: (kind, who) => reader.call('terms', kind, who),
    collections: () => reader.call('collections'),
    summary: () => reader.call('summary'),
    lostFiles: () => reader.call('lostFiles'),
    files: writing('files'),
    indexId: writing('indexId'),
    apply: writing('apply'),
    onDidChange: changes.onDidChange,
    close: async () => {
      changes.clear();
      await Promise.all([reader.close(), writer.close()]);
    },
  };
}

/** The start data of a worker: it has the file open, or only analyses documents for one that has. */
export type IndexThreadData = IndexFileData | { readonly analyses: true };

export interface IndexFileData {
  readonly file: string;
  /** The path of the worker's program. */
  readonly program: string;
}

type IndexMethods = SqliteReader & Omit<SqliteWriter, 'apply'> & { apply(changes: IndexChanges): void };

function toError({ kind, message }: WorkerFailure): Error {
  if (kind === 'query') return new QueryError(message);
  return kind === 'unavailable' ? new IndexUnavailableError(message) : new Error(message);
}
