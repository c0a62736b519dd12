import { setTimeout as wait } from 'node:timers/promises';
import { messageOf } from '../../protocol/base/errorText.ts';
import { createCalledWorker } from '../base/calledWorker.ts';
import type { DocumentIndex } from '../search/documentIndex.ts';
import type { EmbeddingsOptions } from './embeddings.ts';
import type { MeaningDocument, MeaningIndex } from './meaningIndex.ts';

/** The meaning of all documents, kept in step with the index by a runner of the user's own. */
export type Meaning = ReturnType<typeof createMeaning>;

/** In documents, drafts included. */
export interface EmbeddingProgress {
  readonly embedded: number;
  readonly toEmbed: number;
}

interface MeaningOptions {
  readonly index: DocumentIndex;
  readonly embeddings: EmbeddingsOptions;
  readonly place: MeaningThreadData['place'];
  /** The path of the worker's program. */
  readonly worker: string;
  /** Whether this process keeps the vectors; others read what it has embedded. */
  readonly isWriter: () => boolean;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly log: (message: string) => void;
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

export function createMeaning(options: MeaningOptions) {
  const { index, embeddings, place, worker, isWriter, now, log } = options;
  let generation = 0;
  let awayUntil = 0;
  /** The generation of the index that has been embedded. */
  let done = -1;
  let problem: string | undefined;
  let progress: EmbeddingProgress | undefined;
  const data: MeaningThreadData = { embeddings, place };
  const thread = createCalledWorker<MeaningMethods, MeaningNote>({
    ...{ program: worker, data, name: 'embeddings', log },
    onNote: (note) => {
      if (note === 'changed') generation += 1;
      else log(note.log);
    },
    toError: ({ kind, message }) =>
      kind === 'unavailable' ? new RunnerAwayError(message) : new Error(message),
  });
  const failed = (error: unknown) => {
    const sentence = `Documents are searched by text alone, because ${embeddings.url} cannot embed: ${messageOf(error)}`;
    if (sentence !== problem) log(sentence);
    problem = sentence;
  };
  /** Resolves once every document has been embedded. @throws {Error} with a sentence if the runner cannot. */
  const embedAll = async (
    signal: AbortSignal,
    onProgress?: (now: EmbeddingProgress) => void,
  ): Promise<void> => {
    const embed = () =>
      embedWhatIsNew(index, thread, signal, (current) => {
        progress = current;
        onProgress?.(current);
      });
    await embed().catch((error) => {
      if (error instanceof RunnerAwayError || signal.aborted) throw error;
      failed(error);
      return embed();
    });
    if (problem !== undefined) log(`${embeddings.url} embeds again.`);
    problem = undefined;
    awayUntil = 0;
  };
  const isWhole = async () => (await index.summary().catch(() => undefined))?.isComplete === true;
  const ending = new AbortController();
  const running = follow();

  /** Embeds what has changed, as long as this process is the writer and the index is whole. */
  async function follow(): Promise<void> {
    for (const { signal } = ending; !signal.aborted; ) {
      await wait(problem === undefined ? lookAfter : retryAfter, undefined, { signal }).catch(
        () => undefined,
      );
      const current = index.generation;
      if (signal.aborted || current === done || !isWriter()) continue;
      if (!(await isWhole())) continue;
      try {
        await embedAll(signal);
        done = current;
      } catch (error) {
        if (!signal.aborted) failed(error);
      }
    }
  }

  return {
    /** Grows whenever other sections may be near. */
    get generation() {
      return generation;
    },
    /** Undefined until the documents have been compared with the vectors, as only the process that keeps them does. */
    get progress() {
      return progress;
    },
    /** The nearest sections first; undefined while the runner cannot say. */
    async nearest(...asked: Parameters<MeaningMethods['nearest']>) {
      if (now() < awayUntil) return undefined;
      try {
        return await thread.call('nearest', ...asked);
      } catch (error) {
        if (!(error instanceof RunnerAwayError)) done = -1;
        awayUntil = now() + retryAfter;
        failed(error);
        return undefined;
      }
    },
    embedAll,
    async close() {
      ending.abort();
      await thread.close();
      await running;
    },
  };
}

async function embedWhatIsNew(
  index: DocumentIndex,
  thread: ReturnType<typeof createCalledWorker<MeaningMethods, MeaningNote>>,
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
