import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { withoutUndefined } from '../../../protocol/base/withoutUndefined.ts';
import { isSlug } from '../../content/slug.ts';
import type { Renditions } from '../../formats/renditions.ts';
import { findCollection } from '../../library/libraryCollections.ts';
import type { DocumentFilter, DocumentIndex } from '../../search/documentIndex.ts';
import type { Authorization } from '../authorization.ts';
import { createEtag, isNotModified, setValidators } from '../conditional.ts';
import { readingPath } from '../documentView.ts';
import { createLookups, DocumentMissingError } from '../lookups.ts';
import { escapeHtml, page, pageHeaders, type Site } from '../pages.ts';
import { answerError, HttpProblem, loggedProblemOf } from '../problems.ts';
import { nameParameter, slugParameter } from '../schemas.ts';
import { sendRendition } from '../sendRendition.ts';
import type { OwnerSession } from '../signIn/ownerSessions.ts';
import { collectionPage } from './collectionPage.ts';
import { libraryAddress } from './documentList.ts';
import { documentPage, type Neighbours } from './documentPage.ts';
import { folderPage } from './folderPage.ts';
import { createFolders } from './folders.ts';
import { libraryPage, resultsPage } from './libraryPage.ts';

interface ReadingServices {
  readonly index: DocumentIndex;
  readonly renditions: Renditions;
  readonly authorization: Authorization;
  readonly owner: OwnerSession;
  readonly site: Site;
}

/** Documents on a page of the library. */
const pageSize = 20;
/** Documents on a page of a collection, which is a list of contents. */
const collectionPageSize = 200;

const pageNumber = Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 }));
const place = Type.Optional(Type.String({ maxLength: 100 }));
const libraryQuery = Type.Object({
  q: Type.Optional(Type.String({ maxLength: 1_000 })),
  type: place,
  tag: place,
  path: Type.Optional(Type.String({ maxLength: 2_048 })),
  page: pageNumber,
});

/**
 * The routes under `/read`: pages for the signed-in owner, who also sees drafts. Here alone, a session replaces the
 * token that the API needs, so that no page of another site can use the cookie to read the API.
 */
export function createReadingRoutes(services: ReadingServices): FastifyPluginAsyncTypebox {
  const { index, renditions, authorization, owner, site } = services;
  const lookups = createLookups(index);
  const document = (slug: string) => lookups.document(slug, true);
  const readFolders = createFolders(index);
  return async (app) => {
    app.addHook('onRequest', async (request, reply) => {
      await owner.requireOwner(request, reply);
      if (!reply.sent) authorization.countOwnerRequest(reply);
    });
    app.addHook('onSend', async (_request, reply) => {
      reply.header('vary', 'Cookie, Origin');
    });
    const answerWithPage = createPageAnswer(site);
    app.setErrorHandler(answerWithPage);
    app.setNotFoundHandler((request, reply) =>
      answerWithPage(new HttpProblem(404, 'There is no page at this address.'), request, reply),
    );

    app.get('', { schema: { hide: true, querystring: libraryQuery } }, async (request, reply) => {
      // A form also sends its empty fields.
      const { q, type, tag, path } = withoutEmpty(request.query);
      const { page = 1 } = request.query;
      if (path !== undefined) return sendFolder(request, reply, { path, page });
      const filter = withoutUndefined<Pick<DocumentFilter, 'type' | 'tag'>>({ type, tag });
      const asked = { ...filter, drafts: true, limit: pageSize, offset: (page - 1) * pageSize };
      const view = { site, filter, page, pageSize };
      const beyond = (total: number) => page > 1 && (page - 1) * pageSize >= total;
      const toLast = (total: number) =>
        reply.redirect(libraryAddress(site, { q, ...filter, page: Math.ceil(total / pageSize) }), 303);
      if (q === undefined) {
        const found = await index.list(asked);
        if (beyond(found.total)) return toLast(found.total);
        const isFront = page === 1 && Object.keys(filter).length === 0;
        const collections = isFront ? await index.collections() : [];
        const { isComplete } = await index.summary();
        return sendPage(
          request,
          reply,
          libraryPage({ ...view, ...found, collections, folders: await readFolders(), isComplete }),
        );
      }
      const found = await index.search({ ...asked, text: q });
      if (beyond(found.total)) return toLast(found.total);
      return sendPage(request, reply, resultsPage({ ...view, ...found, text: q }));
    });

    app.get(
      '/:slug',
      {
        schema: {
          hide: true,
          params: slugParameter,
          querystring: Type.Object({ in: place, page: pageNumber }),
        },
      },
      async (request, reply) => {
        const { slug } = request.params;
        if (slug === '') return reply.redirect(`${site.root}/read`, 303);
        const found = await document(slug);
        const article = await renditions.article(found);
        const around = await neighboursOf(slug, request.query.in);
        const page = documentPage({ site, document: found, folders: await readFolders(), around });
        const etag = createEtag(page.before, page.after, article.etag);
        reply.headers(pageHeaders());
        return sendRendition(request, reply, { ...article, etag }, { authorization, around: page });
      },
    );

    app.get('/:slug.pdf', { schema: { hide: true, params: slugParameter } }, async (request, reply) => {
      const found = await document(request.params.slug);
      return sendRendition(request, reply, await renditions.pdf(found), {
        authorization,
        fileName: `${found.slug}.pdf`,
      });
    });

    app.get('/:slug.md', { schema: { hide: true, params: slugParameter } }, async (request, reply) =>
      sendRendition(request, reply, await renditions.source(await document(request.params.slug)), {
        authorization,
      }),
    );

    app.get(
      '/collections/:name',
      { schema: { hide: true, params: nameParameter, querystring: Type.Object({ page: pageNumber }) } },
      async (request, reply) => {
        const collection = await lookups.collection(request.params.name);
        const { page = 1 } = request.query;
        const view = { site, collection, page, pageSize: collectionPageSize };
        return sendPage(request, reply, collectionPage(view));
      },
    );

    for (const ending of ['epub', 'pdf'] as const)
      app.get(
        `/collections/:name.${ending}`,
        { schema: { hide: true, params: nameParameter } },
        async (request, reply) => {
          const collection = await lookups.collection(request.params.name);
          const book = ending === 'pdf' ? renditions.collectionPdf(collection) : renditions.epub(collection);
          const fileName = `${collection.definition.name}.${ending}`;
          return sendRendition(request, reply, await book, { authorization, fileName });
        },
      );
  };

  async function sendFolder(
    request: FastifyRequest,
    reply: FastifyReply,
    { path, page }: { readonly path: string; readonly page: number },
  ) {
    const folders = await readFolders();
    const folder = folders.get(path.endsWith('/') ? path : `${path}/`);
    if (folder === undefined)
      throw new HttpProblem(404, 'There is no folder at this path with documents in it.');
    const last = Math.max(1, Math.ceil(folder.documents.length / pageSize));
    if (page > last) return reply.redirect(libraryAddress(site, { path: folder.path, page: last }), 303);
    return sendPage(request, reply, folderPage({ site, folder, folders, page, pageSize }));
  }

  /** The documents before and after, if the reader came from a collection. */
  async function neighboursOf(slug: string, name: string | undefined): Promise<Neighbours | undefined> {
    const collection = name !== undefined && isSlug(name) ? await findCollection(index, name) : undefined;
    const at = collection?.documents.findIndex((one) => one.slug === slug) ?? -1;
    if (collection === undefined || at < 0) return undefined;
    const { definition, documents } = collection;
    return {
      definition,
      place: at + 1,
      size: documents.length,
      previous: documents[at - 1],
      next: documents[at + 1],
    };
  }
}

function withoutEmpty<Query extends Readonly<Record<string, unknown>>>(query: Query): Partial<Query> {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== '')) as Partial<Query>;
}

function sendPage(request: FastifyRequest, reply: FastifyReply, html: string): FastifyReply {
  const etag = createEtag(html);
  setValidators(reply, etag).headers(pageHeaders());
  if (isNotModified(request, etag)) return reply.code(304).send();
  return reply.type('text/html; charset=utf-8').send(html);
}

/** Answers a browser with a page, and a program with a problem. */
function createPageAnswer(site: Site) {
  return (error: FastifyError | HttpProblem, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    if (!request.headers.accept?.includes('text/html')) return answerError(error, request, reply);
    const problem = loggedProblemOf(error, request);
    for (const name of ['etag', 'content-disposition', 'accept-ranges']) reply.removeHeader(name);
    return reply
      .code(problem.status)
      .headers({ ...pageHeaders(), 'cache-control': 'no-store', ...problem.headers })
      .type('text/html; charset=utf-8')
      .send(errorPage(site, problem));
  };
}

/** A page for people about an error under `/read`. */
function errorPage(site: Site, problem: HttpProblem): string {
  const title = titles[problem.status] ?? 'That did not work';
  return page({
    site,
    title: `${title} · runner-docs`,
    hasSearch: true,
    isOwners: true,
    body: `<h1>${title}</h1>
${problem instanceof DocumentMissingError ? missing(site, problem) : `<p class="lead">${escapeHtml(problem.message)}</p>`}
<p><a href="${site.root}/read">Go to the library</a></p>`,
  });
}

function missing(site: Site, { slug, near }: DocumentMissingError): string {
  const sentence = `<p class="lead">There is no document “<bdi class="foreign">${escapeHtml(slug)}</bdi>” in this library.</p>`;
  if (near.length === 0) return sentence;
  const links = near.map((one) => `<li><a href="${readingPath(site, one)}">${escapeHtml(one)}</a></li>`);
  return `${sentence}\n<p>Did you mean one of these?</p>\n<ul>${links.join('')}</ul>`;
}

const titles: Readonly<Record<number, string>> = {
  400: 'This address is not valid',
  403: 'This is not allowed',
  404: 'Not found',
  414: 'This address is too long',
  416: 'The file has no such part',
  422: 'This cannot be shown',
  429: 'Too many requests',
  503: 'Not available right now',
};
