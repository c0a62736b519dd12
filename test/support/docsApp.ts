import { join } from 'node:path';
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify';
import { pino } from 'pino';
import { type AppOptions, buildApp } from '../../docs-service/app.ts';
import type { AccessDatabase } from '../../docs-service/auth/accessDatabase.ts';
import { type AccessStores, createAccessStores } from '../../docs-service/auth/accessStores.ts';
import { createToken, type Scope, TokenVerifier } from '../../docs-service/auth/accessTokens.ts';
import { createClientDocuments } from '../../docs-service/auth/clientDocuments.ts';
import { createGuardedFetch } from '../../docs-service/auth/guardedFetch.ts';
import { createSqliteAccess } from '../../docs-service/auth/sqliteAccess.ts';
import { parseBaseUrl } from '../../docs-service/base/baseUrl.ts';
import { openDatabase } from '../../docs-service/base/sqliteDatabase.ts';
import { createRenderer, type Renderer } from '../../docs-service/formats/renderer.ts';
import type { RenderJob } from '../../docs-service/formats/renderJob.ts';
import { RenditionCache } from '../../docs-service/formats/renditionMaker.ts';
import { Renditions } from '../../docs-service/formats/renditions.ts';
import { linkAddress, pictureAddress } from '../../docs-service/http/documentView.ts';
import { createSqliteIndex } from '../../docs-service/search/sqlite/sqliteIndex.ts';
import { openTestLibrary, parts, type TestLibrary, type TestLibraryOptions } from './docsLibrary.ts';
import { temporaryFolder } from './temporaryFolder.ts';

interface Teardown {
  teardown(work: () => unknown): void;
}

export interface TestApp extends TestLibrary {
  readonly app: FastifyInstance;
  readonly access: AccessStores;
  readonly renditions: Renditions;
  /** What was written to the log, a line each. */
  readonly log: readonly string[];
  /** The kinds of the jobs that reached the renderer; it shares the rendering of one job among who asks for it. */
  readonly rendered: readonly string[];
  createToken(scopes?: readonly Scope[], lifetime?: number): Promise<string>;
  /** Asks with a token for `read`, at the address of the service. */
  get(url: string, more?: Partial<InjectOptions>): Promise<LightMyRequestResponse>;
}

const usualBaseUrl = parseBaseUrl('http://127.0.0.1:4000');

export interface TestAppOptions extends Partial<AppOptions> {
  /** Where tokens and clients are kept; a file of its own where it is left out. */
  readonly accessDatabase?: AccessDatabase;
  readonly library?: TestLibraryOptions;
}

/** The whole service but its socket, on a real library, index, renderer and store of tokens. */
export async function openTestApp(
  t: Teardown,
  files: Readonly<Record<string, string | Uint8Array>>,
  { accessDatabase, library: given, ...overrides }: TestAppOptions = {},
): Promise<TestApp> {
  const library = await openTestLibrary(t, files, given);
  await library.indexer.sync();
  const data = await temporaryFolder(t);
  const access = createAccessStores(
    accessDatabase ?? createSqliteAccess(await openDatabase(join(data, 'access.db'))),
  );
  t.teardown(() => access.close());
  const { now = Date.now, baseUrl = usualBaseUrl } = overrides;
  const verifier = new TokenVerifier({
    store: access.tokens,
    now,
    onError: (error) => log.push(error.message),
  });
  t.teardown(() => verifier.close());
  const log: string[] = [];
  const rendered: string[] = [];
  const renderer = rendererOfFile();
  const renditions = new Renditions({
    index: library.index,
    folder: library.folder,
    files: noting(renderer, rendered),
    texts: noting(renderer, rendered),
    now,
    cache: await RenditionCache.open(join(data, 'renditions'), 1e8, (error) => log.push(error.message)),
    version: 'test',
    fonts: { folders: [join(parts, 'fonts')], fingerprint: 'test' },
    addressOf: (slug, format) => linkAddress(baseUrl, slug, format),
    pictureAddress: (slug, path) => pictureAddress(baseUrl, slug, path),
    root: baseUrl.path,
    onNote: (note) => log.push(note),
  });
  const app = await buildApp({
    index: library.index,
    renditions,
    publicIndex: {
      open: () =>
        createSqliteIndex(join(data, 'public.db'), join(parts, 'indexWorker.cjs'), (one) => log.push(one)),
      version: 'test',
    },
    verify: (token) => verifier.verify(token),
    baseUrl,
    signIn: {
      ...{ access, takesRegistrations: true, dataHint: '' },
      documents: createClientDocuments({ owner: fetchNothing, stranger: fetchNothing }, now, true),
    },
    corsOrigins: [],
    trustProxy: [],
    limits: { requests: 10_000, renders: 10_000, authFailures: 10 },
    version: '0.0.0',
    now,
    logger: pino({ level: 'debug' }, { write: (line: string) => void log.push(line) }),
    ...overrides,
  });
  t.teardown(() => app.close());
  const create = async (scopes: readonly Scope[] = ['read'], lifetime = 3_600_000) => {
    const token = createToken({ scopes, lifetime, now: now() });
    await access.tokens.add(token);
    return token.token;
  };
  const usual = await create();
  return {
    ...library,
    ...{ app, access, renditions, log, rendered, createToken: create },
    get: (url, more = {}) =>
      app.inject({
        url,
        ...more,
        headers: { host: baseUrl.host, authorization: `Bearer ${usual}`, ...more.headers },
      }),
  };
}

let shared: Renderer | undefined;

/**
 * One renderer for all services of a test file: it keeps nothing of its jobs, and loading a format costs more than most
 * documents. An idle worker does not keep the process alive, so nobody closes it.
 */
function rendererOfFile(): Renderer {
  shared ??= createRenderer({
    worker: join(parts, 'renderWorker.cjs'),
    ...{ workers: 1, time: 30_000, memory: 512, queueLength: 8, maxWait: 60_000 },
  });
  return shared;
}

/** No name leads anywhere. */
const fetchNothing = createGuardedFetch({ resolve: async () => [] });

function noting(renderer: Renderer, rendered: string[]): Renderer {
  const seen = new WeakSet<RenderJob>();
  return {
    render: (job, signal) => {
      if (!seen.has(job)) rendered.push(job.kind);
      seen.add(job);
      return renderer.render(job, signal);
    },
    close: () => renderer.close(),
  };
}
