import { setTimeout as wait } from 'node:timers/promises';
import { messageOf } from '../../protocol/base/text.ts';
import { CalledWorker } from '../base/calledWorker.ts';
import type { DocumentIndex } from '../search/documentIndex.ts';
import type { EmbeddingsOptions } from './embeddings.ts';
import type { MeaningDocument, MeaningIndex } from './meaningIndex.ts';

/** In documents, drafts included. */
export interface EmbeddingProgress {
  readonly embedded: number;
  readonly toEmbed: number;
}

/** The start data of the worker. Vectors are compared, and the runner's answers are read, where nobody waits. */
export interface MeaningThreadData {
  readonly embeddings: EmbeddingsOptions;
  /** A file of SQLite, or the address of PostgreSQL, if that is used. */
  readonly place: { readonly file: string; readonly database: string | undefined };
}

export type MeaningMethods = Pick<MeaningIndex, 'sync' | 'put' | 'finish' | 'nearest'>;
/** Other sections may be near now, or there is something for the log. */
export type MeaningNote = 'changed' | { readonly log: string };

/** What the runner did wrong, or that it is away, as a sentence. */
class RunnerAwayError extends Error {
  override readonly name = 'RunnerAwayError';
}

/** Milliseconds until a runner that failed is asked again, and between two checks for changes. */
const [retryAfter, lookAfter] = [10_000, 1_000];
/** Documents in one call of the worker. */
const pieceSize = 16;
/** Documents on a page of the list. */
const pageSize = 500;

/** The meaning of all documents, kept in step with the index by a runner of the user's own. */
export class Meaning {
  #generation = 0;
  #awayUntil = 0;
  /** The generation of the index that has been embedded. */
  #done = -1;
  #problem: string | undefined;
  #progress: EmbeddingProgress | undefined;
  readonly #thread: MeaningThread;
  readonly #ending = new AbortController();
  readonly #running: Promise<void>;

  constructor(
    private readonly options: MeaningThreadData & {
      readonly index: DocumentIndex;
      /** The path of the worker's program. */
      readonly worker: string;
      /** Whether this process keeps the vectors; others read what it has embedded. */
      readonly isWriter: () => boolean;
      /** Milliseconds since 1970. */
      readonly now: () => number;
      readonly log: (message: string) => void;
    },
  ) {
    const { embeddings, place, worker: program, log } = options;
    const data: MeaningThreadData = { embeddings, place };
    this.#thread = new CalledWorker<MeaningMethods, MeaningNote>({
      ...{ program, data, name: 'embeddings', log },
      onNote: (note) => {
        if (note === 'changed') this.#generation += 1;
        else log(note.log);
      },
      toError: ({ kind, message }) =>
        kind === 'unavailable' ? new RunnerAwayError(message) : new Error(message),
    });
    this.#running = this.#follow();
  }

  /** Grows whenever other sections may be near. */
  get generation(): number {
    return this.#generation;
  }

  /** Undefined until the documents have been compared with the vectors, as only the process that keeps them does. */
  get progress(): EmbeddingProgress | undefined {
    return this.#progress;
  }

  /** The nearest sections first; undefined while the runner cannot say. */
  async nearest(...asked: Parameters<MeaningMethods['nearest']>) {
    const { now } = this.options;
    if (now() < this.#awayUntil) return undefined;
    try {
      return await this.#thread.call('nearest', ...asked);
    } catch (error) {
      if (!(error instanceof RunnerAwayError)) this.#done = -1;
      this.#awayUntil = now() + retryAfter;
      this.#fail(error);
      return undefined;
    }
  }

  /** Resolves once every document has been embedded. @throws {Error} with a sentence if the runner cannot. */
  async embedAll(signal: AbortSignal, onProgress?: (now: EmbeddingProgress) => void): Promise<void> {
    const { index, embeddings, log } = this.options;
    const embed = () =>
      embedWhatIsNew(index, this.#thread, signal, (current) => {
        this.#progress = current;
        onProgress?.(current);
      });
    await embed().catch((error) => {
      if (error instanceof RunnerAwayError || signal.aborted) throw error;
      this.#fail(error);
      return embed();
    });
    if (this.#problem !== undefined) log(`${embeddings.url} embeds again.`);
    this.#problem = undefined;
    this.#awayUntil = 0;
  }

  async close(): Promise<void> {
    this.#ending.abort();
    await this.#thread.close();
    await this.#running;
  }

  /** Embeds what has changed, as long as this process is the writer and the index is whole. */
  async #follow(): Promise<void> {
    const { index, isWriter } = this.options;
    for (const { signal } = this.#ending; !signal.aborted; ) {
      const pause = this.#problem === undefined ? lookAfter : retryAfter;
      await wait(pause, undefined, { signal }).catch(() => undefined);
      const current = index.generation;
      if (signal.aborted || current === this.#done || !isWriter()) continue;
      if (!(await index.summary().catch(() => undefined))?.isComplete) continue;
      try {
        await this.embedAll(signal);
        this.#done = current;
      } catch (error) {
        if (!signal.aborted) this.#fail(error);
      }
    }
  }

  #fail(error: unknown): void {
    const { embeddings, log } = this.options;
    const sentence = `Documents are searched by text alone, because ${embeddings.url} cannot embed: ${messageOf(error)}`;
    if (sentence !== this.#problem) log(sentence);
    this.#problem = sentence;
  }
}

type MeaningThread = CalledWorker<MeaningMethods, MeaningNote>;

async function embedWhatIsNew(
  index: DocumentIndex,
  thread: MeaningThread,
  signal: AbortSignal,
  report: (progress: EmbeddingProgress) => void,
): Promise<void> {
  const listed = await listAll(index, signal);
  const wanted = await thread.call('sync', listed);
  let left = wanted.length;
  const tell = () => report({ embedded: listed.length - left, toEmbed: left });
  tell();
  for (let at = 0; at < wanted.length; at += pieceSize) {
    signal.throwIfAborted();
    const piece = wanted.slice(at, at + pieceSize);
    const documents = await Promise.all(piece.map((slug) => index.read(slug)));
    await thread.call(
      'put',
      documents.filter((document) => document !== undefined),
    );
    left -= piece.length;
    tell();
  }
  await thread.call('finish');
}

/** All of one state of the library. */
async function listAll(index: DocumentIndex, signal: AbortSignal): Promise<readonly MeaningDocument[]> {
  for (;;) {
    const { generation } = index;
    const listed: MeaningDocument[] = [];
    for (let total = 1; listed.length < total; ) {
      signal.throwIfAborted();
      const page = await index.list({ drafts: true, limit: pageSize, offset: listed.length });
      for (const { slug, contentHash, draft } of page.items)
        listed.push({ slug, contentHash, isDraft: draft });
      total = page.items.length === 0 ? listed.length : page.total;
    }
    if (generation === index.generation) return listed;
    await wait(lookAfter, undefined, { signal });
  }
}
