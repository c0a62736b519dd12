import { join } from 'node:path';
import type { ProgramContext } from './cli/command.ts';
import type { ContentFolder } from './content/contentFolder.ts';
import { createRenderer, type Renderer } from './formats/renderer.ts';
import { Library } from './library/library.ts';
import { LibraryIndexer, type LibraryIndexerOptions } from './library/libraryIndexer.ts';
import { WriterElection } from './library/writerElection.ts';
import type { Stores } from './stores.ts';

/** What `serve` and `mcp` both consist of. */

/** Markdown and HTML take milliseconds, except for documents that are made to take longer. */
const textBounds = { workers: 1, deadline: 5_000, memory: 512, queueLength: 64, maxWait: 10_000 };

export function createTextRenderer({ parts }: Pick<ProgramContext, 'parts'>): Renderer {
  return createRenderer({ worker: join(parts, 'renderWorker.cjs'), ...textBounds });
}

export interface FollowOptions
  extends Pick<LibraryIndexerOptions, 'now' | 'onProgress' | 'onProblem' | 'onWarnings'> {
  readonly folder: ContentFolder;
  readonly stores: Stores;
  /** Seconds between two scans of the whole folder. */
  readonly rescan: number;
  readonly onError: (error: Error) => void;
}

/** Keeps the index in step with the files, as soon as no other instance or process does. */
export function createWriterElection({
  folder,
  stores,
  rescan,
  onError,
  ...options
}: FollowOptions): WriterElection {
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
