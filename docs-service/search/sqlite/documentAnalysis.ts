import { Worker } from 'node:worker_threads';
import type { Document } from '../../content/document.ts';
import { type AnalysedDocument, analyseDocument } from './analysedDocument.ts';
import type { IndexThreadData } from './sqliteIndex.ts';

/** Analyses documents on this thread and, if there are many, on a second one at the same time. */
export interface DocumentAnalysis {
  analyse(documents: readonly Document[]): Promise<readonly AnalysedDocument[]>;
  close(): void;
}

/** Fewer documents are not worth a thread. */
const many = 100;
/** Milliseconds for which the second thread waits for more. */
const idleTime = 5_000;

/** `program` is the worker's program, which is also that of the second thread. */
export function createDocumentAnalysis(program: string): DocumentAnalysis {
  let second: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  const close = () => {
    clearTimeout(idle);
    void second?.terminate();
    second = undefined;
  };
  const start = () => {
    const started = new Worker(program, { workerData: { analyses: true } satisfies IndexThreadData });
    started.on('exit', () => {
      if (second === started) second = undefined;
    });
    return started;
  };
  return {
    analyse: async (documents) => {
      if (documents.length < many) return documents.map(analyseDocument);
      clearTimeout(idle);
      const half = Math.floor(documents.length / 2);
      const asked = askFor((second ??= start()), documents.slice(0, half));
      const own = documents.slice(half).map(analyseDocument);
      const others = await asked;
      idle = setTimeout(close, idleTime);
      return [...(others ?? documents.slice(0, half).map(analyseDocument)), ...own];
    },
    close,
  };
}

/** Undefined if the thread has died, such as for lack of memory. */
function askFor(
  thread: Worker,
  documents: readonly Document[],
): Promise<readonly AnalysedDocument[] | undefined> {
  return new Promise((resolve) => {
    const settle = (answer: readonly AnalysedDocument[] | undefined) => {
      thread.off('message', settle).off('error', fail).off('exit', fail);
      resolve(answer);
    };
    const fail = () => settle(undefined);
    thread.on('message', settle).on('error', fail).on('exit', fail);
    thread.postMessage(documents);
  });
}
