import type { FastifyReply, FastifyRequest } from 'fastify';
import { withoutUndefined } from '../../../protocol/base/withoutUndefined.ts';
import type { Document } from '../../content/document.ts';
import { folderPagePaths, pathSlugs } from '../../content/slug.ts';
import { UnrenderableError } from '../../formats/renderJob.ts';
import type { Renditions } from '../../formats/renditions.ts';
import type { PublicLibrary } from '../../library/publicLibrary.ts';
import type { PublicSearch } from '../../library/publicSearch.ts';
import type { DocumentIndex, LocatedMetadata } from '../../search/documentIndex.ts';
import type { Authorization } from '../authorization.ts';
import { readingPath } from '../documentView.ts';
import type { Site } from '../pages.ts';
import { collectionPage } from './collectionPage.ts';
import { libraryAddress } from './documentList.ts';
import { documentPage, neighboursIn } from './documentPage.ts';
import type { Folders } from './folders.ts';
import { libraryPage, resultsPage } from './libraryPage.ts';
import { sendAround, sendPage } from './pageAnswers.ts';

interface OpenPagesOptions {
  readonly index: DocumentIndex;
  readonly readPublic: () => Promise<PublicLibrary>;
  readonly publicSearch: PublicSearch;
  readonly renditions: Pick<Renditions, 'openArticle'>;
  readonly authorization: Authorization;
  readonly site: Site;
  /** The address of the service, without a final slash. */
  readonly href: string;
  /** Answers where nothing is public; whether something is there makes no difference. */
  readonly askToSignIn: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;
}

export interface AskedOfAll {
  readonly q?: string | undefined;
  readonly type?: string | undefined;
  /** The slug of a tag. */
  readonly tag?: string | undefined;
  readonly page: number;
}

/** The pages for strangers. */
export interface OpenPages {
  library(request: FastifyRequest, reply: FastifyReply, asked: AskedOfAll): Promise<FastifyReply>;
  document(
    request: FastifyRequest,
    reply: FastifyReply,
    asked: { readonly slug: string; readonly in: string | undefined },
  ): Promise<FastifyReply>;
  collection(
    request: FastifyRequest,
    reply: FastifyReply,
    asked: { readonly name: string; readonly page: number; readonly pageSize: number },
  ): Promise<FastifyReply>;
}

const pageSize = 20;
const noFolders: Folders = new Map();

/** Everything here comes from what is public, so that nothing else can be shown or counted. */
export function createOpenPages(options: OpenPagesOptions): OpenPages {
  const { index, readPublic, publicSearch, renditions, authorization, href, askToSignIn } = options;
  const site: Site = { ...options.site, isOpen: true };

  const sendList = async (request: FastifyRequest, reply: FastifyReply, { type, tag, page }: AskedOfAll) => {
    const library = await readPublic();
    const filter = withoutUndefined<{ type?: string; tag?: string }>({ type, tag });
    const found = library.documents.filter((one) => isWithin(one, filter));
    const last = lastPage(found.length);
    if (page > last) return reply.redirect(libraryAddress(site, { ...filter, page: last }), 303);
    const isFront = page === 1 && !type && !tag;
    if (!isFront) noIndex(reply);
    const view = {
      ...{ site, filter, page, pageSize, folders: noFolders },
      total: found.length,
      items: found.slice((page - 1) * pageSize, page * pageSize),
      collections: isFront ? library.collections.map(({ definition }) => definition) : [],
    };
    const start = isFront ? await readDocument(library, startOf(library)) : undefined;
    if (start !== undefined) {
      try {
        const article = await renditions.openArticle(start, library.has);
        const around = libraryPage({ ...view, hasStart: true });
        return await sendAround(request, reply, { article, around, authorization });
      } catch (error) {
        // The library has a page even if this document cannot be rendered.
        if (!(error instanceof UnrenderableError)) throw error;
      }
    }
    const { before, after } = libraryPage({ ...view, hasStart: false });
    return sendPage(request, reply, before + after);
  };

  /** By text alone: strangers do not put the owner's runner to work. */
  const sendResults = async (
    request: FastifyRequest,
    reply: FastifyReply,
    { q, type, tag, page }: AskedOfAll & { readonly q: string },
  ) => {
    const filter = withoutUndefined<{ type?: string; tag?: string }>({ type, tag });
    const rows = { limit: pageSize, offset: (page - 1) * pageSize };
    const found = await publicSearch.search({ ...filter, ...rows, text: q });
    const last = lastPage(found.total);
    if (page > last) return reply.redirect(libraryAddress(site, { q, ...filter, page: last }), 303);
    return sendPage(
      request,
      noIndex(reply),
      resultsPage({ site, filter, page, pageSize, ...found, text: q }),
    );
  };

  async function readDocument(
    { has }: PublicLibrary,
    slug: string | undefined,
  ): Promise<Document | undefined> {
    const document = slug !== undefined && has(slug) ? await index.read(slug) : undefined;
    return document?.draft ? undefined : document;
  }

  return {
    library: (request, reply, { q, ...asked }) =>
      q === undefined ? sendList(request, reply, asked) : sendResults(request, reply, { q, ...asked }),
    async document(request, reply, { slug, in: name }) {
      const library = await readPublic();
      const document = await readDocument(library, slug);
      if (document === undefined) {
        const other = library.documents.find(({ path }) => pathSlugs(path).long === slug);
        if (other === undefined) return askToSignIn(request, reply);
        // Browsers would keep it, and what is public no more is closed at once.
        return reply
          .header('cache-control', 'private, no-cache')
          .redirect(readingPath(site, other.slug), 308);
      }
      const article = await renditions.openArticle(document, library.has);
      const having = library.collections.filter(({ documents }) =>
        documents.some((one) => one.slug === slug),
      );
      const collection = having.find(({ definition }) => definition.name === name) ?? having[0];
      const around = documentPage({
        ...{ site, document, folders: noFolders },
        around: collection && neighboursIn(collection, slug, site),
        canonical: readingPath({ root: href }, slug),
      });
      return sendAround(request, reply, { article, around, authorization });
    },
    async collection(request, reply, { name, ...paging }) {
      const { collections } = await readPublic();
      const collection = collections.find(({ definition }) => definition.name === name);
      return collection === undefined
        ? askToSignIn(request, reply)
        : sendPage(request, reply, collectionPage({ site, collection, ...paging }));
    },
  };
}

/** Whether a document passes the filters of a list. */
function isWithin(
  document: LocatedMetadata,
  { type, tag }: { readonly type?: string; readonly tag?: string },
): boolean {
  return (
    (type === undefined || document.type === type) &&
    (tag === undefined || document.tags.some(({ slug }) => slug === tag))
  );
}

/** Search engines keep the documents, and no lists of them that anyone can ask for. */
function noIndex(reply: FastifyReply): FastifyReply {
  return reply.header('x-robots-tag', 'noindex');
}

function lastPage(total: number): number {
  return Math.max(1, Math.ceil(total / pageSize));
}

/** The page of the content folder. */
function startOf({ documents }: PublicLibrary): string | undefined {
  const paths = folderPagePaths('');
  return documents
    .filter(({ path }) => paths.includes(path))
    .toSorted((one, other) => paths.indexOf(one.path) - paths.indexOf(other.path))[0]?.slug;
}
