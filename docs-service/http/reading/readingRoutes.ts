import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { withoutUndefined } from '../../../protocol/base/withoutUndefined.ts';
import type { Document, DocumentMetadata } from '../../content/document.ts';
import { folderPagePaths, isSlug } from '../../content/slug.ts';
import { chapterTitles } from '../../formats/chapterTitles.ts';
import { UnrenderableError } from '../../formats/renderJob.ts';
import type { Rendition } from '../../formats/renditionMaker.ts';
import type { Renditions } from '../../formats/renditions.ts';
import { findCollection } from '../../library/libraryCollections.ts';
import type { LibrarySearch } from '../../meaning/librarySearch.ts';
import type { DocumentFilter, DocumentIndex } from '../../search/documentIndex.ts';
import type { Authorization } from '../authorization.ts';
import { createEtag, isNotModified, setValidators } from '../conditional.ts';
import { readingPath } from '../documentView.ts';
import { createLookups, DocumentMissingError } from '../lookups.ts';
import { escapeHtml, page, pageHeaders, type Site } from '../pages.ts';
import { answerError, HttpProblem, loggedProblemOf } from '../problems.ts';
import { nameParameter, paperQuery, slugParameter } from '../schemas.ts';
import { sendRendition } from '../sendRendition.ts';
import type { OwnerSession } from '../signIn/ownerSessions.ts';
import { collectionPage } from './collectionPage.ts';
import { copyScript } from './copyScript.ts';
import { libraryAddress } from './documentList.ts';
import { documentPage, type Neighbours } from './documentPage.ts';
import { folderPage } from './folderPage.ts';
import { createFolders } from './folders.ts';
import { libraryPage, type ResultsView, resultsPage } from './libraryPage.ts';

interface ReadingServices {
  readonly index: DocumentIndex;
  readonly search: LibrarySearch;
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

/** What the owner asked the library for. */
interface Asked {
  readonly type?: string | undefined;
  readonly tag?: string | undefined;
  readonly path?: string | undefined;
  readonly page: number;
}

/** The documents on a page of a list, drafts included. */
function rowsOf(page: number) {
  return { drafts: true, limit: pageSize, offset: (page - 1) * pageSize };
}

function lastPage(total: number): number {
  return Math.max(1, Math.ceil(total / pageSize));
}

/** The page of the content folder, if it is published. */
async function startPage(index: DocumentIndex): Promise<Document | undefined> {
  const slugs = await index.slugsOf(folderPagePaths(''));
  const [slug] = folderPagePaths('').flatMap((path) => slugs.get(path) ?? []);
  return slug === undefined ? undefined : index.read(slug);
}

/**
 * The routes under `/read`: pages for the signed-in owner, who also sees drafts. Here alone, a session replaces the
 * token that the API needs, so that no page of another site can use the cookie to read the API.
 */
export function createReadingRoutes(services: ReadingServices): FastifyPluginAsyncTypebox {
  const { index, search, renditions, authorization, owner, site } = services;
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
      const { q, ...narrowed } = withoutEmpty(request.query);
      const { page = 1 } = request.query;
      if (q !== undefined) return sendResults(request, reply, { ...narrowed, q, page });
      if (narrowed.path !== undefined) return sendFolder(request, reply, { path: narrowed.path, page });
      return sendLibrary(request, reply, { ...narrowed, page });
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
        return sendAround(request, reply, article, page);
      },
    );

    app.get(
      '/:slug.pdf',
      { schema: { hide: true, params: slugParameter, querystring: paperQuery } },
      async (request, reply) => {
        const found = await document(request.params.slug);
        const pdf = await renditions.pdf(found, request.query.paper ?? 'a4');
        return sendRendition(request, reply, pdf, { authorization, fileName: `${found.slug}.pdf` });
      },
    );

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
        { schema: { hide: true, params: nameParameter, querystring: paperQuery } },
        async (request, reply) => {
          const collection = await lookups.collection(request.params.name);
          const book =
            ending === 'pdf'
              ? renditions.collectionPdf(collection, request.query.paper ?? 'a4')
              : renditions.epub(collection);
          const fileName = `${collection.definition.name}.${ending}`;
          return sendRendition(request, reply, await book, { authorization, fileName });
        },
      );
  };

  async function sendLibrary(
    request: FastifyRequest,
    reply: FastifyReply,
    { type, tag, page }: Asked,
  ): Promise<FastifyReply> {
    const filter = withoutUndefined<Pick<DocumentFilter, 'type' | 'tag'>>({ type, tag });
    const found = await index.list({ ...filter, ...rowsOf(page) });
    const last = lastPage(found.total);
    if (page > last) return reply.redirect(libraryAddress(site, { ...filter, page: last }), 303);
    const isFront = page === 1 && Object.keys(filter).length === 0;
    const collections = isFront ? await index.collections() : [];
    const { isComplete } = await index.summary();
    const view = { site, filter, page, pageSize, ...found, collections, isComplete };
    const folders = await readFolders();
    const start = isFront ? await startPage(index) : undefined;
    if (start !== undefined) {
      try {
        const article = await renditions.article(start);
        return await sendAround(request, reply, article, libraryPage({ ...view, folders, hasStart: true }));
      } catch (error) {
        // The library has a page even if this document cannot be rendered.
        if (!(error instanceof UnrenderableError)) throw error;
      }
    }
    const { before, after } = libraryPage({ ...view, folders, hasStart: false });
    return sendPage(request, reply, before + after);
  }

  async function sendResults(
    request: FastifyRequest,
    reply: FastifyReply,
    { q, type, tag, path, page }: Asked & { readonly q: string },
  ): Promise<FastifyReply> {
    const folder = path?.replace(/\/?$/, '/');
    const filter = withoutUndefined<ResultsView['filter']>({ type, tag, path: folder });
    const narrowed = withoutUndefined<Omit<DocumentFilter, 'drafts'>>({ type, tag, folder });
    const found = await search.search({ ...narrowed, ...rowsOf(page), text: q });
    const last = lastPage(found.total);
    if (page > last) return reply.redirect(libraryAddress(site, { q, ...filter, page: last }), 303);
    return sendPage(request, reply, resultsPage({ site, filter, page, pageSize, ...found, text: q }));
  }

  async function sendAround(
    request: FastifyRequest,
    reply: FastifyReply,
    article: Rendition,
    around: { readonly before: string; readonly after: string },
  ): Promise<FastifyReply> {
    const etag = createEtag(around.before, around.after, article.etag);
    reply.headers(pageHeaders({ script: copyScript }));
    return sendRendition(request, reply, { ...article, etag }, { authorization, around });
  }

  async function sendFolder(
    request: FastifyRequest,
    reply: FastifyReply,
    { path, page }: { readonly path: string; readonly page: number },
  ) {
    const folders = await readFolders();
    const folder = folders.get(path.endsWith('/') ? path : `${path}/`);
    if (folder === undefined)
      throw new HttpProblem(404, 'There is no folder at this path with documents in it.');
    const last = lastPage(folder.documents.length);
    if (page > last) return reply.redirect(libraryAddress(site, { path: folder.path, page: last }), 303);
    return sendPage(request, reply, folderPage({ site, folder, folders, page, pageSize }));
  }

  /** The documents before and after, if the reader came from a collection. */
  async function neighboursOf(slug: string, name: string | undefined): Promise<Neighbours | undefined> {
    const collection = name !== undefined && isSlug(name) ? await findCollection(index, name) : undefined;
    const at = collection?.documents.findIndex((one) => one.slug === slug) ?? -1;
    if (collection === undefined || at < 0) return undefined;
    const { definition, documents } = collection;
    const near = documents.slice(Math.max(0, at - 1), at + 2);
    const titles = chapterTitles(near);
    const named = (one: DocumentMetadata | undefined) =>
      one && { ...one, title: titles[near.findIndex(({ slug }) => slug === one.slug)] ?? one.title };
    return {
      definition,
      place: at + 1,
      size: documents.length,
      previous: named(documents[at - 1]),
      next: named(documents[at + 1]),
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
    title,
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
