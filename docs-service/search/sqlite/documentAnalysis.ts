import { createCalledWorker } from '../../base/calledWorker.ts';
import type { Document } from '../../content/document.ts';
import { type AnalysedDocument, analyseDocument } from '../documentWords.ts';
import type { IndexThreadData } from './sqliteIndex.ts';

/** Fewer documents are not worth a thread. */
const many = 100;
/** Milliseconds for which the second thread waits for more. */
const idleTime = 5_000;

/**
 * Analyses documents before the writer comes to them: many on a second thread, while this one writes others. That
 * thread is started with the first question, and ended when there are no more.
 * @param program the worker's program, which is also that of the second thread
 */
export function createDocumentAnalysis(program: string) {
  const start = () =>
    createCalledWorker<{ analyse: (documents: readonly Document[]) => readonly AnalysedDocument[] }, never>({
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
