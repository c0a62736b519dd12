import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { documentListSchema, documentSchema, problemSchema, readinessSchema } from './schemas.ts';

/** Generates `openapi.json` from the schemas that validate requests. Must run before the routes. */
export async function describeRoutes(
  app: FastifyInstance,
  { origin, version }: { readonly origin: string; readonly version: string },
): Promise<void> {
  for (const schema of [documentSchema, documentListSchema, problemSchema, readinessSchema])
    app.addSchema(schema);
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'runner-docs',
        version,
        description:
          'Documents and collections, for programs and readers. Every error is a problem (RFC 9457).',
      },
      servers: [{ url: origin }],
      security: [{ bearer: [] }],
      components: {
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            description: 'A token with the scope `read`; `draft` shows drafts too.',
          },
        },
      },
    },
    refResolver: {
      buildLocalReference: (json, _base, _fragment, at) => String(json['$id'] ?? `schema-${at}`),
    },
  });
}
