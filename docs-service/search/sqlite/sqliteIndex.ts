import { createCalledWorker, type WorkerFailure } from '../../base/calledWorker.ts';
import {
  type DocumentIndex,
  IndexUnavailableError,
  type IndexWriter,
  passOn,
  type Queries,
  QueryError,
} from '../documentIndex.ts';
import { createChanges, type LibraryState } from '../indexDatabase.ts';

interface SqliteIndexOptions {
  /** Created if it is missing. Several processes may share it. */
  readonly file: string;
  /** The worker's program, `docs-service/indexWorker.cjs` beside this one. */
  readonly worker: string;
  readonly log: (message: string) => void;
}

/** The index in an SQLite file. Readers and the writer have a thread each, so that neither waits for a transaction. */
export function createSqliteIndex({
  file,
  worker: program,
  log,
}: SqliteIndexOptions): DocumentIndex & IndexWriter {
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
  return {
    get generation() {
      return changes.generation();
    },
    ...passOn((name, asked) => reader.call(name, ...(asked as never))),
    files: () => writer.call('files'),
    indexId: () => writer.call('indexId'),
    apply: (wanted) => writer.call('apply', wanted),
    onDidChange: changes.onDidChange,
    close: async () => {
      changes.clear();
      await Promise.all([reader.close(), writer.close()]);
    },
  };
}

/** The start data of a worker. Without a file it only analyses documents, for one that has it open. */
export interface IndexThreadData {
  readonly file?: string;
  /** The path of the worker's program. */
  readonly program: string;
}

type IndexMethods = Queries & IndexWriter;

function toError({ kind, message }: WorkerFailure): Error {
  if (kind === 'query') return new QueryError(message);
  return kind === 'unavailable' ? new IndexUnavailableError(message) : new Error(message);
}
