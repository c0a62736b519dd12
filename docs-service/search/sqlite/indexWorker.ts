import { statSync } from 'node:fs';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { SerialQueue } from '../../../protocol/base/keyedWork.ts';
import { answerCalls, CalledWorker, type WorkerAnswer, type WorkerFailure } from '../../base/calledWorker.ts';
import { type Database, isCorruption, removeDatabase } from '../../base/sqliteDatabase.ts';
import type { Document } from '../../content/document.ts';
import { type IndexChanges, IndexUnavailableError, QueryError } from '../documentIndex.ts';
import { type AnalysedDocument, analyseDocument } from '../documentWords.ts';
import { type IndexDatabase, type LibraryState, readState } from '../indexDatabase.ts';
import { IndexReader } from '../indexReader.ts';
import { type AnalysedChanges, applyChanges, isComplete, readFiles } from '../indexWriter.ts';
import { PostingQueue } from '../postingChanges.ts';
import { isCurrent, makeLookups, openIndex, releasePages, toIndexDatabase } from './indexFile.ts';
import type { IndexThreadData } from './sqliteIndex.ts';

/** Milliseconds between two checks for changes by other processes. */
const pollInterval = 1_000;

if (parentPort) {
  const data = workerData as IndexThreadData;
  if (data.file === undefined) analyseFor(parentPort);
  else serve(parentPort, createIndexFile(data.file, data.program));
}

type IndexAnswer = WorkerAnswer<LibraryState>;

/** The second thread of a writer that has many documents, which asks for nothing but this. */
function analyseFor(port: MessagePort): void {
  const analyse = async (documents: unknown) => (documents as readonly Document[]).map(analyseDocument);
  const call = async (method: string, [documents]: readonly unknown[]) => ({
    value: method === 'close' ? undefined : await analyse(documents),
  });
  answerCalls(port, call, describe);
}

function serve(port: MessagePort, index: IndexFile): void {
  // One call after another, even though opening the file takes a moment.
  const queue = new SerialQueue();
  const announce = async () => {
    const state = await index.state().catch(() => undefined);
    if (state) port.postMessage({ note: state.note } satisfies IndexAnswer);
  };
  const poll = setInterval(() => queue.run('', announce), pollInterval);
  const call = (method: string, parameters: readonly unknown[]): Promise<IndexAnswer> => {
    const work = index.begin(method, parameters);
    return queue.run('', async () => {
      if (method !== 'close') return work();
      clearInterval(poll);
      return { value: index.close() };
    });
  };
  answerCalls(port, call, describe);
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

type IndexWork = () => Promise<{ readonly value: unknown; readonly note: LibraryState }>;

/** The index file, as one thread has it open. Other threads and processes may change, delete or replace it. */
function createIndexFile(file: string, program: string) {
  const analysis = createDocumentAnalysis(program);
  let opened: OpenIndex | undefined;

  const close = () => {
    opened?.close();
    opened = undefined;
  };
  const open = async (): Promise<OpenIndex> => {
    // A deleted file is replaced with a new one.
    if (opened && identityOf(file) !== opened.identity) close();
    return (opened ??= new OpenIndex(await openIndex(file), identityOf(file)));
  };
  /** A damaged file is deleted. The next call creates another one. */
  const discarding =
    (work: IndexWork): IndexWork =>
    async () => {
      try {
        return await work();
      } catch (error) {
        if (isCorruption(error)) {
          close();
          removeDatabase(file);
        }
        throw error;
      }
    };
  return {
    /** Begins what needs no turn: the analysis of new documents. The rest is done by the work that it returns. */
    begin: (method: string, parameters: readonly unknown[]): IndexWork => {
      if (method !== 'apply') return discarding(async () => (await open()).answer(method, parameters));
      const changes = parameters[0] as IndexChanges;
      const analysed = analysis.analyse(changes.put ?? []);
      return discarding(async () => {
        const put = await analysed;
        return (await open()).apply({ ...changes, put });
      });
    },
    state: async () => (await open()).answer('indexId', []),
    close: () => {
      analysis.close();
      close();
    },
  };
}

class OpenIndex {
  readonly #database: IndexDatabase;
  readonly #postings = new PostingQueue();
  #hasLookups = false;
  #seen: { readonly version: number; readonly state: LibraryState; readonly reader: IndexReader } | undefined;

  constructor(
    private readonly file: Database,
    readonly identity: number | undefined,
  ) {
    this.#database = toIndexDatabase(file);
  }

  answer(method: string, parameters: readonly unknown[]): ReturnType<IndexWork> {
    return this.file.snapshot(async () => {
      // The state comes first: it begins the snapshot.
      const { state, reader } = await this.#look();
      return { note: state, value: await this.#call(reader, method, parameters) };
    });
  }

  async #call(reader: IndexReader, method: string, parameters: readonly unknown[]): Promise<unknown> {
    if (method === 'files') return readFiles(this.#database);
    if (method === 'indexId') return this.#seen?.state.indexId;
    const found: unknown = Reflect.get(reader, method);
    if (typeof found !== 'function') throw new Error(`The index has no ${method}.`);
    return found.apply(reader, parameters);
  }

  async apply(changes: AnalysedChanges): ReturnType<IndexWork> {
    const wasComplete = await isComplete(this.#database);
    // Before the first change of this process, because the one before may have ended in between.
    if (!this.#hasLookups && wasComplete) makeLookups(this.file);
    this.#hasLookups ||= wasComplete;
    await this.file.change(() => applyChanges(this.#database, changes, this.#postings));
    if (!wasComplete && (await isComplete(this.#database))) {
      makeLookups(this.file);
      releasePages(this.file);
    }
    return { value: undefined, note: (await this.#look(true)).state };
  }

  /** Writes of others change the version; writes of this connection do not. */
  async #look(isOwn = false) {
    const [made] = await this.#database.rows<{ data_version: number }>('PRAGMA data_version');
    const version = made?.data_version ?? 0;
    if (version !== this.#seen?.version && !isCurrent(this.file))
      throw new IndexUnavailableError('Another version of the program uses this index. Restart this one.');
    if (this.#seen && !isOwn && version === this.#seen.version) return this.#seen;
    const state = await readState(this.#database);
    return (this.#seen = { version, state, reader: new IndexReader(this.#database) });
  }

  close(): void {
    this.file.close();
  }
}

function identityOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.ino;
}

const many = 100;
/** Milliseconds for which the second thread waits for more. */
const idleTime = 5_000;

/**
 * Analyses documents before the writer comes to them: many on a second thread, while this one writes others. That
 * thread is started with the first question, and ended when there are no more.
 * @param program the worker's program, which is also that of the second thread
 */
function createDocumentAnalysis(program: string) {
  const start = () =>
    new CalledWorker<{ analyse: (documents: readonly Document[]) => readonly AnalysedDocument[] }, never>({
      ...{ program, name: 'analysis', data: { program } satisfies IndexThreadData },
      ...{ onNote: () => undefined, log: () => undefined, toError: ({ message }) => new Error(message) },
    });
  let worker: ReturnType<typeof start> | undefined;
  let questions = 0;
  let idle: NodeJS.Timeout | undefined;
  const close = () => {
    clearTimeout(idle);
    void worker?.close();
    worker = undefined;
  };
  return {
    /** Begins at once, and never rejects: the thread may end, such as for lack of memory. */
    analyse: async (documents: readonly Document[]): Promise<readonly AnalysedDocument[]> => {
      if (documents.length < many) return documents.map(analyseDocument);
      clearTimeout(idle);
      questions += 1;
      try {
        return await (worker ??= start()).call('analyse', documents);
      } catch {
        return documents.map(analyseDocument);
      } finally {
        questions -= 1;
        if (questions === 0 && worker) idle = setTimeout(close, idleTime);
      }
    },
    close,
  };
}
