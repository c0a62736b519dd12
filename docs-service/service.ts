import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { withoutUndefined } from '../protocol/base/json.ts';
import { count } from '../protocol/base/text.ts';
import { buildApp, type SiteLook } from './app.ts';
import { TokenVerifier } from './auth/accessTokens.ts';
import { createClientDocuments } from './auth/clientDocuments.ts';
import { createGuardedFetch } from './auth/guardedFetch.ts';
import { createIntrospectionClient } from './auth/introspection.ts';
import { RemoteVerifier } from './auth/remoteVerifier.ts';
import { type BaseUrl, parseBaseUrl } from './base/baseUrl.ts';
import { lockDataFolder, openDataFolder } from './base/dataFolder.ts';
import { createLogger, type Log } from './base/log.ts';
import { UsageError } from './base/options.ts';
import { quoteForShell } from './base/text.ts';
import { createProgressLine, type ProgramContext } from './cli/command.ts';
import { type ContentFolder, openContentFolder } from './content/contentFolder.ts';
import {
  type ContentProblem,
  type ContentWarning,
  countWarnings,
  toSentence,
  warningLines,
} from './content/document.ts';
import { fontsFingerprint, usualFontFolders } from './formats/pdf/fontFiles.ts';
import { createRenderer } from './formats/renderer.ts';
import { RenditionCache } from './formats/renditionMaker.ts';
import { Renditions } from './formats/renditions.ts';
import { linkAddress, pictureAddress } from './http/documentView.ts';
import { addressOf, listen } from './http/listener.ts';
import { readLogo } from './http/pages.ts';
import type { SignInOptions } from './http/signIn/signInServices.ts';
import { createProxyCheck } from './http/trustedProxies.ts';
import type { WriterElection } from './library/library.ts';
import { createPublicLibrary, publicSentence } from './library/publicLibrary.ts';
import { createLibraryMeaning, createTextRenderer, createWriterElection, endWithin } from './libraryParts.ts';
import type { Meaning } from './meaning/meaning.ts';
import type { DocumentIndex } from './search/documentIndex.ts';
import type { ServeConfig } from './serveConfig.ts';
import { openIndexFile, openStores, type Stores } from './stores.ts';

/** In bytes: the size of the cache for PDF and EPUB files. */
const cacheSize = 512 * 1024 * 1024;
/** For PDFs and books. A reader whose turn does not come within 30 s gets "try again". */
const fileBounds = { workers: 2, memory: 1_024, queueLength: 16, maxWait: 30_000 };
/** With as many downloads as `authorization.ts` allows, these leave enough of the usual 1,024 descriptors. */
const connectionBounds = { max: 512, maxOfOne: 256, maxStall: 60_000 };
/** A request is small: the service is only read. */
const requestBounds = { headersTime: 10_000, requestTime: 20_000 };
/** Milliseconds for answers in progress when the service ends, and then for everything else. */
const [shutdownTime, closeTime] = [10_000, 5_000];

/** Registers a function that releases something; the last one runs first. */
type OnClose = (closer: () => unknown) => void;

/** Puts the service together and listens. If one part fails, everything that was started is released. */
export async function startService(config: ServeConfig, context: ProgramContext) {
  const closers: (() => unknown)[] = [];
  /** Finishes the answers in progress, for at most ten seconds, and releases everything. */
  const close = () =>
    endWithin(shutdownTime + closeTime, async () => {
      for (const closer of closers.splice(0).reverse()) await closer();
    });
  try {
    const started = await start(config, context, (closer) => void closers.push(closer));
    return { ...started, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function start(config: ServeConfig, context: ProgramContext, onClose: OnClose) {
  const { note, isTerminal } = context;
  const logger = createLogger(config.logLevel, note, isTerminal);
  const folder = await openContentFolder(config.content, config);
  await checkFolders(config.fonts);
  const { title, editAddress } = config;
  const logo = config.logo === undefined ? undefined : await readLogo(config.logo);
  const look = withoutUndefined<SiteLook>({ title, editAddress, logo });
  await openDataFolder(config.data);
  const lock = await lockDataFolder(config.data);
  onClose(() => lock.release());
  const log = (message: string) => logger.warn(message);
  const stores = await openStores(config, context.parts, log);
  onClose(() => stores.close());
  const bounds = { ...connectionBounds, ...requestBounds, isProxy: createProxyCheck(config.trustProxy) };
  const listener = await listen(config.host, config.port, bounds);
  onClose(() => listener.close(shutdownTime));
  const baseUrl = config.baseUrl ?? parseBaseUrl(addressOf(config.host, listener.port));
  const parts = { config, context, stores, folder, logger, baseUrl, look };
  const turn = createLoggedTurn(parts);
  const meaning = createLibraryMeaning(
    { config, stores, isWriter: () => turn.library !== undefined, log },
    context,
  );
  onClose(() => meaning?.close());
  const app = await openApp(parts, turn, meaning, onClose);
  onClose(() => app.close());
  if (config.metricsPort !== undefined) {
    const { measureApp, serveMetrics } = await import('./http/metrics.ts');
    onClose(await serveMetrics(measureApp(app, stores.index), config.metricsPort));
  }
  await app.ready();
  listener.serve((request, response) => app.routing(request, response));
  /** Resolves once all files have been scanned. Before that, the service serves what the index had. */
  const whole = followLibrary(turn, parts, onClose);
  // Closed first, because answers in progress need everything else until they are sent.
  onClose(() => listener.close(shutdownTime));
  return { baseUrl, whole };
}

interface Parts {
  readonly config: ServeConfig;
  readonly context: ProgramContext;
  readonly stores: Stores;
  readonly folder: ContentFolder;
  readonly logger: Logger;
  readonly baseUrl: BaseUrl;
  readonly look: SiteLook;
}

/** The routes, with everything that they answer from. */
async function openApp(parts: Parts, turn: WriterElection, meaning: Meaning | undefined, onClose: OnClose) {
  const { config, context, stores, logger } = parts;
  const renderWorker = join(context.parts, 'renderWorker.cjs');
  const program = await readFile(renderWorker);
  const rendering = createHash('sha256').update(program).digest('hex');
  const renditions = await startRenditions(parts, turn, { renderWorker, rendering }, onClose);
  const verifier = await createVerifier(parts);
  onClose(() => verifier.close());
  const log = (message: string) => logger.warn(message);
  const { corsOrigins, trustProxy, limits, hasConnectorTools } = config;
  const { version, now, ending } = context;
  return buildApp({
    ...{ corsOrigins, trustProxy, limits, hasConnectorTools, version, now, ending },
    ...{ logger, baseUrl: parts.baseUrl, look: parts.look },
    index: stores.index,
    meaning,
    hasFailed: () => turn.library?.hasFailed === true,
    renditions,
    publicIndex: {
      open: () => openIndexFile(join(config.data, 'public.db'), context.parts, log),
      version: rendering,
    },
    verify: (token) => verifier.verify(token),
    signIn: config.auth.mode === 'remote' ? { issuer: config.auth.issuer } : signInOptions(parts),
  });
}

/** With another authorization server, only its tokens are valid. */
async function createVerifier({
  config: { auth },
  context: { now },
  stores,
  baseUrl,
  logger,
}: Parts): Promise<TokenVerifier | RemoteVerifier> {
  const warn = (message: string) => logger.warn(message);
  if (auth.mode === 'self')
    return new TokenVerifier({ store: stores.access.tokens, now, onError: ({ message }) => warn(message) });
  const { introspection: address, tokenFile, allowed } = auth;
  const client = await createIntrospectionClient(address, tokenFile, warn);
  return new RemoteVerifier({ client, allowed, baseUrl, now, warn });
}

/** Anyone can name the addresses at which clients describe themselves, so fetches from there are guarded. */
function signInOptions({ config, context, stores, baseUrl }: Parts): SignInOptions {
  const { isLoopback } = baseUrl;
  const fetch = {
    owner: createGuardedFetch(),
    stranger: createGuardedFetch({ bounds: { lanes: 4, length: 8 } }),
  };
  const documents = createClientDocuments(fetch, context.now, isLoopback);
  // If strangers can read the page, it must not show the folders of this machine.
  const dataHint = isLoopback ? `--data ${quoteForShell(config.data)}` : '';
  return { access: stores.access, documents, takesRegistrations: config.takesRegistrations, dataHint };
}

async function checkFolders(folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    const found = await stat(folder).catch(() => undefined);
    if (!found?.isDirectory()) throw new UsageError(`--fonts ${folder} is not a folder.`);
  }
}

/** @param render the path of the worker's program, and a version that changes with it */
async function startRenditions(
  { config, context, stores, folder, baseUrl, logger }: Parts,
  turn: WriterElection,
  render: { readonly renderWorker: string; readonly rendering: string },
  onClose: OnClose,
): Promise<Renditions> {
  const cache = await RenditionCache.open(join(config.data, 'renditions'), cacheSize, (error) =>
    logger.warn(`A rendition could not be cached: ${error.message}`),
  );
  const fonts = [join(context.parts, 'fonts'), ...config.fonts, ...usualFontFolders()];
  const time = config.renderSeconds * 1_000;
  const files = createRenderer({ worker: render.renderWorker, time, ...fileBounds });
  onClose(() => files.close());
  const texts = createTextRenderer(context, config.renderSeconds);
  onClose(() => texts.close());
  return new Renditions({
    index: stores.index,
    folder,
    files,
    texts,
    now: context.now,
    cache,
    unchangedFiles: () => turn.library?.unchangedFiles,
    version: render.rendering,
    fonts: { folders: fonts, fingerprint: fontsFingerprint(fonts) },
    addressOf: (slug, format) => linkAddress(baseUrl, slug, format),
    pictureAddress: (slug, path) => pictureAddress(baseUrl, slug, path),
    root: baseUrl.path,
    onNote: (text) => logger.info(text),
  });
}

/** Keeps the index in step with the files, and logs what is found in them. */
function createLoggedTurn({ config, context, stores, folder, logger }: Parts): WriterElection {
  const { now } = context;
  const onProgress = createProgressLine(context, (text) => logger.info(text));
  const onProblem = (problem: ContentProblem) => logger.warn(toSentence(problem));
  const onWarnings = (warnings: readonly ContentWarning[]) => {
    for (const line of warningLines(warnings)) logger.warn(line);
  };
  const onLoss = (sentence: string) => logger.warn(sentence);
  const onError = (error: Error) => logger.error(error.message);
  const { rescan, future, title } = config;
  const listeners = { onProgress, onProblem, onWarnings, onLoss, onError };
  return createWriterElection({ folder, stores, rescan, now, future, title, ...listeners });
}

function followLibrary(turn: WriterElection, { stores, logger }: Parts, onClose: OnClose): Promise<void> {
  onClose(() => turn.close());
  const rescan = () => turn.library?.lookAtAll();
  process.on('SIGHUP', rescan);
  onClose(() => process.off('SIGHUP', rescan));
  return turn.start().then(async () => {
    await report(stores.index, logger);
    const watching = reportPublic(stores.index, logger);
    onClose(() => watching.dispose());
  });
}

/** Logs what is public, now and whenever other collections are. */
function reportPublic(index: DocumentIndex, log: Log): { dispose(): void } {
  const readPublic = createPublicLibrary(index);
  let before = '';
  const look = async () => {
    // The documents of a large library are not read after each change.
    const open = (await index.collections()).filter((one) => one.public);
    const names = open.map(({ name }) => name).join(' ');
    if (names === before) return;
    before = names;
    const found = await readPublic();
    log.info(publicSentence(found) ?? 'Nothing is public any more.');
    const { documents } = await index.summary();
    for (const { definition, documents: shown } of found.collections)
      if ('folder' in definition.docs)
        log.info(
          `public: ${shown.length} of ${count(documents, 'document')} (path /${definition.docs.folder})`,
        );
  };
  // While the index is down, the next change reports it.
  const lookSafely = () => void look().catch(() => undefined);
  lookSafely();
  return index.onDidChange(lookSafely);
}

async function report(index: DocumentIndex, log: Log): Promise<void> {
  const summary = await index.summary().catch(() => undefined);
  if (summary === undefined) return;
  const { documents, problems, warnings, isComplete } = summary;
  // Another instance makes the index, or it could not be written, which was logged.
  if (!isComplete) {
    log.info(`The index is not complete yet: it has ${count(documents, 'document')} so far.`);
    return;
  }
  const found = [
    ...(problems.length === 0 ? [] : [count(problems.length, 'problem')]),
    ...(warnings.length === 0 ? [] : [count(countWarnings(warnings), 'warning')]),
  ].join(' and ');
  const named = found === '' ? '' : `, and ${found}, which "runner-docs doctor" names`;
  log.info(`The library has ${count(documents, 'document')}${named}.`);
}
