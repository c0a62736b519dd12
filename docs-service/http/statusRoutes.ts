import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { countWarnings } from '../content/document.ts';
import type { DocumentIndex } from '../search/documentIndex.ts';

/** For the operator: whether the process runs, and whether it can answer. Neither needs a token or shows a name. */
export function createStatusRoutes(index: DocumentIndex): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/healthz',
      {
        schema: {
          summary: 'Whether the process runs',
          security: [],
          response: { 200: Type.Object({ status: Type.Literal('ok') }) },
        },
      },
      async (_request, reply) => reply.header('cache-control', 'no-store').send({ status: 'ok' as const }),
    );
    app.get(
      '/readyz',
      {
        schema: {
          summary: 'Whether the library can be read',
          description: '503 until the first index is complete, and while the database is down.',
          security: [],
          response: { 200: Type.Ref('Readiness'), 503: Type.Ref('Readiness') },
        },
      },
      async (_request, reply) => {
        reply.header('cache-control', 'no-store');
        const summary = await index.summary().catch(() => undefined);
        const body = {
          documents: summary?.documents ?? 0,
          problems: summary?.problems.length ?? 0,
          warnings: countWarnings(summary?.warnings ?? []),
        };
        return summary?.whole ? reply.send(body) : reply.code(503).header('retry-after', '5').send(body);
      },
    );
  };
}
