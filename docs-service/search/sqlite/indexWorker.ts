import { parentPort, workerData } from 'node:worker_threads';
import { isCorruption } from '../../base/sqliteDatabase.ts';
import { IndexUnavailableError, QueryError } from '../documentIndex.ts';
import { createIndexFile, type IndexFile } from './indexFile.ts';
import type { IndexAnswer, IndexRequest, IndexThreadData } from './indexThread.ts';

/** Milliseconds between two checks for changes by other processes. */
const pollInterval = 1_000;

if (parentPort) serve(parentPort, workerData as IndexThreadData);

type Port = NonNullable<typeof parentPort>;

function serve(port: Port, { file }: IndexThreadData): void {
  const index = createIndexFile(file);
  // One call after another, even though opening the file takes a moment.
  let latest: Promise<unknown> = Promise.resolve();
  const inTurn = (work: () => Promise<void>) => {
    latest = latest.then(work);
  };
  const poll = setInterval(() => inTurn(() => announce(port, index)), pollInterval);
  port.on('message', (request: IndexRequest) => {
    inTurn(async () => {
      const answer = await answerTo(index, request);
      port.postMessage({ id: request.id, ...answer } satisfies IndexAnswer);
      if (request.method !== 'close') return;
      clearInterval(poll);
      port.close();
    });
  });
}

async function announce(port: Port, index: IndexFile): Promise<void> {
  const state = await index.state().catch(() => undefined);
  if (state) port.postMessage({ state } satisfies IndexAnswer);
}

async function answerTo(index: IndexFile, { method, parameters }: IndexRequest): Promise<IndexAnswer> {
  try {
    if (method === 'close') return { value: index.close() };
    return await index.call(method, parameters);
  } catch (error) {
    if (isCorruption(error)) index.discard();
    return { error: describe(error) };
  }
}

function describe(error: unknown): NonNullable<IndexAnswer['error']> {
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
