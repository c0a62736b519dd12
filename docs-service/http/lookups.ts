import type { Document, DocumentMetadata } from '../content/document.ts';
import { findCollection, type LibraryCollection } from '../content/libraryCollections.ts';
import { isSlug } from '../content/slug.ts';
import type { DocumentIndex } from '../search/documentIndex.ts';
import { unavailable } from './errors.ts';
import { DocumentMoved, HttpProblem } from './problem.ts';

/**
 * Looks up what an address names, for all routes. A missing item is a problem with a hint, and one that has another
 * address is a `DocumentMoved`.
 */
export interface Lookups {
  document(slug: string, drafts: boolean): Promise<Document>;
  metadata(slug: string, drafts: boolean): Promise<DocumentMetadata>;
  collection(name: string): Promise<LibraryCollection>;
}

/** There is no such document. */
export class DocumentMissing extends HttpProblem {
  readonly slug: string;
  /** Slugs that resemble the wrong one, the nearest first. */
  readonly near: readonly string[];

  constructor(slug: string, near: readonly string[]) {
    const hint = near.length === 0 ? '' : ` Did you mean ${near.map((one) => `"${one}"`).join(' or ')}?`;
    super(404, `There is no document "${slug}".${hint}`);
    this.slug = slug;
    this.near = near;
  }
}

export function createLookups(index: DocumentIndex): Lookups {
  const reading = new Map<string, ReturnType<DocumentIndex['read']>>();
  return {
    async document(slug, drafts) {
      const document = isSlug(slug) ? await readShared(slug) : undefined;
      return visible(slug, document, drafts);
    },
    async metadata(slug, drafts) {
      const [document] = isSlug(slug) ? await index.metadataOf([slug]) : [];
      return visible(slug, document, drafts);
    },
    async collection(name) {
      const collection = isSlug(name) ? await findCollection(index, name) : undefined;
      if (collection !== undefined) return collection;
      await refuseUntilWhole();
      const names = (await index.collections()).slice(0, 10).map((one) => `"${one.name}"`);
      const hint = names.length === 0 ? ' The library has none.' : ` There are ${names.join(', ')}.`;
      throw new HttpProblem(404, `There is no collection "${name.slice(0, 100)}".${hint}`);
    },
  };

  /** A long text is read once for all who ask for it at the same time. */
  function readShared(slug: string): ReturnType<DocumentIndex['read']> {
    const key = `${index.generation} ${slug}`;
    const found = reading.get(key) ?? index.read(slug).finally(() => reading.delete(key));
    reading.set(key, found);
    return found;
  }

  async function visible<Found extends DocumentMetadata>(
    slug: string,
    document: Found | undefined,
    drafts: boolean,
  ): Promise<Found> {
    if (document !== undefined && (!document.draft || drafts)) return document;
    if (document === undefined && isSlug(slug)) {
      const named = (await index.slugsNamed([slug], { drafts })).get(slug);
      if (named !== undefined) throw new DocumentMoved(named);
    }
    await refuseUntilWhole();
    const near = slug === '' ? [] : await index.nearSlugs(slug.slice(0, 100), 3);
    throw new DocumentMissing(slug.slice(0, 100), near);
  }

  /** A missing document may be in a file that was not read yet. */
  async function refuseUntilWhole(): Promise<void> {
    const { whole } = await index.summary();
    if (!whole) throw unavailable('The library is being read for the first time. Try again in a moment.');
  }
}
