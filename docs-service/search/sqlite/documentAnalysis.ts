import { Worker } from 'node:worker_threads';
import { piecesOf } from '../../base/database.ts';
import type { Document } from '../../content/document.ts';
import { type AnalysedDocument, analyseDocument } from './analysedDocument.ts';
import type { IndexThreadData } from './sqliteIndex.ts';

/** Analyses documents before the writer comes to them: many on a second thread, while the writer writes others. */
export interface DocumentAnalysis {
  /** Begins at once. */
  begin(documents: readonly Document[]): PendingAnalysis;
  close(): void;
}

export interface PendingAnalysis {
  /** Called when it is their turn. This thread analyses what the second one has not begun. */
  take(): Promise<readonly AnalysedDocument[]>;
}

/** Fewer documents are not worth a thread. */
const many = 100;
const pieceLength = 50;
/**
 * Pieces that the second thread has at a time: enough for as long as this thread writes, when it takes no answers and
 * passes on no pieces.
 */
const piecesAhead = 20;
/** Milliseconds for which the second thread waits for more. */
const idleTime = 5_000;

interface Piece {
  readonly documents: readonly Document[];
  analysed?: readonly AnalysedDocument[];
  /** Settles when the second thread has answered. */
  answer?: Promise<void>;
}

/** `program` is the worker's program, which is also that of the second thread. */
export function createDocumentAnalysis(program: string): DocumentAnalysis {
  const thread = createAnalysisThread(program);
  /** The pieces that no thread has begun. */
  const waiting: Piece[] = [];
  let ahead = 0;

  const analyseHere = (piece: Piece) => {
    piece.analysed = piece.documents.map(analyseDocument);
  };
  const send = () => {
    while (ahead < piecesAhead) {
      const piece = waiting.shift();
      if (!piece) return;
      ahead += 1;
      piece.answer = pass(piece);
    }
  };
  const pass = async (piece: Piece) => {
    const analysed = await thread.ask(piece.documents);
    ahead -= 1;
    if (analysed) piece.analysed = analysed;
    else analyseHere(piece);
    send();
  };
  const take = async (pieces: readonly Piece[]) => {
    for (;;) {
      // Answers that have arrived are read first.
      await new Promise(setImmediate);
      const left = pieces.findLast((piece) => waiting.includes(piece));
      if (!left) break;
      waiting.splice(waiting.indexOf(left), 1);
      analyseHere(left);
    }
    await Promise.all(pieces.map(({ answer }) => answer));
    return pieces.flatMap(({ analysed }) => analysed ?? []);
  };
  return {
    begin: (documents) => {
      if (documents.length < many) return { take: async () => documents.map(analyseDocument) };
      const pieces: readonly Piece[] = piecesOf(documents, pieceLength).map((piece) => ({
        documents: piece,
      }));
      waiting.push(...pieces);
      send();
      return { take: () => take(pieces) };
    },
    close: thread.close,
  };
}

/** A thread that is started with the first question, and ended when there are no more. It answers in order. */
function createAnalysisThread(program: string) {
  type Answer = readonly AnalysedDocument[] | undefined;
  let worker: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  const asked: ((answer: Answer) => void)[] = [];
  const close = () => {
    clearTimeout(idle);
    void worker?.terminate();
    worker = undefined;
  };
  const answer = (analysed: Answer) => {
    asked.shift()?.(analysed);
    clearTimeout(idle);
    if (asked.length === 0) idle = setTimeout(close, idleTime);
  };
  const start = () => {
    const started = new Worker(program, { workerData: { analyses: true } satisfies IndexThreadData });
    started.on('message', answer);
    // It ends, such as for lack of memory; what it was asked is undefined then.
    started.on('error', () => undefined);
    started.on('exit', () => {
      if (worker === started) worker = undefined;
      while (asked.length > 0) answer(undefined);
    });
    return started;
  };
  return {
    /** Undefined if the thread has died. */
    ask: (documents: readonly Document[]) =>
      new Promise<Answer>((resolve) => {
        clearTimeout(idle);
        asked.push(resolve);
        worker ??= start();
        worker.postMessage(documents);
      }),
    close,
  };
}
