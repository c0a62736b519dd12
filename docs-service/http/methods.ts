import { METHODS } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { HttpProblem } from './problem.ts';

type Guard = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Must let a request pass before it is told that its method is the wrong one. Throws HttpProblem. */
    readonly guard?: Guard;
  }
}

/** What is registered at an address. */
interface Address {
  readonly methods: Set<string>;
  guard: Guard | undefined;
}

/** All that Node can read. It answers CONNECT, which names no path, by itself. */
const all: readonly string[] = METHODS.filter((method) => method !== 'CONNECT');

/**
 * Answers 405 where an address is right and the method is not; Fastify would say 404. Called before the routes are
 * registered, so that it sees them, and returns what registers the answers once all of them are there.
 */
export function refuseOtherMethods(app: FastifyInstance): () => void {
  const addresses = new Map<string, Address>();
  app.addHook('onRoute', ({ url, method, config }) => {
    const known = addresses.get(url) ?? { methods: new Set(), guard: undefined };
    addresses.set(url, known);
    known.guard ??= config?.guard;
    for (const one of [method].flat()) known.methods.add(one.toUpperCase());
  });
  return () => {
    for (const method of all)
      if (!app.supportedMethods.includes(method)) app.addHttpMethod(method, { hasBody: false });
    for (const [url, known] of [...addresses].filter(([path]) => !path.includes('*'))) {
      const allow = [...known.methods].sort().join(', ');
      app.route({
        url,
        method: all.filter((method) => !known.methods.has(method)),
        schema: { hide: true },
        // Before the body is read: whatever it is, it is not wanted.
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
