import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { BaseUrl } from '../base/baseUrl.ts';
import type { Document } from '../content/document.ts';
import type { Renditions } from '../formats/renditions.ts';
import type { DocumentIndex } from '../search/documentIndex.ts';
import type { Authorization } from './authorization.ts';
import { createEtag, isNotModified, setValidators } from './conditional.ts';
import { documentToView } from './documentView.ts';
import { createListRoute } from './listRoute.ts';
import { createLookups } from './lookups.ts';
import { listQuerySchema, nameParameter, problemResponses, slugParameter } from './schemas.ts';
import { sendRendition } from './sendRendition.ts';

export interface ApiServices {
  readonly index: DocumentIndex;
  readonly renditions: Renditions;
  readonly authorization: Authorization;
  readonly baseUrl: BaseUrl;
}

/** The routes under `/api/v1`, which need a token. */
export function createApiRoutes({
  index,
  renditions,
  authorization,
  baseUrl,
}: ApiServices): FastifyPluginAsyncTypebox {
  const lookups = createLookups(index);
  return async (app) => {
    app.addHook('onRequest', authorization.requireReader);

    app.get(
      '/docs',
      {
        schema: {
          summary: 'List documents',
          description: 'Newest first, or, with `q`, the most relevant first.',
          querystring: listQuerySchema,
          response: {
            200: Type.Ref('DocumentList'),
            304: unchanged,
            ...problemResponses(400, 401, 403, 429, 503),
          },
        },
      },
      createListRoute({ index, baseUrl }),
    );

    app.get(
      '/docs/:slug',
      {
        schema: {
          summary: 'The metadata of a document',
          params: slugParameter,
          response: { 200: Type.Ref('Document'), 304: unchanged, ...documentProblems },
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
      { schema: { summary: 'This description', response: problemResponses(401, 403, 429) } },
      async (_request, reply) => {
        reply.type('application/json; charset=utf-8');
        return JSON.stringify(app.swagger());
      },
    );

    const pdf = kept('application/pdf');
    rendered('/docs/:slug.pdf', 'A document as PDF', pdf, async (request, reply, document) =>
      sendRendition(request, reply, await renditions.pdf(document), {
        authorization,
        fileName: `${document.slug}.pdf`,
      }),
    );
    const markdown = { 200: file('text/markdown') };
    rendered('/docs/:slug.md', 'A document as Markdown', markdown, async (request, reply, document) =>
      sendRendition(request, reply, await renditions.markdown(document), { authorization }),
    );
    rendered(
      '/docs/:slug.html',
      'A document as a page of HTML, with its pictures inside',
      { 200: file('text/html') },
      async (request, reply, document) =>
        sendRendition(request, reply, await renditions.html(document), { authorization }),
    );

    app.get(
      '/collections/:name.epub',
      {
        schema: {
          summary: 'A collection as EPUB',
          params: nameParameter,
          response: {
            ...kept('application/epub+zip'),
            304: unchanged,
            ...usualProblems,
            ...problemResponses(422),
          },
        },
      },
      async (request, reply) => {
        const collection = await lookups.collection(request.params.name);
        return sendRendition(request, reply, await renditions.epub(collection), {
          authorization,
          fileName: `${collection.definition.name}.epub`,
        });
      },
    );

    function rendered(
      path: string,
      summary: string,
      files: Readonly<Record<number, object>>,
      answer: (request: FastifyRequest, reply: FastifyReply, document: Document) => Promise<FastifyReply>,
    ): void {
      app.get(
        path,
        {
          schema: {
            summary,
            params: slugParameter,
            response: { ...files, 304: unchanged, ...documentProblems, ...problemResponses(422) },
          },
        },
        async (request, reply) =>
          answer(request, reply, await lookups.document(request.params.slug, seesDrafts(request))),
      );
    }
  };
}

function seesDrafts({ grant }: FastifyRequest): boolean {
  return grant?.scopes.includes('draft') ?? false;
}

const usualProblems = problemResponses(401, 403, 404, 429, 503);
/** A document may have another slug. */
const documentProblems = { ...problemResponses(308), ...usualProblems };

/** The answer if the client already has the same version. */
const unchanged = Type.Null({ description: 'Nothing has changed since the answer with this entity tag.' });

/** Answers with a file to save, of which the client may request a part. */
function kept(mediaType: string) {
  return {
    200: file(mediaType),
    206: file(mediaType, 'The requested range'),
    ...problemResponses(416),
  };
}

function file(mediaType: string, description = 'The file') {
  return {
    description,
    content: { [mediaType]: { schema: Type.String({ format: 'binary' }) } },
  };
}
