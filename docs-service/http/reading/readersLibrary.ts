import type { CollectionDefinition } from '../../content/collectionFile.ts';
import type { Document } from '../../content/document.ts';
import { pathSlugs } from '../../content/slug.ts';
import type { Rendition } from '../../formats/renditionMaker.ts';
import { type Folders, readFolders, startPaths } from '../../library/folders.ts';
import { findCollection, type LibraryCollection } from '../../library/libraryCollections.ts';
import type { PublicLibrary } from '../../library/publicLibrary.ts';
import type { DocumentFilter, DocumentPage, Paging, SearchPage } from '../../search/documentIndex.ts';
import { isOfKind } from '../../search/documentRecord.ts';
import type { Site } from '../pages.ts';
import type { Services } from '../services.ts';

/** The library as one kind of reader sees it; all its pages are made from it. */
export interface ReadersLibrary {
  readonly site: Site;
  list(query: ListFilter & Paging): Promise<DocumentPage>;
  search(query: ListFilter & Paging & { readonly text: string }): Promise<SearchPage>;
  collections(): Promise<readonly CollectionDefinition[]>;
  folders(): Promise<Folders>;
  /** The page of the content folder. */
  startPage(): Promise<Document | undefined>;
  /** Undefined if it is not for this reader. May throw what `Lookups` throw. */
  document(slug: string): Promise<Document | { readonly movedTo: string } | undefined>;
  article(document: Document): Promise<Rendition>;
  /** Undefined if it is not for this reader. May throw what `Lookups` throw. */
  collection(name: string): Promise<LibraryCollection | undefined>;
  /** The collection in which a document is read, given the name of the one that the reader came from. */
  collectionAround(slug: string, name: string | undefined): Promise<LibraryCollection | undefined>;
}

export type ListFilter = Omit<DocumentFilter, 'drafts' | 'changedSince'>;

/** For strangers. Everything here comes from what is public, so that nothing else can be shown or counted. */
export function openPages(
  { index, publicSearch, renditions, findAlias, site }: Services,
  { collections, documents, has }: PublicLibrary,
): ReadersLibrary {
  const read = async (slug: string | undefined) => {
    const document = slug !== undefined && has(slug) ? await index.read(slug) : undefined;
    return document?.draft ? undefined : document;
  };
  return {
    site: { ...site, isOpen: true },
    async list({ limit, offset, ...filter }) {
      const found = documents.filter((one) => isOfKind(one, filter));
      return { items: found.slice(offset, offset + limit), total: found.length };
    },
    // By text alone: strangers do not put the owner's runner to work.
    search: (query) => publicSearch.search(query),
    collections: async () => collections.map(({ definition }) => definition),
    folders: async () => new Map(),
    async startPage() {
      const paths = startPaths(await readFolders(index));
      const [start] = paths.flatMap((path) => documents.find((one) => one.path === path) ?? []);
      return read(start?.slug);
    },
    async document(slug) {
      const document = await read(slug);
      if (document !== undefined) return document;
      const other =
        documents.find(({ path }) => pathSlugs(path).long === slug) ??
        (await findAlias(slug, (one) => has(one.slug)));
      return other && { movedTo: other.slug };
    },
    article: (document) => renditions.openArticle(document, has),
    collection: async (name) => collections.find(({ definition }) => definition.name === name),
    async collectionAround(slug, name) {
      const having = collections.filter((one) => one.documents.some((document) => document.slug === slug));
      return having.find(({ definition }) => definition.name === name) ?? having[0];
    },
  };
}

/** For the owner: everything, with drafts. */
export function ownersPages({ index, search, renditions, site, lookups }: Services): ReadersLibrary {
  return {
    site,
    list: (query) => index.list({ ...query, drafts: true }),
    search: (query) => search.search({ ...query, drafts: true }),
    collections: () => index.collections(),
    folders: () => readFolders(index),
    async startPage() {
      const paths = startPaths(await readFolders(index));
      const slugs = await index.slugsOf(paths);
      const [slug] = paths.flatMap((path) => slugs.get(path) ?? []);
      return slug === undefined ? undefined : index.read(slug);
    },
    document: (slug) => lookups.document(slug, true),
    article: (document) => renditions.article(document),
    collection: (name) => lookups.collection(name),
    collectionAround: async (_slug, name) => (name === undefined ? undefined : findCollection(index, name)),
  };
}
