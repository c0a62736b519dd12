import { METHODS } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isLoopbackHost } from '../../protocol/base/loopback.ts';
import { type BaseUrl, tryHostname } from '../base/baseUrl.ts';
import { HttpProblem, pathOf } from './problems.ts';

/**
 * A page in a browser must not reach the service under a name of its own (DNS rebinding), nor from an origin of its
 * own. Origins in `corsOrigins` may read.
 */
export function checkHosts(app: FastifyInstance, baseUrl: BaseUrl, corsOrigins: readonly string[]): void {
  // A load balancer probes these by any address.
  const anyHost = new Set(['/healthz', '/readyz'].map((path) => baseUrl.path + path));
  app.addHook('onRequest', async (request) => {
    const { headers } = request;
    const host = headers.host ?? '';
    const named = host === '' ? 'no Host' : `the Host "${host.slice(0, 255)}"`;
    if (!anyHost.has(pathOf(request)) && !isOwnHost(host, baseUrl))
      throw new HttpProblem(
        403,
        `This service answers at ${baseUrl.href}, and the request has ${named}. A proxy in front must pass the Host header on as it arrived.`,
      );
    const { origin } = headers;
    if (origin !== undefined && !isOwnOrigin(origin, baseUrl) && !corsOrigins.includes(origin))
      throw new HttpProblem(403, 'Pages of this origin may not read here. --cors-origin allows an origin.');
  });
}

function isOwnHost(header: string, baseUrl: BaseUrl): boolean {
  const scheme = new URL(baseUrl.origin).protocol;
  const plain = header.toLowerCase().replace(scheme === 'https:' ? /:443$/ : /:80$/, '');
  if (plain === baseUrl.host) return true;
  const hostname = tryHostname(header);
  return baseUrl.isLoopback && hostname !== undefined && isLoopbackHost(hostname);
}

function isOwnOrigin(origin: string, baseUrl: BaseUrl): boolean {
  if (origin === baseUrl.origin) return true;
  return baseUrl.isLoopback && URL.canParse(origin) && isLoopbackHost(new URL(origin).hostname);
}

/**
 * The origin that the client uses. It is that of the base URL, or on loopback the name and port of the request: clients
 * refuse a resource other than the one they asked. The Host header was checked before.
 */
export function originOf({ headers }: FastifyRequest, { origin, isLoopback }: BaseUrl): string {
  if (!isLoopback || headers.host === undefined) return origin;
  return `${new URL(origin).protocol}//${headers.host.toLowerCase()}`;
}

type Guard = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Must let a request pass before the request learns that its method is wrong. Throws HttpProblem. */
    readonly guard?: Guard;
    /** It answers where there is nothing. */
    readonly isFallback?: true;
  }
}

/** All methods that Node can read. It answers CONNECT, which has no path, by itself. */
const all: readonly string[] = METHODS.filter((method) => method !== 'CONNECT');

/**
 * Answers 405 if the address exists and the method does not; Fastify would answer 404. Call it before the routes are
 * registered, so that it sees them. The function that it returns registers the answers after all routes.
 */
export function refuseOtherMethods(app: FastifyInstance): () => void {
  const addresses = new Map<string, { readonly methods: Set<string>; guard: Guard | undefined }>();
  app.addHook('onRoute', ({ url, method, config }) => {
    if (config?.isFallback) return;
    const known = addresses.get(url) ?? { methods: new Set(), guard: undefined };
    addresses.set(url, known);
    known.guard ??= config?.guard;
    for (const one of [method].flat()) known.methods.add(one.toUpperCase());
  });
  return () => {
    for (const method of all)
      if (!app.supportedMethods.includes(method)) app.addHttpMethod(method, { hasBody: false });
    for (const [url, known] of addresses) {
      // A plugin answers everywhere, such as the one for CORS.
      if (url === '*' || url === '/*') continue;
      const allow = [...known.methods].sort().join(', ');
      app.route({
        url,
        method: all.filter((method) => !known.methods.has(method)),
        // Before the body is read, because it is not needed.
        onRequest: async (request, reply) => {
          await known.guard?.(request, reply);
          throw new HttpProblem(405, `There is no ${request.method} here. Use ${allow}.`, {
            headers: { allow },
          });
        },
        handler: async () => undefined,
      });
    }
  };
}
