import { statSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import type { WorkerAnswer, WorkerFailure, WorkerRequest } from '../../base/calledWorker.ts';
import { type Database, isCorruption } from '../../base/sqliteDatabase.ts';
import type { Document } from '../../content/document.ts';
import type { LibraryState } from '../changes.ts';
import { type IndexChanges, IndexUnavailableError, QueryError } from '../documentIndex.ts';
import { analyseDocument } from './analysedDocument.ts';
import { createDocumentAnalysis } from './documentAnalysis.ts';
import { isCurrent, openIndex, removeDatabase } from './schema.ts';
import type { IndexFileData, IndexThreadData } from './sqliteIndex.ts';
import { createSqliteReader, type SqliteReader } from './sqliteReader.ts';
import { createSqliteWriter, type SqliteWriter } from './sqliteWriter.ts';

/** Milliseconds between two checks for changes by other processes. */
const pollInterval = 1_000;

if (parentPort) {
  const data = workerData as IndexThreadData;
  if ('analyses' in data) analyseFor(parentPort);
  else serve(parentPort, data);
}

type Port = NonNullable<typeof parentPort>;

type IndexAnswer = WorkerAnswer<LibraryState>;

/** The second thread of a writer that has many documents. */
function analyseFor(port: Port): void {
  port.on('message', ({ id, method, parameters: [documents] }: WorkerRequest) => {
    if (method === 'close') return port.close();
    // The writer asks for nothing but this.
    const value = (documents as readonly Document[]).map(analyseDocument);
    return port.postMessage({ id, value } satisfies WorkerAnswer<never>);
  });
}

function serve(port: Port, { file, program }: IndexFileData): void {
  const index = createIndexFile(file, program);
  // One call after another, even though opening the file takes a moment.
  let latest: Promise<unknown> = Promise.resolve();
  const inTurn = (work: () => Promise<void>) => {
    latest = latest.then(work);
  };
  const poll = setInterval(() => inTurn(() => announce(port, index)), pollInterval);
  port.on('message', (request: WorkerRequest) => {
    const work = index.begin(request.method, request.parameters);
    inTurn(async () => {
      const answer = await answerTo(index, request, work);
      port.postMessage({ id: request.id, ...answer } satisfies IndexAnswer);
      if (request.method !== 'close') return;
      clearInterval(poll);
      port.close();
    });
  });
}

async function announce(port: Port, index: IndexFile): Promise<void> {
  const state = await index.state().catch(() => undefined);
  if (state) port.postMessage({ note: state } satisfies IndexAnswer);
}

async function answerTo(index: IndexFile, { method }: WorkerRequest, work: IndexWork): Promise<IndexAnswer> {
  try {
    if (method === 'close') return { value: index.close() };
    return await work();
  } catch (error) {
    if (isCorruption(error)) index.discard();
    return { error: describe(error) };
  }
}

function describe(error: unknown): WorkerFailure {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof QueryError) return { kind: 'query', message };
  if (error instanceof IndexUnavailableError) return { kind: 'unavailable', message };
  if (isCorruption(error))
    return { kind: 'unavailable', message: 'The index was damaged. It is being rebuilt.' };
  if (isOfDatabase(error))
    return { kind: 'unavailable', message: `The index cannot be read or written: ${message}.` };
  return { kind: 'unexpected', message: error instanceof Error ? (error.stack ?? message) : message };
}

function isOfDatabase(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  // libsql gives no code if it cannot open a file.
  return /^(?:ERR_)?SQLITE_|^E[A-Z]+$/.test(code) || /ConnectionFailed/.test(String(error));
}

type IndexFile = ReturnType<typeof createIndexFile>;

/** Called when it is its turn. */
type IndexWork = () => Promise<{ readonly value: unknown; readonly note: LibraryState }>;

interface Opened {
  readonly database: Database;
  readonly reader: SqliteReader;
  readonly writer: SqliteWriter;
  readonly identity: number | undefined;
  readonly version: () => number;
}

/** The index file, as one thread has it open. Other threads and processes may change, delete or replace it. */
function createIndexFile(file: string, program: string) {
  const analysis = createDocumentAnalysis(program);
  let opened: Opened | undefined;
  let seen: { readonly version: number; readonly state: LibraryState } | undefined;

  const close = () => {
    opened?.database.close();
    opened = undefined;
  };
  const open = async (): Promise<Opened> => {
    // A deleted file is replaced with a new one.
    if (opened && identityOf(file) !== opened.identity) close();
    if (opened) return opened;
    const database = await openIndex(file);
    const version = database.prepare<{ data_version: number }>('PRAGMA data_version');
    seen = undefined;
    return (opened = {
      database,
      reader: createSqliteReader(database),
      writer: createSqliteWriter(database),
      identity: identityOf(file),
      version: () => version.get()?.data_version ?? 0,
    });
  };
  /** Writes of others change the version; writes of this connection do not. */
  const stateOf = ({ database, reader, version }: Opened, isOwn = false) => {
    const current = version();
    if (current !== seen?.version && !isCurrent(database))
      throw new IndexUnavailableError('Another version of the program uses this index. Restart this one.');
    if (!seen || isOwn || current !== seen.version) seen = { version: current, state: reader.state() };
    return seen.state;
  };

  const answer = async (method: string, parameters: readonly unknown[]) => {
    const index = await open();
    return index.database.snapshot(async () => ({
      // The state comes first: it begins the snapshot.
      note: stateOf(index),
      value: await call({ ...index.reader, ...index.writer }, method, parameters),
    }));
  };

  return {
    /** Begins what needs no turn: the analysis of new documents. The rest is done by the work that it returns. */
    begin: (method: string, parameters: readonly unknown[]): IndexWork => {
      if (method !== 'apply') return () => answer(method, parameters);
      const changes = parameters[0] as IndexChanges;
      const analysed = analysis.begin(changes.put ?? []);
      return async () => {
        const put = await analysed();
        const index = await open();
        return { value: index.writer.apply({ ...changes, put }), note: stateOf(index, true) };
      };
    },
    state: async () => {
      const index = await open();
      return index.database.snapshot(async () => stateOf(index));
    },
    /** Deletes a damaged file. The next call creates another one. */
    discard: () => {
      close();
      removeDatabase(file);
    },
    close: () => {
      analysis.close();
      close();
    },
  };
}

function identityOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.ino;
}

function call(target: object, method: string, parameters: readonly unknown[]): unknown {
  const found: unknown = Object.entries(target).find(([name]) => name === method)?.[1];
  if (typeof found !== 'function') throw new Error(`The index has no ${method}.`);
  return found(...parameters);
}
