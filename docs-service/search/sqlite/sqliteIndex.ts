import { CalledWorker, type WorkerFailure } from '../../base/calledWorker.ts';
import {
  type DocumentIndex,
  IndexUnavailableError,
  type IndexWriter,
  passOn,
  type Queries,
  QueryError,
} from '../documentIndex.ts';
import { createChanges, type LibraryState } from '../indexDatabase.ts';

/**
 * The index in an SQLite file. Readers and the writer have a thread each, so that neither waits for a transaction.
 * @param file created if it is missing; several processes may share it
 * @param program of the worker, `docs-service/indexWorker.cjs` beside this one
 */
export function createSqliteIndex(
  file: string,
  program: string,
  log: (message: string) => void,
): DocumentIndex & IndexWriter {
  const changes = createChanges();
  const data: IndexThreadData = { file, program };
  const start = () =>
    new CalledWorker<IndexMethods, LibraryState>({
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
