import { Worker } from 'node:worker_threads';
import { piecesOf } from '../../base/database.ts';
import type { Document } from '../../content/document.ts';
import { IndexUnavailableError } from '../documentIndex.ts';
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

/** What was made of each document of a piece, held against what was asked. */
function wholePiece({ documents, analysed }: Piece): readonly AnalysedDocument[] {
  const isWhole =
    analysed?.length === documents.length &&
    documents.every(({ slug }, at) => analysed[at]?.record.slug === slug);
  if (isWhole) return analysed;
  throw new IndexUnavailableError('The analysis of new documents was lost. They are indexed again.');
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
    return pieces.flatMap(wholePiece);
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

type Answer = readonly AnalysedDocument[] | undefined;

/** What the thread is sent, and what it answers. */
export interface AnalysisQuestion {
  readonly id: number;
  readonly documents: readonly Document[];
}

export interface AnalysisAnswer {
  readonly id: number;
  readonly analysed: readonly AnalysedDocument[];
}

/** A thread that is started with the first question, and ended when there are no more. */
function createAnalysisThread(program: string) {
  let running:
    | { readonly worker: Worker; readonly questions: Map<number, (answer: Answer) => void> }
    | undefined;
  let lastId = 0;
  let idle: NodeJS.Timeout | undefined;
  const close = () => {
    clearTimeout(idle);
    void running?.worker.terminate();
    running = undefined;
  };
  const start = () => {
    // Each thread has questions of its own, so that the end of one never answers those of the next.
    const questions = new Map<number, (answer: Answer) => void>();
    const worker = new Worker(program, { workerData: { analyses: true } satisfies IndexThreadData });
    const started = { worker, questions };
    worker.on('message', ({ id, analysed }: AnalysisAnswer) => {
      questions.get(id)?.(analysed);
      questions.delete(id);
      if (questions.size === 0) idle = setTimeout(close, idleTime);
    });
    // It ends, such as for lack of memory; what it was asked is undefined then.
    worker.on('error', () => undefined);
    worker.on('exit', () => {
      if (running === started) running = undefined;
      for (const answer of questions.values()) answer(undefined);
    });
    return started;
  };
  return {
    /** Undefined if the thread has died. */
    ask: (documents: readonly Document[]) =>
      new Promise<Answer>((resolve) => {
        clearTimeout(idle);
        const id = ++lastId;
        const { worker, questions } = (running ??= start());
        questions.set(id, resolve);
        worker.postMessage({ id, documents } satisfies AnalysisQuestion);
      }),
    close,
  };
}
