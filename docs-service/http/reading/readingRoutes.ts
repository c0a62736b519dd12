import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { withoutUndefined } from '../../../protocol/base/withoutUndefined.ts';
import type { Document } from '../../content/document.ts';
import { folderPagePaths, isSlug } from '../../content/slug.ts';
import { UnrenderableError } from '../../formats/renderJob.ts';
import type { Renditions } from '../../formats/renditions.ts';
import { findCollection } from '../../library/libraryCollections.ts';
import type { PublicLibrary } from '../../library/publicLibrary.ts';
import type { PublicSearch } from '../../library/publicSearch.ts';
import type { LibrarySearch } from '../../meaning/librarySearch.ts';
import type { DocumentFilter, DocumentIndex } from '../../search/documentIndex.ts';
import type { Authorization } from '../authorization.ts';
import { createLookups } from '../lookups.ts';
import { atomFeed } from '../open/atomFeed.ts';
import { sendText } from '../open/openTexts.ts';
import type { Site } from '../pages.ts';
import { HttpProblem } from '../problems.ts';
import { nameParameter, paperQuery, slugParameter } from '../schemas.ts';
import { sendRendition } from '../sendRendition.ts';
import type { OwnerSession } from '../signIn/ownerSessions.ts';
import { collectionPage } from './collectionPage.ts';
import { libraryAddress } from './documentList.ts';
import { documentPage, type Neighbours, neighboursIn } from './documentPage.ts';
import { folderPage } from './folderPage.ts';
import { createFolders } from './folders.ts';
import { libraryPage, type ResultsView, resultsPage } from './libraryPage.ts';
import { createOpenPages } from './openPages.ts';
import { createPageAnswer, sendAround, sendPage } from './pageAnswers.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Strangers may ask, and get what is public. */
    readonly isOpen?: true;
  }
}

const open = { config: { isOpen: true } } as const;

interface ReadingServices {
  readonly readPublic: () => Promise<PublicLibrary>;
  readonly publicSearch: PublicSearch;
  /** The address of the service, without a final slash. */
  readonly href: string;
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
 * The routes under `/read`: pages for the signed-in owner, who also sees drafts, and those that are public for all
 * others. Here alone, a session replaces the
 * token that the API needs, so that no page of another site can use the cookie to read the API.
 */
export function createReadingRoutes(services: ReadingServices): FastifyPluginAsyncTypebox {
  const { index, search, readPublic, renditions, authorization, owner, site, href } = services;
  const lookups = createLookups(index);
  const document = (slug: string) => lookups.document(slug, true);
  const readFolders = createFolders(index);
  const openPages = createOpenPages({ ...services, askToSignIn });
  return async (app) => {
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
    app.setNotFoundHandler((request, reply) =>
      answerWithPage(new HttpProblem(404, 'There is no page at this address.'), request, reply),
    );

    app.get('', { ...open, schema: { hide: true, querystring: libraryQuery } }, async (request, reply) => {
      // A form also sends its empty fields.
      const { q, ...narrowed } = withoutEmpty(request.query);
      const { page = 1 } = request.query;
      if (request.visitor !== null)
        return narrowed.path === undefined
          ? openPages.library(request, reply, { ...narrowed, q, page })
          : askToSignIn(request, reply);
      if (q !== undefined) return sendResults(request, reply, { ...narrowed, q, page });
      if (narrowed.path !== undefined) return sendFolder(request, reply, { path: narrowed.path, page });
      return sendLibrary(request, reply, { ...narrowed, page });
    });

    app.get(
      '/:slug',
      {
        ...open,
        schema: {
          hide: true,
          params: slugParameter,
          querystring: Type.Object({ in: place, page: pageNumber }),
        },
      },
      async (request, reply) => {
        const { slug } = request.params;
        if (slug === '') return reply.redirect(`${site.root}/read`, 303);
        if (request.visitor !== null) {
          const asked = { slug, in: request.query.in };
          return openPages.document(request, reply, asked);
        }
        const found = await document(slug);
        const article = await renditions.article(found);
        const around = await neighboursOf(slug, request.query.in);
        const page = documentPage({ site, document: found, folders: await readFolders(), around });
        return sendAround(request, reply, { article, around: page, authorization });
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
      {
        ...open,
        schema: { hide: true, params: nameParameter, querystring: Type.Object({ page: pageNumber }) },
      },
      async (request, reply) => {
        const { page = 1 } = request.query;
        const { name } = request.params;
        if (request.visitor !== null) {
          const asked = { name, page, pageSize: collectionPageSize };
          return openPages.collection(request, reply, asked);
        }
        const collection = await lookups.collection(name);
        const view = { site, collection, page, pageSize: collectionPageSize };
        return sendPage(request, reply, collectionPage(view));
      },
    );

    app.get(
      '/collections/:name/feed.atom',
      { ...open, schema: { hide: true, params: nameParameter } },
      async (request, reply) => {
        const { name } = request.params;
        const isVisitor = request.visitor !== null;
        const collection = isVisitor
          ? (await readPublic()).collections.find(({ definition }) => definition.name === name)
          : await lookups.collection(name);
        if (collection === undefined) return askToSignIn(request, reply);
        const changed = await index.changedAt(collection.documents.map(({ slug }) => slug));
        const text = atomFeed({ collection, href, library: site.title, changed });
        return sendText(request, reply, { text, mediaType: 'application/atom+xml', authorization });
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

  /** Whether a page exists that is not public is not for strangers to know. */
  async function askToSignIn(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    await owner.requireOwner(request, reply);
    return reply;
  }

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
    const view = { site, filter, page, pageSize, ...found, collections };
    const folders = await readFolders();
    const start = isFront ? await startPage(index) : undefined;
    if (start !== undefined) {
      try {
        const article = await renditions.article(start);
        const around = libraryPage({ ...view, folders, hasStart: true });
        return await sendAround(request, reply, { article, around, authorization });
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
    return collection && neighboursIn(collection, slug, site);
  }
}

function withoutEmpty<Query extends Readonly<Record<string, unknown>>>(query: Query): Partial<Query> {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== '')) as Partial<Query>;
}
