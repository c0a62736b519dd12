import { createCalledWorker } from '../../base/calledWorker.ts';
import { piecesOf } from '../../base/database.ts';
import type { Document } from '../../content/document.ts';
import { IndexUnavailableError } from '../documentIndex.ts';
import { type AnalysedDocument, analyseDocument } from './analysedDocument.ts';
import type { IndexThreadData } from './sqliteIndex.ts';

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

/** What was made of each document of a piece, held against what was asked. */
function wholePiece({ documents, analysed }: Piece): readonly AnalysedDocument[] {
  const isWhole =
    analysed?.length === documents.length &&
    documents.every(({ slug }, at) => analysed[at]?.record.slug === slug);
  if (isWhole) return analysed;
  throw new IndexUnavailableError('The analysis of new documents was lost. They are indexed again.');
}

/**
 * Analyses documents before the writer comes to them: many on a second thread, while the writer writes others.
 * @param program the worker's program, which is also that of the second thread
 */
export function createDocumentAnalysis(program: string) {
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
    // The thread may end, such as for lack of memory.
    const analysed = await thread.analyse(piece.documents).catch(() => undefined);
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
    return pieces.flatMap(wholePiece);
  };
  return {
    /**
     * Begins at once. The function that it returns is called when it is their turn: this thread then analyses what the
     * second one has not begun.
     */
    begin: (documents: readonly Document[]): (() => Promise<readonly AnalysedDocument[]>) => {
      if (documents.length < many) return async () => documents.map(analyseDocument);
      const pieces: readonly Piece[] = piecesOf(documents, pieceLength).map((piece) => ({
        documents: piece,
      }));
      waiting.push(...pieces);
      send();
      return () => take(pieces);
    },
    close: thread.close,
  };
}

export interface AnalysisMethods {
  analyse(documents: readonly Document[]): readonly AnalysedDocument[];
}

/** A thread that is started with the first question, and ended when there are no more. */
function createAnalysisThread(program: string) {
  const start = () =>
    createCalledWorker<AnalysisMethods, never>({
      ...{ program, name: 'analysis', data: { analyses: true } satisfies IndexThreadData },
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
    analyse: async (documents: readonly Document[]) => {
      clearTimeout(idle);
      questions += 1;
      try {
        return await (worker ??= start()).call('analyse', documents);
      } finally {
        questions -= 1;
        if (questions === 0 && worker) idle = setTimeout(close, idleTime);
      }
    },
    close,
  };
}
