import { setTimeout as wait } from 'node:timers/promises';
import type { Server } from '@modelcontextprotocol/server';
import { openDataFolder } from './base/dataFolder.ts';
import type { ProgramContext } from './cli/command.ts';
import { type ContentFolder, openContentFolder } from './content/contentFolder.ts';
import { RenditionMaker } from './formats/renditionMaker.ts';
import { MarkdownRenditions } from './formats/renditions.ts';
import { createWholeIndex, untilWhole } from './library/wholeIndex.ts';
import { createLibraryMeaning, createTextRenderer, createWriterElection, endWithin } from './libraryParts.ts';
import { createMcpLibrary } from './mcp/mcpLibrary.ts';
import { createMcpServer, followChanges } from './mcp/mcpServer.ts';
import { createStdioConnection } from './mcp/stdioConnection.ts';
import { createLibrarySearch } from './meaning/librarySearch.ts';
import type { DocumentIndex } from './search/documentIndex.ts';
import type { LibraryConfig } from './serveConfig.ts';
import { openStores } from './stores.ts';

/**
 * Milliseconds that the first request waits for a library that is read for the first time, and for changes in another
 * one.
 */
const [firstReading, firstLook] = [10_000, 1_000];
/** Milliseconds until the end, once the client has gone. */
const closeTime = 5_000;
/** Seconds between two scans of the whole folder. */
const rescan = 60;

/**
 * Serves the library to the client on standard input and output, until its input ends. It introduces itself before the
 * library is open, and serves what the index has while the index is being updated.
 */
export async function serveStdio(config: LibraryConfig, context: ProgramContext): Promise<void> {
  const { note, version, ending } = context;
  const folder = await openContentFolder(config.content, config);
  await openDataFolder(config.data);
  const protocol = await import('./mcp/mcpProtocol.ts');
  const opened = openLibrary(config, folder, context);
  const library = opened.then(async ({ index, reader, scanned }) => {
    await Promise.race([untilWhole(index), wait(firstReading, undefined, { ref: false })]);
    await Promise.race([scanned, wait(firstLook, undefined, { ref: false })]);
    return reader;
  });
  // Each request is answered with the error; people get it below.
  library.catch(() => undefined);
  const index = opened.then((open) => open.index);
  index.catch(() => undefined);
  const onDefect = (error: Error) => note(`runner-docs: ${error.stack ?? error.message}\n`);
  const { transport, ended } = createStdioConnection({ protocol, ...context.protocolStreams() });
  const served = protocol.serveStdio(
    ({ era }) => {
      const server = createMcpServer({ protocol, library, version, era, canNotify: true, onDefect });
      notifyOfChanges(server, era, index);
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
    if (open) await endWithin(closeTime, open.close);
  }
}

async function openLibrary(config: LibraryConfig, folder: ContentFolder, context: ProgramContext) {
  const { parts, note, now } = context;
  const log = (message: string) => note(`${message}\n`);
  const stores = await openStores(config, parts, log);
  const texts = createTextRenderer(context, config.renderSeconds);
  const index = createWholeIndex(stores.index);
  const onError = (error: Error) => note(`runner-docs: ${error.message}\n`);
  const { future } = config;
  const turn = createWriterElection({ folder, stores, rescan, now, future, onError, onLoss: log });
  const isWriter = () => turn.library !== undefined;
  const meaning = createLibraryMeaning({ config, stores, isWriter, log }, context);
  const renditions = new MarkdownRenditions(new RenditionMaker({ renderer: texts, now }));
  const search = createLibrarySearch(index, meaning);
  return {
    index,
    /** Resolves when all files were scanned once, here or in another process. */
    scanned: turn.start(),
    reader: createMcpLibrary({ index, search, renditions })({ drafts: false }),
    async close() {
      await meaning?.close();
      await turn.close();
      await texts.close();
      await stores.close();
    },
  };
}

/** Notifies a client of 2025-11-25 once it is initialized, and one of 2026-07-28 once it listens. */
function notifyOfChanges(server: Server, era: 'legacy' | 'modern', index: Promise<DocumentIndex>): void {
  const notify = () => {
    if (server.transport !== undefined) void server.sendResourceListChanged().catch(() => undefined);
  };
  let following: { dispose(): void } | undefined;
  const follow = async () => {
    const known = await index.catch(() => undefined);
    following = known && followChanges(known, notify);
  };
  server.onclose = () => following?.dispose();
  if (era === 'modern') void follow();
  else server.oninitialized = () => void follow();
}
