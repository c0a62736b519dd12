import { METHODS } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { HttpProblem } from './problem.ts';

/** All that Node can read. It answers CONNECT, which names no path, by itself. */
const all: readonly string[] = METHODS.filter((method) => method !== 'CONNECT');

/**
 * Answers 405 where an address is right and the method is not; Fastify would say 404. Called before the routes are
 * registered, so that it sees them, and returns what registers the answers once all of them are there.
 */
export function refuseOtherMethods(app: FastifyInstance): () => void {
  const methods = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    const known = methods.get(url) ?? new Set();
    methods.set(url, known);
    for (const one of [method].flat()) known.add(one.toUpperCase());
  });
  return () => {
    for (const method of all)
      if (!app.supportedMethods.includes(method)) app.addHttpMethod(method, { hasBody: false });
    for (const [url, known] of [...methods].filter(([path]) => !path.includes('*'))) {
      const allow = [...known].sort().join(', ');
      app.route({
        url,
        method: all.filter((method) => !known.has(method)),
        schema: { hide: true },
        // Before the body is read: whatever it is, it is not wanted.
        onRequest: async ({ method }) => {
          throw new HttpProblem(405, `There is no ${method} here. Use ${allow}.`, { headers: { allow } });
        },
        handler: async () => undefined,
      });
    }
  };
}
