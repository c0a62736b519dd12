import { createChanges } from '../changes.ts';
import { type DocumentIndex, IndexUnavailableError, type IndexWriter } from '../documentIndex.ts';
import { createIndexThread } from './indexThread.ts';

export interface SqliteIndexOptions {
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
  const changes = createChanges();
  const { onState } = changes;
  const reader = createIndexThread({ ...options, onState });
  const writer = createIndexThread({ ...options, onState });
  // From now on, changes are noticed; the first call shows whether the index can be read.
  reader.call('summary').catch(() => undefined);
  const refuseIfReadOnly = () => {
    if (options.readOnly) throw new IndexUnavailableError('This index is open for reading only.');
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
    nearSlugs: (slug, limit) => reader.call('nearSlugs', slug, limit),
    slugsFrom: (prefix, limit) => reader.call('slugsFrom', prefix, limit),
    collections: () => reader.call('collections'),
    summary: () => reader.call('summary'),
    files: async () => {
      refuseIfReadOnly();
      return writer.call('files');
    },
    indexId: async () => {
      refuseIfReadOnly();
      return writer.call('indexId');
    },
    apply: async (wanted) => {
      refuseIfReadOnly();
      return writer.call('apply', wanted);
    },
    onDidChange: changes.onDidChange,
    close: async () => {
      changes.clear();
      await Promise.all([reader.close(), writer.close()]);
    },
  };
}
