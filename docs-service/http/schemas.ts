import swagger from '@fastify/swagger';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import type { BaseUrl } from '../base/baseUrl.ts';
import { pageParameters } from '../base/pageParameters.ts';

/** The schemas that validate requests, write answers, and define `openapi.json`. */

const orNull = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Union([schema, Type.Null()]);

const tagSchema = Type.Object({ slug: Type.String(), title: Type.String() });

export const documentSchema = Type.Object(
  {
    slug: Type.String({ description: 'Names the document in addresses.' }),
    title: Type.String(),
    type: orNull(Type.String()),
    tags: Type.Array(tagSchema),
    date: orNull(Type.String({ description: 'ISO 8601; a date stays a date.' })),
    updated: orNull(Type.String({ description: 'ISO 8601.' })),
    lang: orNull(Type.String({ description: 'A BCP 47 language tag.' })),
    authors: Type.Array(Type.String()),
    description: orNull(Type.String()),
    contentHash: Type.String({ description: 'Changes with every change of the document.' }),
    links: Type.Object({
      self: Type.String({ format: 'uri' }),
      pdf: Type.String({ format: 'uri' }),
      markdown: Type.String({ format: 'uri' }),
    }),
  },
  { $id: 'Document', description: 'The metadata of a document. A field without a value is null, or empty.' },
);

const documentListSchema = Type.Object(
  {
    items: Type.Array(Type.Ref('Document')),
    total: Type.Integer({ minimum: 0, description: 'The number of documents on all pages.' }),
    limit: Type.Integer(),
    offset: Type.Integer(),
    approximate: Type.Optional(
      Type.Boolean({ description: 'In a search: more documents matched than were ranked.' }),
    ),
  },
  { $id: 'DocumentList' },
);

/** The default number of documents on a page. */
export const usualLimit = 20;

export const listQuerySchema = Type.Object({
  type: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: 'Only documents of this type.' }),
  ),
  tag: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: 'Only documents with the tag of this slug.' }),
  ),
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1_000,
      description: 'Words, "phrases", -exclusions and prefix*. Then the most relevant document comes first.',
    }),
  ),
  ...pageParameters({ usual: usualLimit, max: 100 }),
});

export type ListParameters = Static<typeof listQuerySchema>;

export const slugParameter = Type.Object({ slug: Type.String({ description: 'The slug of the document.' }) });
export const nameParameter = Type.Object({
  name: Type.String({ description: 'The name of the collection.' }),
});

const problemSchema = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String({ description: 'What happened, and what to do.' }),
    instance: Type.String(),
    errors: Type.Optional(Type.Array(Type.Object({ path: Type.String(), message: Type.String() }))),
  },
  { $id: 'Problem', description: 'RFC 9457.' },
);

const readinessSchema = Type.Object(
  {
    documents: Type.Integer({ description: 'The documents that a token with the scope read sees.' }),
    problems: Type.Integer({
      description: 'Files that are not served as they are; `runner-docs doctor` names them.',
    }),
    warnings: Type.Integer({
      description: 'What authors should look at in files that are served; `runner-docs doctor` names it.',
    }),
  },
  { $id: 'Readiness' },
);

/** The problems that a route can answer with, for `openapi.json`. */
export function problemResponses(...statuses: readonly number[]) {
  const problem = { content: { 'application/problem+json': { schema: Type.Ref('Problem') } } };
  const descriptionOf = (status: number) => (status === 308 ? 'The document has another slug' : 'A problem');
  return Object.fromEntries(
    statuses.map((status) => [status, { description: descriptionOf(status), ...problem }]),
  );
}

/** Generates `openapi.json` from the schemas that validate requests. Must run before the routes. */
export async function describeRoutes(
  app: FastifyInstance,
  { baseUrl, version }: { readonly baseUrl: BaseUrl; readonly version: string },
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
      servers: [{ url: baseUrl.href }],
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

/** Converts digits in the query to numbers before validation. Anything else stays text, and is refused. */
export function readNumbers(app: FastifyInstance): void {
  app.addHook('preValidation', async (request) => {
    const query = request.query as Record<string, unknown>;
    for (const name of numbersOf(request)) {
      const value = query[name];
      if (typeof value === 'string' && /^-?\d+$/.test(value)) query[name] = Number(value);
    }
  });
}

/** The names of the numeric parameters, from the route's schema. */
function numbersOf({ routeOptions }: FastifyRequest): readonly string[] {
  const schema = routeOptions.schema?.querystring as QuerySchema | undefined;
  return Object.entries(schema?.properties ?? {}).flatMap(([name, { type }]) =>
    type === 'integer' ? [name] : [],
  );
}

interface QuerySchema {
  readonly properties?: Readonly<Record<string, { readonly type?: string }>>;
}
