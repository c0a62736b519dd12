import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import type { Server } from '@modelcontextprotocol/server';
import { openDataFolder } from '../base/dataFolder.ts';
import { WriterTurn } from '../base/writerTurn.ts';
import type { Surroundings } from '../cli/surroundings.ts';
import { type ContentFolder, openContentFolder } from '../content/contentFolder.ts';
import { Library } from '../content/library.ts';
import { LibraryIndexer } from '../content/libraryIndexer.ts';
import { createRenderer } from '../formats/renderer.ts';
import { createRenditions } from '../formats/renditions.ts';
import type { DocumentIndex } from '../search/documentIndex.ts';
import type { Places } from '../serveConfig.ts';
import { openStores, type Stores } from '../stores.ts';
import { createChangeTeller } from './changeTeller.ts';
import { createMcpLibrary } from './mcpLibrary.ts';
import { createMcpServer } from './mcpServer.ts';
import { createStdioConnection } from './stdioConnection.ts';

export interface StdioLibraryOptions {
  readonly surroundings: Surroundings;
  readonly input: Readable;
  /** Carries only the protocol. */
  readonly output: Writable;
}

/**
 * Serves the library to the client on the other end of two streams, until its input ends. It introduces itself before
 * the library is open, and serves what the index has while the index is being updated.
 */
export async function serveStdioLibrary(places: Places, options: StdioLibraryOptions): Promise<void> {
  const { surroundings, input, output } = options;
  const { note, version, ending } = surroundings;
  const folder = await openContentFolder(places.content);
  await openDataFolder(places.data);
  const protocol = await import('./mcpProtocol.ts');
  const opened = openLibrary({ places, folder, surroundings });
  const library = opened.then(async ({ reader, whole }) => {
    await Promise.race([whole, wait(firstLook)]);
    return reader;
  });
  // Each request is answered with the error; people get it below.
  library.catch(() => undefined);
  const onDefect = (error: Error) => note(`runner-docs: ${error.stack ?? error.message}\n`);
  const { transport, ended } = createStdioConnection({ protocol, input, output });
  const served = protocol.serveStdio(
    ({ era }) => {
      const server = createMcpServer({ protocol, library, version, era, canNotify: true, onDefect });
      tellChanges({ server, era, index: opened.then(({ index }) => index) });
      return server;
    },
    { transport },
  );
  try {
    const isEnding = new Promise<void>((resolve) => ending.addEventListener('abort', () => resolve()));
    await Promise.race([ended, isEnding, opened.then(() => ended)]);
  } finally {
    await served.close();
    const open = await opened.catch(() => undefined);
    await open?.close();
  }
}

/** Milliseconds that the first request waits for a library that is small enough to be read meanwhile. */
const firstLook = 1_000;

interface Telling {
  readonly server: Server;
  readonly era: 'legacy' | 'modern';
  readonly index: Promise<DocumentIndex>;
}

/** Notifies a client of 2025-11-25 once it is initialized, and one of 2026-07-28 once it listens. */
function tellChanges({ server, era, index }: Telling): void {
  const teller = createChangeTeller(() => {
    if (server.transport !== undefined) void server.sendResourceListChanged().catch(() => undefined);
  });
  let subscription: { dispose(): void } | undefined;
  const follow = async () => {
    const known = await index.catch(() => undefined);
    subscription = known?.onDidChange(teller.onDidChange);
  };
  server.onclose = () => {
    subscription?.dispose();
    teller.dispose();
  };
  if (era === 'modern') void follow();
  else server.oninitialized = () => void follow();
}

interface Opening {
  readonly places: Places;
  readonly folder: ContentFolder;
  readonly surroundings: Surroundings;
}

/** One text after another, each in 5 s and 512 MB. */
const textBounds = { workers: 1, deadline: 5_000, memory: 512, queueLength: 64, patience: 10_000 };

async function openLibrary({ places, folder, surroundings }: Opening) {
  const { parts, note, now } = surroundings;
  const stores = await openStores({ places, parts, log: (message) => note(`${message}\n`) });
  const texts = createRenderer({ worker: join(parts, 'renderWorker.cjs'), ...textBounds });
  const { index } = stores;
  const renditions = createRenditions({
    ...{ index, folder, now, texts, files: texts, version: '' },
    // Texts are cached in memory; nobody asks for a format with fonts or links.
    cache: {
      sizeOf: () => undefined,
      open: async () => undefined,
      get: async () => undefined,
      put: async () => undefined,
    },
    fonts: { folders: [], fingerprint: '' },
    addressOf: () => '',
    onNote: () => undefined,
  });
  const turn = followFiles(stores, { places, folder, surroundings });
  return {
    index,
    /** Resolves when all files were scanned once, here or in another process. */
    whole: turn.start(),
    reader: createMcpLibrary({ index, renditions })({ drafts: false }),
    async close() {
      await turn.close();
      await texts.close();
      await stores.close();
    },
  };
}

/** Seconds between two scans of the whole folder. */
const rescan = 60;

/** Of several processes on one index, one keeps it in step with the files. */
function followFiles(stores: Stores, { folder, surroundings }: Opening): WriterTurn {
  const { now, note } = surroundings;
  const onError = (error: Error) => note(`runner-docs: ${error.message}\n`);
  return new WriterTurn({
    tryBecomeWriter: () => stores.tryBecomeWriter(),
    openLibrary: async () => {
      const indexer = await LibraryIndexer.create({
        folder,
        index: stores.index,
        slugs: stores.access.slugs,
        now,
      });
      return new Library({ folder, indexer, rescan, onError });
    },
    onError,
  });
}
