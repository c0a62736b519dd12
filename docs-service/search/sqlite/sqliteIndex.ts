import { Worker } from 'node:worker_threads';
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
    changedAt: (slugs) => reader.call('changedAt', slugs),
    nearSlugs: (slug, limit) => reader.call('nearSlugs', slug, limit),
    slugsFrom: (prefix, limit) => reader.call('slugsFrom', prefix, limit),
    terms: (kind, who) => reader.call('terms', kind, who),
    collections: () => reader.call('collections'),
    summary: () => reader.call('summary'),
    lostFiles: () => reader.call('lostFiles'),
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

/** The start data of a worker: it has the file open, or only analyses documents for one that has. */
export type IndexThreadData = IndexFileData | { readonly analyses: true };

export interface IndexFileData {
  readonly file: string;
  /** The path of the worker's program. */
  readonly program: string;
}

export interface IndexRequest {
  readonly id: number;
  readonly method: string;
  readonly parameters: readonly unknown[];
}

/** Each answer has the state of the library that it was read from; `id` is missing if only the state is new. */
export interface IndexAnswer {
  readonly id?: number;
  readonly state?: LibraryState;
  readonly value?: unknown;
  readonly error?: { readonly kind: 'unavailable' | 'query' | 'unexpected'; readonly message: string };
}

type IndexMethods = SqliteReader &
  Omit<SqliteWriter, 'apply'> & { apply(changes: IndexChanges): void; close(): void };

interface IndexThread {
  call<Method extends keyof IndexMethods>(
    method: Method,
    ...parameters: Parameters<IndexMethods[Method]>
  ): Promise<ReturnType<IndexMethods[Method]>>;
  /** Lets the calls in progress finish. */
  close(): Promise<void>;
}

interface IndexThreadOptions {
  readonly file: string;
  /** The path of the worker's program. */
  readonly worker: string;
  readonly log: (message: string) => void;
  /** Called with the state of each answer, before the answer is returned. */
  readonly onState: (state: LibraryState) => void;
}

/** In ms. */
const shortLife = 1_000;

interface Waiting {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}

/** A worker with a connection to the database. After it dies, it is restarted, by the next call at the latest. */
function createIndexThread({ file, worker, log, onState }: IndexThreadOptions): IndexThread {
  let running: { readonly worker: Worker; readonly waiting: Map<number, Waiting> } | undefined;
  let isClosed = false;
  let lastId = 0;

  const start = () => {
    const waiting = new Map<number, Waiting>();
    const started = {
      worker: new Worker(worker, { workerData: { file, program: worker } satisfies IndexThreadData }),
      waiting,
    };
    const begun = performance.now();
    let reason = 'it ended';
    started.worker.on('message', (answer: IndexAnswer) => {
      if (answer.state !== undefined) onState(answer.state);
      if (answer.id !== undefined) settle(waiting, answer.id, answer);
    });
    started.worker.on('error', (error) => (reason = error.message));
    started.worker.on('exit', () => {
      if (running === started) running = undefined;
      if (!isClosed) log(`The worker of the index has died: ${reason}. It is being restarted.`);
      for (const { reject } of waiting.values())
        reject(new IndexUnavailableError('The index stopped during the request. Try again.'));
      // A worker that dies at once waits for the next call.
      if (!isClosed && performance.now() - begun > shortLife) running ??= start();
    });
    return started;
  };

  const call: IndexThread['call'] = (method, ...parameters) => {
    if (isClosed) return Promise.reject(new IndexUnavailableError('The index is closed.'));
    const id = ++lastId;
    const { worker, waiting } = (running ??= start());
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      worker.postMessage({ id, method, parameters } satisfies IndexRequest);
    });
  };
  const close = async () => {
    if (isClosed || !running) return void (isClosed = true);
    const { worker } = running;
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    const closing = call('close');
    isClosed = true;
    await Promise.allSettled([closing, ended]);
  };
  return { call, close };
}

function settle(waiting: Map<number, Waiting>, id: number, { value, error }: IndexAnswer): void {
  const call = waiting.get(id);
  waiting.delete(id);
  if (error) call?.reject(toError(error));
  // The worker answers with what the method returns.
  else call?.resolve(value as never);
}

function toError({ kind, message }: NonNullable<IndexAnswer['error']>): Error {
  if (kind === 'query') return new QueryError(message);
  return kind === 'unavailable' ? new IndexUnavailableError(message) : new Error(message);
}
