import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { BaseUrl } from '../base/baseUrl.ts';
import type { Document } from '../content/document.ts';
import type { Paper } from '../formats/renderJob.ts';
import type { Renditions } from '../formats/renditions.ts';
import type { LibrarySearch } from '../meaning/librarySearch.ts';
import type { DocumentIndex } from '../search/documentIndex.ts';
import { createAnswers } from './answers.ts';
import { type Authorization, seesDrafts } from './authorization.ts';
import { createCollectionRoutes } from './collectionRoutes.ts';
import { createEtag, isNotModified, setValidators } from './conditional.ts';
import { documentToView } from './documentView.ts';
import { createListRoute } from './listRoute.ts';
import { createLookups } from './lookups.ts';
import { createPictureRoute } from './pictureRoute.ts';
import {
  conditional,
  documentProblems,
  json,
  listQuerySchema,
  nameParameter,
  paperQuery,
  problemResponses,
  slugParameter,
  usualProblems,
} from './schemas.ts';
import { sendRendition } from './sendRendition.ts';

export interface ApiServices {
  readonly index: DocumentIndex;
  readonly search: LibrarySearch;
  readonly renditions: Renditions;
  readonly authorization: Authorization;
  readonly baseUrl: BaseUrl;
}

/** The routes under `/api/v1`, which need a token. */
export function createApiRoutes({
  index,
  search,
  renditions,
  authorization,
  baseUrl,
}: ApiServices): FastifyPluginAsyncTypebox {
  const lookups = createLookups(index);
  return async (app) => {
    app.addHook('onRequest', authorization.requireReader);
    const sendAnswer = createAnswers(search);
    await app.register(createCollectionRoutes({ index, baseUrl, lookups, sendAnswer }));
    await app.register(createPictureRoute({ renditions, authorization, lookups }));

    app.get(
      '/docs',
      {
        schema: {
          operationId: 'listDocs',
          tags: ['Documents'],
          summary: 'List documents',
          description: 'Newest first, then those without a date by title; with `q`, the most relevant first.',
          querystring: listQuerySchema,
          response: {
            200: json('DocumentList', 'A page of documents'),
            ...conditional,
            ...problemResponses(400, 401, 403, 429, 503),
          },
        },
      },
      createListRoute({ index, search, baseUrl, sendAnswer }),
    );

    app.get(
      '/docs/:slug',
      {
        schema: {
          operationId: 'getDoc',
          tags: ['Documents'],
          summary: 'The metadata of a document',
          params: slugParameter,
          response: { 200: json('Document', 'The metadata'), ...conditional, ...documentProblems },
        },
      },
      async (request, reply) => {
        const document = await lookups.metadata(request.params.slug, seesDrafts(request));
        const view = documentToView(document, baseUrl);
        const etag = createEtag(JSON.stringify(view));
        setValidators(reply, etag);
        if (isNotModified(request, etag)) return reply.code(304).send(null);
        return view;
      },
    );

    app.get(
      '/openapi.json',
      {
        schema: {
          operationId: 'getOpenApi',
          tags: ['Service'],
          summary: 'This description',
          response: { 200: openApiAnswer, ...problemResponses(401, 403, 429) },
        },
      },
      async (_request, reply) => reply.type('application/json; charset=utf-8').send(app.swagger()),
    );

    app.get(
      '/docs/:slug.pdf',
      {
        schema: {
          operationId: 'getDocPdf',
          tags: ['Documents'],
          summary: 'A document as PDF',
          params: slugParameter,
          querystring: paperQuery,
          response: {
            ...kept('application/pdf'),
            ...conditional,
            ...documentProblems,
            ...problemResponses(400, 422),
          },
        },
      },
      async (request, reply) => {
        const document = await lookups.document(request.params.slug, seesDrafts(request));
        const pdf = await renditions.pdf(document, request.query.paper ?? 'a4');
        return sendRendition(request, reply, pdf, { authorization, fileName: `${document.slug}.pdf` });
      },
    );
    const markdown = { 200: file('text/markdown') };
    rendered(
      '/docs/:slug.md',
      { operationId: 'getDocMarkdown', summary: 'A document as Markdown' },
      markdown,
      async (request, reply, document) =>
        sendRendition(request, reply, await renditions.markdown(document), { authorization }),
    );
    rendered(
      '/docs/:slug.html',
      { operationId: 'getDocHtml', summary: 'A document as a page of HTML, with its pictures inside' },
      { 200: file('text/html') },
      async (request, reply, document) =>
        sendRendition(request, reply, await renditions.html(document), { authorization }),
    );

    for (const ending of ['epub', 'pdf'] as const)
      app.get(
        `/collections/:name.${ending}`,
        {
          schema: {
            operationId: ending === 'pdf' ? 'getCollectionPdf' : 'getCollectionEpub',
            tags: ['Collections'],
            summary: ending === 'pdf' ? 'A collection as one PDF' : 'A collection as EPUB',
            params: nameParameter,
            ...(ending === 'pdf' ? { querystring: paperQuery } : {}),
            response: {
              ...kept(ending === 'pdf' ? 'application/pdf' : 'application/epub+zip'),
              ...conditional,
              ...usualProblems,
              ...problemResponses(...(ending === 'pdf' ? [400, 422] : [422])),
            },
          },
        },
        async (request, reply) => {
          const collection = await lookups.collection(request.params.name);
          const { paper = 'a4' } = request.query as { readonly paper?: Paper };
          const book =
            ending === 'pdf' ? renditions.collectionPdf(collection, paper) : renditions.epub(collection);
          const fileName = `${collection.definition.name}.${ending}`;
          return sendRendition(request, reply, await book, { authorization, fileName });
        },
      );

    function rendered(
      path: string,
      named: { readonly operationId: string; readonly summary: string },
      files: Readonly<Record<number, object>>,
      answer: (request: FastifyRequest, reply: FastifyReply, document: Document) => Promise<FastifyReply>,
    ): void {
      app.get(
        path,
        {
          schema: {
            ...named,
            tags: ['Documents'],
            params: slugParameter,
            response: { ...files, ...conditional, ...documentProblems, ...problemResponses(422) },
          },
        },
        async (request, reply) =>
          answer(request, reply, await lookups.document(request.params.slug, seesDrafts(request))),
      );
    }
  };
}

const openApiAnswer = {
  description: 'OpenAPI 3.1',
  content: { 'application/json': { schema: Type.Object({}, { additionalProperties: true }) } },
};

/** Answers with a file to save, of which the client may request a part. */
function kept(mediaType: string) {
  return {
    200: file(mediaType),
    206: file(mediaType, 'The requested range'),
    ...problemResponses(416),
  };
}

function file(mediaType: string, description = 'The file') {
  const schema = mediaType.startsWith('text/') ? Type.String() : Type.String({ format: 'binary' });
  return { description, content: { [mediaType]: { schema } } };
}
