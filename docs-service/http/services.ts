import { createSharedWork } from '../../protocol/base/keyedWork.ts';
import type { BaseUrl } from '../base/baseUrl.ts';
import { noSuchCollection, noSuchDocument } from '../base/text.ts';
import type { Document, DocumentMetadata } from '../content/document.ts';
import { isSlug } from '../content/slug.ts';
import type { Renditions } from '../formats/renditions.ts';
import { findCollection, type LibraryCollection } from '../library/libraryCollections.ts';
import type { PublicLibrary } from '../library/publicLibrary.ts';
import type { PublicSearch } from '../library/publicSearch.ts';
import type { FindAlias } from '../library/wholeIndex.ts';
import type { LibrarySearch } from '../meaning/librarySearch.ts';
import type { DocumentIndex, LocatedMetadata } from '../search/documentIndex.ts';
import type { SendAnswer } from './answers.ts';
import type { Authorization } from './authorization.ts';
import type { Site } from './pages.ts';
import { DocumentMovedError, HttpProblem } from './problems.ts';
import type { OwnerSession } from './signIn/ownerSessions.ts';

/** What the routes of the service share. */
export interface Services {
  readonly index: DocumentIndex;
  readonly search: LibrarySearch;
  readonly renditions: Renditions;
  readonly lookups: Lookups;
  readonly findAlias: FindAlias;
  readonly sendAnswer: SendAnswer;
  readonly readPublic: () => Promise<PublicLibrary>;
  readonly publicSearch: PublicSearch;
  readonly authorization: Authorization;
  readonly owner: OwnerSession;
  readonly baseUrl: BaseUrl;
  readonly site: Site;
  /** The authorization server: this service itself, or another one. */
  readonly issuer: string;
}

export type Lookups = ReturnType<typeof createLookups>;

/** There is no such document. */
export class DocumentMissingError extends HttpProblem {
  /** @param near slugs that resemble the wrong one, the nearest first */
  constructor(
    readonly slug: string,
    readonly near: readonly string[],
  ) {
    super(404, noSuchDocument(slug, near));
  }
}

/**
 * Looks up what an address names, for all routes. A missing item is a problem with a hint, and one that has another
 * address is a `DocumentMovedError`.
 */
export function createLookups(index: DocumentIndex, findAlias: FindAlias) {
  const reads = createSharedWork<Document | undefined>();
  return {
    async document(slug: string, drafts: boolean): Promise<Document> {
      // A long text is read once for all who ask for it at the same time.
      const read = () => reads.join(`${index.generation} ${slug}`, () => index.read(slug));
      const document = isSlug(slug) ? await read() : undefined;
      return visible(slug, document, drafts);
    },
    async metadata(slug: string, drafts: boolean): Promise<LocatedMetadata> {
      const [document] = isSlug(slug) ? await index.metadataOf([slug]) : [];
      return visible(slug, document, drafts);
    },
    async collection(name: string): Promise<LibraryCollection> {
      const collection = await findCollection(index, name);
      if (collection !== undefined) return collection;
      const names = (await index.collections()).map((one) => one.name);
      throw new HttpProblem(404, noSuchCollection(name, names));
    },
  };

  async function visible<Found extends DocumentMetadata>(
    slug: string,
    document: Found | undefined,
    drafts: boolean,
  ): Promise<Found> {
    if (document !== undefined && (!document.draft || drafts)) return document;
    if (document === undefined) {
      const slugs = isSlug(slug) ? await index.slugsNamed([slug], { drafts }) : undefined;
      const named = slugs?.get(slug) ?? (await findAlias(slug, (one) => drafts || !one.draft))?.slug;
      if (named !== undefined) throw new DocumentMovedError(named);
    }
    const near = slug === '' ? [] : await index.nearSlugs(slug.slice(0, 100), 3);
    throw new DocumentMissingError(slug.slice(0, 100), near);
  }
}
