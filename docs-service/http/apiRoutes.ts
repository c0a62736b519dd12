import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Paper } from '../formats/renderJob.ts';
import { createEtag, revalidate, sendRendition } from './answers.ts';
import { seesDrafts } from './authorization.ts';
import { type Api, collectionRoutes } from './collectionRoutes.ts';
import { documentToView } from './documentView.ts';
import { sendList } from './listRoute.ts';
import { HttpProblem } from './problems.ts';
import {
  json,
  listQuerySchema,
  nameParameter,
  paperQuery,
  problemResponses,
  reads,
  slugParameter,
} from './schemas.ts';
import type { Services } from './services.ts';

/** The routes under `/api/v1`, which need a token. */
export const apiRoutes: FastifyPluginAsyncTypebox<Services> = async (app, services) => {
  app.addHook('onRequest', services.authorization.requireReader);
  for (const addRoute of [collectionRoutes, pictureRoute, listRoute, metadataRoute]) addRoute(app, services);
  openApiRoute(app);
  pdfRoute(app, services);
  textRoute(app, services, ['md', 'markdown', 'getDocMarkdown', 'A document as Markdown']);
  textRoute(app, services, [
    'html',
    'html',
    'getDocHtml',
    'A document as a page of HTML, with its pictures inside',
  ]);
  bookRoute(app, services, 'epub');
  bookRoute(app, services, 'pdf');
};

function pictureRoute(app: Api, { renditions, authorization, lookups }: Services): void {
  const schema = {
    operationId: 'getDocFile',
    tags: ['Documents'],
    summary: 'A picture that a document shows',
    description: 'Other files have no address. The type is that of the bytes, and an SVG is sanitised.',
    params: pictureParameters,
    response: reads(picture, 308, 404, 422),
  };
  app.get('/docs/:slug/files/*', { schema }, async (request, reply) => {
    const { slug, '*': path } = request.params;
    const document = await lookups.document(slug, seesDrafts(request));
    const found = await renditions.picture(document, path);
    const message = `The document "${document.slug}" shows no picture at this path. Its Markdown has the addresses of those that it shows.`;
    if (found === undefined) throw new HttpProblem(404, message);
    return sendRendition(request, reply.headers(pictureHeaders), found, { authorization });
  });
}

function listRoute(app: Api, services: Services): void {
  const schema = {
    operationId: 'listDocs',
    tags: ['Documents'],
    summary: 'List documents',
    description:
      'Newest first, then those without a date by title; with `order=tree`, as in the sidebar; with `q`, the most relevant first.',
    querystring: listQuerySchema,
    response: reads(json('DocumentList', 'A page of documents'), 400),
  };
  app.get('/docs', { schema }, (request, reply) => sendList(services, request, reply));
}

function metadataRoute(app: Api, { lookups, baseUrl }: Services): void {
  const schema = {
    operationId: 'getDoc',
    tags: ['Documents'],
    summary: 'The metadata of a document',
    params: slugParameter,
    response: reads(json('Document', 'The metadata'), 308, 404),
  };
  app.get('/docs/:slug', { schema }, async (request, reply) => {
    const document = await lookups.metadata(request.params.slug, seesDrafts(request));
    const view = documentToView(document, baseUrl);
    return revalidate(request, reply, createEtag(JSON.stringify(view))) ? reply.send(null) : view;
  });
}

function openApiRoute(app: Api): void {
  const schema = {
    operationId: 'getOpenApi',
    tags: ['Service'],
    summary: 'This description',
    response: { 200: openApiAnswer, ...problemResponses(401, 403, 429) },
  };
  app.get('/openapi.json', { schema }, async (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(app.swagger()),
  );
}

function pdfRoute(app: Api, services: Services): void {
  const schema = {
    operationId: 'getDocPdf',
    tags: ['Documents'],
    summary: 'A document as PDF',
    params: slugParameter,
    querystring: paperQuery,
    response: saves('application/pdf', 308, 400),
  };
  app.get('/docs/:slug.pdf', { schema }, (request, reply) =>
    sendPdf(services, request, reply, seesDrafts(request)),
  );
}

function textRoute(
  app: Api,
  { lookups, renditions, authorization }: Services,
  [ending, format, operationId, summary]: readonly [string, 'markdown' | 'html', string, string],
): void {
  const response = reads(file(`text/${format}`), 308, 404, 422);
  const schema = { operationId, tags: ['Documents'], summary, params: slugParameter, response };
  app.get(`/docs/:slug.${ending}`, { schema }, async (request, reply) => {
    // Fastify's types do not read parameters in an address that is put together.
    const { slug } = request.params as Static<typeof slugParameter>;
    const document = await lookups.document(slug, seesDrafts(request));
    return sendRendition(request, reply, await renditions[format](document), { authorization });
  });
}

function bookRoute(app: Api, services: Services, ending: 'epub' | 'pdf'): void {
  const shared = { tags: ['Collections'], params: nameParameter };
  const schema =
    ending === 'pdf'
      ? {
          ...{ operationId: 'getCollectionPdf', summary: 'A collection as one PDF', ...shared },
          ...{ querystring: paperQuery, response: saves('application/pdf', 400) },
        }
      : {
          ...{ operationId: 'getCollectionEpub', summary: 'A collection as EPUB', ...shared },
          response: saves('application/epub+zip'),
        };
  app.get(`/collections/:name.${ending}`, { schema }, (request, reply) =>
    sendBook(services, request, reply, ending),
  );
}

/** @param drafts whether the reader sees them */
export async function sendPdf(
  { lookups, renditions, authorization }: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  drafts: boolean,
): Promise<FastifyReply> {
  const { slug } = request.params as { readonly slug: string };
  const { paper = 'a4' } = request.query as { readonly paper?: Paper };
  const document = await lookups.document(slug, drafts);
  const fileName = `${document.slug}.pdf`;
  return sendRendition(request, reply, await renditions.pdf(document, paper), { authorization, fileName });
}

/** Answers with all documents of a collection in one file. */
export async function sendBook(
  { lookups, renditions, authorization }: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  ending: 'epub' | 'pdf',
): Promise<FastifyReply> {
  const { name } = request.params as { readonly name: string };
  const { paper = 'a4' } = request.query as { readonly paper?: Paper };
  const collection = await lookups.collection(name);
  const book = ending === 'pdf' ? renditions.collectionPdf(collection, paper) : renditions.epub(collection);
  const fileName = `${collection.definition.name}.${ending}`;
  return sendRendition(request, reply, await book, { authorization, fileName });
}

const openApiAnswer = {
  description: 'OpenAPI 3.1',
  content: { 'application/json': { schema: Type.Object({}, { additionalProperties: true }) } },
};

/** Answers with a file to save, of which the client may request a part. */
function saves(mediaType: string, ...problems: readonly number[]) {
  return {
    ...reads(file(mediaType), 404, 416, 422, ...problems),
    206: file(mediaType, 'The requested range'),
  };
}

function file(mediaType: string, description = 'The file') {
  const schema = mediaType.startsWith('text/') ? Type.String() : Type.String({ format: 'binary' });
  return { description, content: { [mediaType]: { schema } } };
}

/** A picture that is opened alone runs and loads nothing. */
export const pictureHeaders = { 'content-security-policy': "default-src 'none'; sandbox" } as const;

const pictureParameters = Type.Object({
  ...slugParameter.properties,
  '*': Type.String({ description: 'The path of the file, from the content folder.' }),
});

const picture = {
  description: 'The picture',
  content: Object.fromEntries(
    ['png', 'jpeg', 'gif', 'webp', 'svg+xml'].map((type) => [
      `image/${type}`,
      { schema: Type.String({ format: 'binary' }) },
    ]),
  ),
};
