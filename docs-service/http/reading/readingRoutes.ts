import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { withoutUndefined } from '../../../protocol/base/json.ts';
import { UnrenderableError } from '../../formats/renderJob.ts';
import { folderAt } from '../../library/folders.ts';
import { sendRendition, sendText } from '../answers.ts';
import { sendBook, sendPdf } from '../apiRoutes.ts';
import type { Authorization } from '../authorization.ts';
import { readingPath } from '../documentView.ts';
import { atomFeed } from '../open/publicRoutes.ts';
import { tryLeadToAlias } from '../openRoutes.ts';
import { HttpProblem, noPage } from '../problems.ts';
import { nameParameter, paperQuery, slugParameter } from '../schemas.ts';
import type { Services } from '../services.ts';
import { collectionPage, folderPage } from './collectionPage.ts';
import { type LibraryPlace, libraryAddress } from './documentList.ts';
import { documentPage, neighboursIn } from './documentPage.ts';
import { libraryPage, type ResultsView, resultsPage } from './libraryPage.ts';
import { createPageAnswer, sendAround, sendPage } from './pageAnswers.ts';
import { type ListFilter, openPages, ownersPages, type ReadersLibrary } from './readersLibrary.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Strangers may ask, and get what is public. */
    readonly isOpen?: true;
  }
}

const open = { config: { isOpen: true } } as const;

/** Documents on a page of the library. */
const pageSize = 20;

const pageNumber = Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 }));
const place = Type.Optional(Type.String({ maxLength: 100 }));
const libraryQuery = Type.Object({
  q: Type.Optional(Type.String({ maxLength: 1_000 })),
  type: place,
  tag: place,
  path: Type.Optional(Type.String({ maxLength: 2_048 })),
  page: pageNumber,
});

/** What a reader asks the library for. */
interface PageQuery extends LibraryPlace {
  readonly library: ReadersLibrary;
  readonly page: number;
}

function rowsOf(page: number) {
  return { limit: pageSize, offset: (page - 1) * pageSize };
}

function lastPage(total: number): number {
  return Math.max(1, Math.ceil(total / pageSize));
}

/**
 * The routes under `/read`: pages for the signed-in owner, who also sees drafts, and those that are public for all
 * others. Here alone, a session replaces the token that the API needs, so that no page of another site can use the
 * cookie to read the API.
 */
export const readingRoutes: FastifyPluginAsyncTypebox<Services> = async (app, services) => {
  const { readPublic, authorization, owner, site } = services;
  app.addHook('onRequest', async (request, reply) => {
    if (await owner.isSignedIn(request)) return authorization.countOwnerRequest(reply);
    const isOpen = request.routeOptions.config.isOpen && (await readPublic()).collections.length > 0;
    if (isOpen) return authorization.countVisit(request, reply);
    await owner.requireOwner(request, reply);
  });
  app.addHook('onSend', async (_request, reply) => {
    reply.header('vary', 'Cookie, Origin');
  });
  const answerWithPage = createPageAnswer(site);
  app.setErrorHandler(answerWithPage);
  app.setNotFoundHandler((request, reply) => answerWithPage(noPage(), request, reply));
  const owners = ownersPages(services);
  const libraryOf = async ({ visitor }: FastifyRequest) =>
    visitor === null ? owners : openPages(services, await readPublic());
  for (const addRoute of [libraryRoute, documentRoute, collectionRoute, feedRoute])
    addRoute(app, services, libraryOf);
  for (const addRoute of [fileRoutes, aliasRoute]) addRoute(app, services);
};

type Pages = Parameters<FastifyPluginAsyncTypebox<Services>>[0];
type LibraryOf = (request: FastifyRequest) => Promise<ReadersLibrary>;

/** Whether a page exists that is not public is not for strangers to know. */
async function askToSignIn({ owner }: Services, request: FastifyRequest, reply: FastifyReply) {
  await owner.requireOwner(request, reply);
  return reply;
}

function libraryRoute(app: Pages, services: Services, libraryOf: LibraryOf): void {
  app.get('', { ...open, schema: { querystring: libraryQuery } }, async (request, reply) => {
    const { page = 1 } = request.query;
    // A form also sends its empty fields.
    const filled = Object.entries(request.query).filter(([, value]) => value !== '');
    const asked = { ...(Object.fromEntries(filled) as Partial<typeof request.query>), page };
    if (asked.path !== undefined && request.visitor !== null) return askToSignIn(services, request, reply);
    const library = await libraryOf(request);
    if (asked.q !== undefined) return sendResults(request, reply, { ...asked, q: asked.q, library });
    if (asked.path !== undefined) return sendFolder(request, reply, { ...asked, path: asked.path, library });
    return sendLibrary(request, reply, { ...asked, library }, services.authorization);
  });
}

function documentRoute(app: Pages, services: Services, libraryOf: LibraryOf): void {
  const { authorization, baseUrl, site } = services;
  const schema = { params: slugParameter, querystring: Type.Object({ in: place, page: pageNumber }) };
  app.get('/:slug', { ...open, schema }, async (request, reply) => {
    const { slug } = request.params;
    if (slug === '') return reply.redirect(`${site.root}/read`, 303);
    const library = await libraryOf(request);
    const document = await library.document(slug);
    if (document === undefined) return askToSignIn(services, request, reply);
    // Browsers would keep it, and what is public no more is closed at once.
    if ('movedTo' in document)
      return reply
        .header('cache-control', 'private, no-cache')
        .redirect(readingPath(site, document.movedTo), 308);
    const article = await library.article(document);
    const collection = await library.collectionAround(slug, request.query.in);
    const near = collection && neighboursIn(collection, slug, library.site);
    const canonical = library.site.isOpen ? readingPath({ root: baseUrl.href }, slug) : undefined;
    const around = documentPage(library.site, document, await library.folders(), near, canonical);
    return sendAround(request, reply, article, around, authorization);
  });
}

function collectionRoute(app: Pages, services: Services, libraryOf: LibraryOf): void {
  const schema = { params: nameParameter, querystring: Type.Object({ page: pageNumber }) };
  app.get('/collections/:name', { ...open, schema }, async (request, reply) => {
    const library = await libraryOf(request);
    const collection = await library.collection(request.params.name);
    if (collection === undefined) return askToSignIn(services, request, reply);
    return sendPage(request, reply, collectionPage(library.site, collection, request.query.page ?? 1));
  });
}

function feedRoute(app: Pages, services: Services, libraryOf: LibraryOf): void {
  const { index, authorization, baseUrl, site } = services;
  const schema = { params: nameParameter };
  app.get('/collections/:name/feed.atom', { ...open, schema }, async (request, reply) => {
    const library = await libraryOf(request);
    const collection = await library.collection(request.params.name);
    if (collection === undefined) return askToSignIn(services, request, reply);
    const changed = await index.changedAt(collection.documents.map(({ slug }) => slug));
    const text = atomFeed(collection, baseUrl.href, site.title, changed);
    return sendText(request, reply, { text, mediaType: 'application/atom+xml', authorization });
  });
}

/** The documents and the collections as files, for the owner alone. */
function fileRoutes(app: Pages, services: Services): void {
  const { renditions, authorization, lookups } = services;
  app.get('/:slug.pdf', { schema: { params: slugParameter, querystring: paperQuery } }, (request, reply) =>
    sendPdf(services, request, reply, true),
  );
  app.get('/:slug.md', { schema: { params: slugParameter } }, async (request, reply) => {
    const found = await lookups.document(request.params.slug, true);
    return sendRendition(request, reply, await renditions.source(found), { authorization });
  });
  const schema = { params: nameParameter, querystring: paperQuery };
  for (const ending of ['epub', 'pdf'] as const)
    app.get(`/collections/:name.${ending}`, { schema }, (request, reply) =>
      sendBook(services, request, reply, ending),
    );
}

function aliasRoute(app: Pages, services: Services): void {
  const config = { isOpen: true, isFallback: true } as const;
  app.get<{ Params: { '*': string } }>('/*', { config }, async (request, reply) => {
    if (await tryLeadToAlias(services, request, reply)) return reply;
    if (request.visitor !== null) return askToSignIn(services, request, reply);
    throw noPage();
  });
}

async function sendFolder(
  request: FastifyRequest,
  reply: FastifyReply,
  { library, path, page }: PageQuery & { readonly path: string },
): Promise<FastifyReply> {
  const { site } = library;
  const folders = await library.folders();
  const folder = folderAt(folders, path);
  if (folder === undefined)
    throw new HttpProblem(404, 'There is no folder at this path with documents in it.');
  const last = lastPage(folder.documents.length);
  if (page > last) return reply.redirect(libraryAddress(site, { path: folder.path, page: last }), 303);
  return sendPage(request, reply, folderPage(site, folder, folders, page, pageSize));
}

async function sendLibrary(
  request: FastifyRequest,
  reply: FastifyReply,
  { library, type, tag, page }: PageQuery,
  authorization: Authorization,
): Promise<FastifyReply> {
  const { site } = library;
  const filter = withoutUndefined<Pick<ListFilter, 'type' | 'tag'>>({ type, tag });
  const found = await library.list({ ...filter, ...rowsOf(page) });
  const last = lastPage(found.total);
  if (page > last) return reply.redirect(libraryAddress(site, { ...filter, page: last }), 303);
  const isFront = page === 1 && Object.keys(filter).length === 0;
  if (!isFront) noIndex(reply, library);
  const collections = isFront ? await library.collections() : [];
  const folders = await library.folders();
  const view = { site, filter, page, pageSize, ...found, collections, folders };
  const start = isFront ? await library.startPage() : undefined;
  if (start !== undefined) {
    try {
      const article = await library.article(start);
      const around = libraryPage({ ...view, hasStart: true });
      return await sendAround(request, reply, article, around, authorization);
    } catch (error) {
      // The library has a page even if this document cannot be rendered.
      if (!(error instanceof UnrenderableError)) throw error;
    }
  }
  const { before, after } = libraryPage({ ...view, hasStart: false });
  return sendPage(request, reply, before + after);
}

async function sendResults(
  request: FastifyRequest,
  reply: FastifyReply,
  { library, q, type, tag, path, page }: PageQuery & { readonly q: string },
): Promise<FastifyReply> {
  const { site } = library;
  const folder = path?.replace(/\/?$/, '/');
  const filter = withoutUndefined<ResultsView['filter']>({ type, tag, path: folder });
  const narrowed = withoutUndefined<ListFilter>({ type, tag, folder });
  const found = await library.search({ ...narrowed, ...rowsOf(page), text: q });
  const last = lastPage(found.total);
  if (page > last) return reply.redirect(libraryAddress(site, { q, ...filter, page: last }), 303);
  noIndex(reply, library);
  return sendPage(request, reply, resultsPage({ site, filter, page, pageSize, ...found, text: q }));
}

/** Search engines keep the documents, and no lists of them that anyone can ask for. */
function noIndex(reply: FastifyReply, { site }: ReadersLibrary): void {
  if (site.isOpen) reply.header('x-robots-tag', 'noindex');
}
