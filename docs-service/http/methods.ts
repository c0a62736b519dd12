import { METHODS } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { HttpProblem } from './problems.ts';

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
