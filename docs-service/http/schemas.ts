import swagger from '@fastify/swagger';
import type { FastifyInstance, FastifySchema } from 'fastify';
import { type Static, type TSchema, Type } from 'typebox';
import type { BaseUrl } from '../base/baseUrl.ts';
import { oneOf, pageParameters, searchFields } from '../base/parameters.ts';
import type { Paper } from '../formats/renderJob.ts';
import { searchModes } from '../meaning/librarySearch.ts';
import { filterParameters } from './listFilters.ts';

/** The schemas that validate requests, write answers, and define `openapi.json`. */

const orNull = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Union([schema, Type.Null()]);

const address = (description: string) => Type.String({ format: 'uri', description });

const tagSchema = Type.Object(
  { slug: Type.String({ description: 'Names the tag in filters.' }), title: Type.String() },
  { $id: 'Tag', description: 'A tag of a document.' },
);

const matchedSchema = oneOf(
  searchModes,
  'In a search: whether the words of the text were found, its meaning, or both.',
  { $id: 'Matched' },
);

export const documentSchema = Type.Object(
  {
    slug: Type.String({ description: 'Names the document in addresses.' }),
    path: Type.String({ description: 'Of the file, from the content folder.' }),
    title: Type.String(),
    type: orNull(Type.String()),
    tags: Type.Array(Type.Unsafe<Static<typeof tagSchema>>(Type.Ref('Tag'))),
    date: orNull(Type.String({ description: 'ISO 8601; a date stays a date.' })),
    updated: orNull(Type.String({ description: 'ISO 8601.' })),
    lang: orNull(Type.String({ description: 'A BCP 47 language tag.' })),
    authors: Type.Array(Type.String()),
    description: orNull(Type.String()),
    draft: Type.Boolean({ description: 'True only where the token may see drafts.' }),
    label: orNull(Type.String({ description: 'Its name in navigation, if that is not its title.' })),
    order: orNull(Type.Number({ description: 'Its place in its folder: the lowest is first.' })),
    hidden: Type.Boolean({ description: 'Whether navigation leaves it out.' }),
    aliases: Type.Array(Type.String(), { description: 'Its addresses and names in other programs.' }),
    contentHash: Type.String({ description: 'Changes with every change of the document.' }),
    snippet: orNull(
      Type.String({ description: 'In a search: an excerpt around the found words, as plain text.' }),
    ),
    matched: orNull(Type.Unsafe<Static<typeof matchedSchema>>(Type.Ref('Matched'))),
    missing: Type.Optional(
      Type.Array(Type.String(), { description: 'In a search: the words that the document lacks, if any.' }),
    ),
    links: Type.Object({
      self: address('The metadata.'),
      pdf: address('The document as PDF.'),
      markdown: address('The document as Markdown.'),
    }),
  },
  { $id: 'Document', description: 'The metadata of a document. A field without a value is null, or empty.' },
);

/** A page of a list, and which page was asked for. */
function listSchema(item: string, noun: string, more: Readonly<Record<string, TSchema>> = {}) {
  return Type.Object(
    {
      items: Type.Array(Type.Ref(item)),
      total: Type.Integer({ minimum: 0, description: `The number of ${noun} on all pages.` }),
      limit: Type.Integer({ description: 'The most results on a page.' }),
      offset: Type.Integer({ description: 'The number of results before this page.' }),
      ...more,
    },
    { $id: `${item}List`, description: `A page of the list of ${noun}.` },
  );
}

const documentListSchema = listSchema('Document', 'documents', searchFields);

const collectionLinksSchema = Type.Object(
  {
    self: address('The collection with its documents.'),
    epub: address('The collection as EPUB.'),
    pdf: address('The collection as one PDF.'),
  },
  { $id: 'CollectionLinks', description: 'The addresses of a collection.' },
);

export const collectionSchema = Type.Object(
  {
    name: Type.String({ description: 'Names the collection in addresses.' }),
    title: Type.String(),
    count: Type.Integer({ minimum: 0, description: 'The number of its documents, without drafts.' }),
    author: orNull(Type.String({ description: 'Of the book, or else the authors of its documents.' })),
    lang: orNull(Type.String({ description: 'A BCP 47 language tag.' })),
    updated: orNull(Type.String({ description: 'The newest date of its documents, ISO 8601.' })),
    links: Type.Unsafe<Static<typeof collectionLinksSchema>>(Type.Ref('CollectionLinks')),
  },
  { $id: 'Collection', description: 'Documents in an order, which can be read as one book.' },
);

const collectionDetailSchema = Type.Object(
  { ...collectionSchema.properties, documents: Type.Array(Type.Ref('Document')) },
  { $id: 'CollectionDetail', description: 'A collection with its documents in its order.' },
);

const termSchema = Type.Object(
  {
    slug: Type.String({ description: 'What the filter takes.' }),
    title: Type.String(),
    count: Type.Integer({ minimum: 1, description: 'The number of documents that have it.' }),
  },
  { $id: 'Term', description: 'A tag or a type.' },
);

const termListSchema = Type.Object(
  { items: Type.Array(Type.Ref('Term')) },
  { $id: 'TermList', description: 'All tags, or all types.' },
);

/** The default number of documents on a page. */
export const usualLimit = 20;

export const listQuerySchema = Type.Object({
  ...filterParameters,
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1_000,
      description:
        'A question in words; "phrases" and "words" in quotes must be there as they are written, -excluded ones must not; prefix*. Documents with any of the words are found, the most relevant first.',
    }),
  ),
  mode: Type.Optional(
    oneOf(
      searchModes,
      'With `q`: whether documents are found by their text, by their meaning or by both, which is the default where the service embeds documents. While it cannot, the header `Search-Mode` of the answer is `text`.',
    ),
  ),
  order: Type.Optional(
    oneOf(
      ['tree'],
      'The order of the sidebar, with hidden documents at the end, in place of the newest first. A search with `q` has its own order.',
    ),
  ),
  ...pageParameters({ usual: usualLimit, max: 100 }),
});

export type ListParameters = Static<typeof listQuerySchema>;

/** The size of the pages, A4 by default. */
export const paperQuery = Type.Object({
  paper: Type.Optional(oneOf<Paper>(['a4', 'letter'], 'The size of the pages.', { default: 'a4' })),
});

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
  { $id: 'Problem', description: 'What went wrong, as RFC 9457 defines it.' },
);

const readinessSchema = Type.Object(
  {
    documents: Type.Optional(
      Type.Integer({ description: 'The documents that a token with the scope read sees.' }),
    ),
    problems: Type.Optional(
      Type.Integer({
        description: 'Files that are not served as they are; `runner-docs doctor` names them.',
      }),
    ),
    warnings: Type.Optional(
      Type.Integer({
        description: 'What authors should look at in files that are served; `runner-docs doctor` names it.',
      }),
    ),
    status: Type.Optional(
      Type.Union([Type.Literal('ready'), Type.Literal('unavailable')], {
        description: 'Where no figures are given: they need a token, or come to the machine itself.',
      }),
    ),
    embedded: Type.Optional(
      Type.Integer({ description: 'Where documents are found by meaning: how many have been embedded.' }),
    ),
    toEmbed: Type.Optional(Type.Integer({ description: 'How many remain to be embedded.' })),
    reason: Type.Optional(Type.String({ description: 'With a 503, if the index could not be made.' })),
  },
  { $id: 'Readiness', description: 'What the library has.' },
);

const healthSchema = Type.Object(
  { status: Type.Literal('ok') },
  { $id: 'Health', description: 'The process runs.' },
);

/** The problems that a route can answer with, for `openapi.json`. */
export function problemResponses(...statuses: readonly number[]) {
  const problem = { content: { 'application/problem+json': { schema: Type.Ref('Problem') } } };
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      { description: problemDescriptions[status] ?? 'A problem', ...problem },
    ]),
  );
}

const problemDescriptions: Readonly<Record<number, string>> = {
  308: 'The document has another slug, to which `Location` leads',
  400: 'A parameter is wrong or repeated; `errors` names each',
  401: 'There is no token, or it is unknown, revoked or expired',
  403: 'The token has no scope `read`, or the Host or the Origin is not of this service',
  404: 'There is no such thing; similar names are named',
  412: 'What is there now has none of the entity tags in `If-Match`',
  416: 'The file has no such range',
  422: 'The document is out of the bounds of rendering',
  429: 'Too many requests, renders or downloads; `Retry-After` has the seconds to wait',
  503: 'The index is being made or is away, tokens cannot be checked, or too much is in progress',
};

/** An answer with JSON of a named schema. */
export function json(name: string, description: string) {
  return { description, content: { 'application/json': { schema: Type.Ref(name) } } };
}

/** The answers of a route that reads the library: with the problems of all such routes, and its own. */
export function reads(answer: object, ...problems: readonly number[]) {
  return {
    200: answer,
    304: Type.Null({ description: 'Nothing has changed since the answer with this entity tag' }),
    ...problemResponses(401, 403, 412, 429, 503, ...problems),
  };
}

const schemas = [
  tagSchema,
  matchedSchema,
  documentSchema,
  documentListSchema,
  collectionLinksSchema,
  collectionSchema,
  listSchema('Collection', 'collections'),
  collectionDetailSchema,
  termSchema,
  termListSchema,
  problemSchema,
  readinessSchema,
  healthSchema,
];

/** Generates `openapi.json` from the schemas that validate requests. Must run before the routes. */
export async function describeRoutes(
  app: FastifyInstance,
  { baseUrl, version }: { readonly baseUrl: BaseUrl; readonly version: string },
): Promise<void> {
  for (const schema of schemas) app.addSchema(schema);
  await app.register(swagger, {
    // The pages for people have none.
    hideUntagged: true,
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
    // OpenAPI has no wildcards, and a name is what generated clients need.
    transform: ({ schema, url }) => {
      // A route may have no schema.
      const { params: written } = (schema as FastifySchema | undefined) ?? {};
      const { '*': path, ...params } =
        (written as { properties?: Record<string, TSchema> })?.properties ?? {};
      if (path === undefined) return { schema, url };
      return {
        schema: { ...schema, params: Type.Object({ ...params, path }) },
        url: url.replace('*', ':path'),
      };
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
    const schema = request.routeOptions.schema?.querystring as { properties?: Record<string, TSchema> };
    for (const [name, property] of Object.entries(schema?.properties ?? {})) {
      const value = query[name];
      const isNumber = 'type' in property && property['type'] === 'integer';
      if (isNumber && typeof value === 'string' && /^-?\d+$/.test(value)) query[name] = Number(value);
    }
  });
}
