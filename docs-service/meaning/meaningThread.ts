import { Worker } from 'node:worker_threads';
import type { EmbeddingsOptions } from './embeddings.ts';
import type { EmbeddedDocument, ListedDocument } from './meaningIndex.ts';
import type { NearSection } from './vectorTable.ts';

/** The start data of the worker. */
export interface MeaningThreadData {
  readonly embeddings: EmbeddingsOptions;
  readonly place: {
    /** Of SQLite. */
    readonly file: string;
    /** The address of PostgreSQL, if that is used. */
    readonly database: string | undefined;
  };
}

export type MeaningRequest =
  | { readonly method: 'sync'; readonly documents: readonly ListedDocument[] }
  | { readonly method: 'put'; readonly documents: readonly EmbeddedDocument[] }
  | { readonly method: 'finish' | 'close' }
  | {
      readonly method: 'nearest';
      readonly question: string;
      readonly drafts: boolean;
      readonly count: number;
    };

export type MeaningAnswer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: string; readonly isOfRunner: boolean }
  | { readonly changed: true }
  | { readonly note: string };

/** What the runner did wrong, or that it is away, as a sentence. */
export class RunnerAwayError extends Error {
  override readonly name = 'RunnerAwayError';
}

/** Vectors are compared, and the runner's answers are read, where nobody waits for the thread. */
export interface MeaningThread {
  sync(documents: readonly ListedDocument[]): Promise<readonly string[]>;
  put(documents: readonly EmbeddedDocument[]): Promise<void>;
  finish(): Promise<void>;
  nearest(
    question: string,
    options: { readonly drafts: boolean; readonly count: number },
  ): Promise<readonly NearSection[]>;
  close(): Promise<void>;
}

interface MeaningThreadOptions {
  /** The path of the worker's program. */
  readonly worker: string;
  readonly data: MeaningThreadData;
  readonly onChange: () => void;
  readonly log: (message: string) => void;
}

interface Waiting {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}

/** After the worker died, the next call starts another one. */
export function createMeaningThread({ worker, data, onChange, log }: MeaningThreadOptions): MeaningThread {
  let running: { readonly worker: Worker; readonly waiting: Map<number, Waiting> } | undefined;
  let isClosed = false;
  let lastId = 0;
  const start = () => {
    const started = { worker: new Worker(worker, { workerData: data }), waiting: new Map<number, Waiting>() };
    let reason = 'it ended';
    started.worker.on('message', (answer: MeaningAnswer) => {
      if ('changed' in answer) return onChange();
      if ('note' in answer) return log(answer.note);
      const call = started.waiting.get(answer.id);
      started.waiting.delete(answer.id);
      if ('error' in answer)
        call?.reject(answer.isOfRunner ? new RunnerAwayError(answer.error) : new Error(answer.error));
      // The worker answers with what the method returns.
      else call?.resolve(answer.value as never);
    });
    started.worker.on('error', (error) => (reason = error.message));
    started.worker.on('exit', () => {
      if (running === started) running = undefined;
      if (!isClosed) log(`The worker of the embeddings has died: ${reason}. It is being restarted.`);
      for (const { reject } of started.waiting.values()) reject(new Error('The worker has died.'));
    });
    return started;
  };
  const call = <T>(request: MeaningRequest): Promise<T> => {
    if (isClosed) return Promise.reject(new Error('It is closed.'));
    const id = ++lastId;
    const { worker: thread, waiting } = (running ??= start());
    return new Promise<T>((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      thread.postMessage({ id, request });
    });
  };
  return {
    sync: (documents) => call({ method: 'sync', documents }),
    put: (documents) => call({ method: 'put', documents }),
    finish: () => call({ method: 'finish' }),
    nearest: (question, options) => call({ method: 'nearest', question, ...options }),
    async close() {
      if (isClosed) return;
      const started = running;
      const closing = started && call({ method: 'close' }).catch(() => undefined);
      isClosed = true;
      if (!started) return;
      const ended = new Promise((resolve) => started.worker.once('exit', resolve));
      await Promise.all([closing, ended]);
    },
  };
}
