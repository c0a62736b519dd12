import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { ProgramContext } from './cli/command.ts';
import { createRenderer, type Renderer } from './formats/renderer.ts';
import { Library, type LibraryOptions, WriterElection } from './library/library.ts';
import { LibraryIndexer, type LibraryIndexerOptions } from './library/libraryIndexer.ts';
import { Meaning } from './meaning/meaning.ts';
import type { LibraryConfig, LibrarySources } from './serveConfig.ts';
import type { Stores } from './stores.ts';

/** What `serve` and `mcp` both consist of. */

/** Markdown and HTML take milliseconds, except for documents that are made to take longer. */
const textBounds = { workers: 1, memory: 512, queueLength: 64, maxWait: 10_000 };

/** `seconds` is what a PDF may take. */
export function createTextRenderer({ parts }: Pick<ProgramContext, 'parts'>, seconds: number): Renderer {
  return createRenderer({
    worker: join(parts, 'renderWorker.cjs'),
    time: Math.ceil(seconds / 6) * 1_000,
    ...textBounds,
  });
}

/** Waits no longer for the end of everything, which a database or a disk that hangs would keep for ever. */
export async function endWithin(milliseconds: number, end: () => Promise<void>): Promise<void> {
  await Promise.race([end(), wait(milliseconds, undefined, { ref: false })]);
}

export interface MeaningParts {
  readonly config: LibrarySources & Pick<LibraryConfig, 'embeddings'>;
  readonly stores: Stores;
  readonly isWriter: () => boolean;
  readonly log: (message: string) => void;
}

/** Undefined if no runner embeds. */
export function createLibraryMeaning(
  { config: { data, database, embeddings }, stores, isWriter, log }: MeaningParts,
  { parts, now }: Pick<ProgramContext, 'parts' | 'now'>,
): Meaning | undefined {
  if (embeddings === undefined) return undefined;
  const place = { file: join(data, 'vectors.db'), database };
  const worker = join(parts, 'meaningWorker.cjs');
  return new Meaning({ index: stores.index, embeddings, place, worker, isWriter, now, log });
}

/** Keeps the index in step with the files, as soon as no other instance or process does. */
export function createWriterElection({
  folder,
  stores,
  rescan,
  onError,
  ...options
}: Omit<LibraryIndexerOptions, 'index' | 'slugs'> &
  Pick<LibraryOptions, 'rescan' | 'onError'> & {
    readonly stores: Stores;
  }): WriterElection {
  return new WriterElection({
    tryBecomeWriter: () => stores.tryBecomeWriter(),
    openLibrary: async () => {
      const { index, access } = stores;
      const indexer = await LibraryIndexer.create({ folder, index, slugs: access.slugs, ...options });
      return new Library({ folder, indexer, rescan, onError });
    },
    onError,
  });
}
