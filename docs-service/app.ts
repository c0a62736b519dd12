import cors from '@fastify/cors';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import type { Grant } from './auth/accessTokens.ts';
import type { BaseUrl } from './base/baseUrl.ts';
import type { Renditions } from './formats/renditions.ts';
import { createAnswers } from './http/answers.ts';
import { apiRoutes } from './http/apiRoutes.ts';
import { authorizeBearers } from './http/authorization.ts';
import { mountLibrary } from './http/mcp/mcpRoute.ts';
import { llmsRoute } from './http/open/llmsRoute.ts';
import { publicRoutes } from './http/open/publicRoutes.ts';
import { aliasRoute, openRoutes, statusRoutes } from './http/openRoutes.ts';
import type { Site } from './http/pages.ts';
import { answerError, answerErrors } from './http/problems.ts';
import { readingRoutes } from './http/reading/readingRoutes.ts';
import { checkHosts, refuseOtherMethods } from './http/requestChecks.ts';
import { describeRoutes, readNumbers } from './http/schemas.ts';
import { createLookups, type Services } from './http/services.ts';
import { resourceMetadata, serverMetadata } from './http/signIn/metadataRoutes.ts';
import { noOwner } from './http/signIn/ownerSessions.ts';
import { addAuthorizationServer } from './http/signIn/signInRoutes.ts';
import type { SignInOptions } from './http/signIn/signInServices.ts';
import { createPublicLibrary } from './library/publicLibrary.ts';
import { PublicSearch, type PublicSearchOptions } from './library/publicSearch.ts';
import { createAliases, createWholeIndex } from './library/wholeIndex.ts';
import { createLibrarySearch } from './meaning/librarySearch.ts';
import type { Meaning } from './meaning/meaning.ts';
import type { DocumentIndex } from './search/documentIndex.ts';
import type { Limits } from './serveConfig.ts';

export type SiteLook = Partial<Pick<Site, 'title' | 'logo' | 'editAddress'>>;

export interface AppOptions {
  readonly index: DocumentIndex;
  /** What finds documents by their meaning, if something does. */
  readonly meaning?: Meaning | undefined;
  /** Whether the index could not be made at the last try. */
  readonly hasFailed?: () => boolean;
  readonly renditions: Renditions;
  /** Where the search of strangers has its own index. */
  readonly publicIndex: Pick<PublicSearchOptions, 'open' | 'version'>;
  /** What the bearer of a token may do. It rejects while tokens cannot be checked. */
  readonly verify: (token: string) => Promise<Grant | undefined>;
  readonly baseUrl: BaseUrl;
  /** The name of the library on its pages, a picture beside it, and where its documents are edited. */
  readonly look?: SiteLook;
  /** Either this service is the authorization server, or another one at this address is. */
  readonly signIn: SignInOptions | { readonly issuer: string };
  /** Whether agents get the tools that some hosts look for by their names. */
  readonly hasConnectorTools?: boolean;
  readonly corsOrigins: readonly string[];
  readonly trustProxy: readonly string[];
  readonly limits: Limits;
  readonly version: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly logger: FastifyBaseLogger;
  /** Aborted when the service shuts down. */
  readonly ending?: AbortSignal;
}

/** The whole service, ready to listen or to be called with `inject`. */
export async function buildApp(options: AppOptions): Promise<FastifyInstance> {
  const { baseUrl, corsOrigins, version } = options;
  const index = createWholeIndex(options.index);
  const search = createLibrarySearch(index, options.meaning);
  const app = createServer(options);
  answerErrors(app, baseUrl);
  readNumbers(app);
  checkHosts(app, baseUrl, corsOrigins);
  app.addHook('onSend', async (_request, reply) => {
    reply.headers({ 'x-content-type-options': 'nosniff', vary: 'Authorization, Origin' });
  });
  if (corsOrigins.length > 0) await app.register(cors, corsOptions(corsOrigins));
  const refuse = refuseOtherMethods(app);
  await describeRoutes(app, { baseUrl, version });
  const { signIn, limits, now } = options;
  const isServer = !('issuer' in signIn);
  const issuer = isServer ? baseUrl.href : signIn.issuer;
  const site: Site = { title: 'runner-docs', ...options.look, root: baseUrl.path, hasSignIn: isServer };
  const authorization = await authorizeBearers(app, { ...options, issuer });
  await app.register(resourceMetadata, { baseUrl, issuer, site });
  if (isServer) await app.register(serverMetadata, { ...signIn, baseUrl });
  const addRoutes = async (service: FastifyInstance) => {
    const { renditions } = options;
    const shared = { baseUrl, site, authorization, now, limits };
    const owner = isServer ? await addAuthorizationServer(service, { ...signIn, ...shared }) : noOwner;
    const readPublic = createPublicLibrary(index);
    const publicSearch = new PublicSearch({
      ...{ ...options.publicIndex, index, readPublic, textOf: (document) => renditions.shownText(document) },
      onError: (error) => service.log.warn({ err: error }, 'what is public could not be indexed'),
    });
    service.addHook('onClose', () => publicSearch.close());
    const findAlias = createAliases(index);
    const services: Services = {
      ...{ index, search, renditions, readPublic, publicSearch, authorization, owner, baseUrl, site, issuer },
      lookups: createLookups(index, findAlias),
      findAlias,
      sendAnswer: createAnswers(search),
    };
    await service.register(readingRoutes, { ...services, prefix: '/read' });
    await service.register(publicRoutes, services);
    await service.register(llmsRoute, services);
    await service.register(apiRoutes, { ...services, prefix: '/api/v1' });
    mountLibrary(service, { ...options, ...services });
    await service.register(statusRoutes, { ...options, index, authorization });
    await service.register(openRoutes, services);
    await service.register(aliasRoute, services);
  };
  // Only well-known documents have places outside of the path.
  await app.register(addRoutes, { prefix: baseUrl.path });
  refuse();
  return app;
}

function createServer({ logger, trustProxy }: AppOptions) {
  return fastify({
    loggerInstance: logger,
    // A line at the start and at the end of each request is too much for a service that is only read.
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: trustProxy.length === 0 ? false : [...trustProxy],
    frameworkErrors: answerError,
    // The validator's own idea of a number accepts `1e1` and ` 5`.
    ajv: { customOptions: { allErrors: true, coerceTypes: false } },
    // Longer paths get a problem of their own.
    routerOptions: { maxParamLength: 100_000 },
    // The service is only read, so clients send little.
    bodyLimit: 65_536,
    forceCloseConnections: 'idle',
  }).withTypeProvider<TypeBoxTypeProvider>();
}

function corsOptions(origins: readonly string[]) {
  return {
    origin: [...origins],
    methods: ['GET', 'HEAD', 'POST'],
    strictPreflight: false,
    allowedHeaders:
      'Authorization, Content-Type, If-Match, If-None-Match, Range, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Last-Event-ID',
    exposedHeaders:
      'ETag, Link, X-Total-Count, WWW-Authenticate, RateLimit, Retry-After, Content-Range, Mcp-Session-Id',
    maxAge: 600,
  };
}
