import { count } from '../../protocol/base/text.ts';
import type { CollectionDefinition } from '../content/collectionFile.ts';
import type { DocumentIndex, IndexedFile, LocatedMetadata } from '../search/documentIndex.ts';
import { inOrder } from '../search/documentRecord.ts';
import type { KnownFiles } from './knownFiles.ts';
import { hiddenOf, type LibraryCollection, openCollection } from './libraryCollections.ts';
import { untilChange } from './wholeIndex.ts';

/** What strangers may read: the collections with `public: true` and their documents, never a draft. */
export interface PublicLibrary {
  /** In the order of their names. */
  readonly collections: readonly LibraryCollection[];
  /** Each once, the newest first, without hidden ones. */
  readonly documents: readonly LocatedMetadata[];
  readonly bySlug: ReadonlyMap<string, LocatedMetadata>;
  /** Whether a document is public, also if it is hidden, so that only those who know its address read it. */
  readonly has: (slug: string) => boolean;
}

/** What is public now. It is worked out again only after the library has changed. */
export function createPublicLibrary(index: DocumentIndex): () => Promise<PublicLibrary> {
  return untilChange(index, () => readPublicLibrary(index));
}

const maxNamed = 20;

/** What is public, for the log; undefined if that is nothing. */
export function publicSentence({ collections }: PublicLibrary): string | undefined {
  if (collections.length === 0) return undefined;
  const named = collections
    .slice(0, maxNamed)
    .map(({ definition, documents }) => `"${definition.name}" (${count(documents.length, 'document')})`);
  const more = collections.length - named.length;
  const noun = collections.length === 1 ? 'the collection' : 'the collections';
  return `Everyone may read ${noun} ${[...named, ...(more > 0 ? [`${more} more`] : [])].join(', ')}, without signing in.`;
}

/** The paths of what is public with these collections, hidden documents included. */
export async function publicPaths(
  index: DocumentIndex,
  collections: readonly CollectionDefinition[],
): Promise<ReadonlySet<string>> {
  const paths = new Set<string>();
  for await (const { all } of publicCollections(index, collections))
    for (const { path } of all) paths.add(path);
  return paths;
}

/** Each with everything that its readers may read, hidden documents included. */
async function* publicCollections(index: DocumentIndex, definitions: readonly CollectionDefinition[]) {
  for (const definition of definitions.filter((one) => one.public)) {
    const collection = await openCollection(index, definition);
    yield { collection, all: [...collection.documents, ...(await hiddenOf(index, definition))] };
  }
}

async function readPublicLibrary(index: DocumentIndex): Promise<PublicLibrary> {
  const collections: LibraryCollection[] = [];
  const all = new Map<string, LocatedMetadata>();
  for await (const found of publicCollections(index, await index.collections())) {
    collections.push(found.collection);
    for (const one of found.all) all.set(one.slug, one);
  }
  const documents = inOrder(
    [...all.values()].filter(({ hidden }) => !hidden),
    '-date',
  );
  const bySlug = new Map(documents.map((one) => [one.slug, one]));
  return { collections, documents, bySlug, has: (slug) => all.has(slug) };
}

/**
 * Which documents a document may include: those that all its readers may read. Otherwise whoever may write one that is
 * public could publish any other.
 */
export class IncludeRights {
  /** The paths of what is public; undefined while files are read that may change that. */
  #public: ReadonlySet<string> | undefined;

  constructor(private readonly known: KnownFiles) {}

  /**
   * Until `settle`, no document includes another one.
   * @param from the document that is included in the other one
   */
  may(from: string, path: string): boolean {
    return this.#public !== undefined && (this.#public.has(from) || !this.#public.has(path));
  }

  begin(): void {
    this.#public = undefined;
  }

  /** Whether any document includes another one, or was refused that. */
  get isNeeded(): boolean {
    return [...this.known.files()].some(
      ({ includes = {}, refused }) =>
        refused !== undefined || Object.keys(includes).some((from) => this.#isDocument(from)),
    );
  }

  /** Returns the files that must be read again, because they may include other documents than they did. */
  settle(paths: ReadonlySet<string>): readonly IndexedFile[] {
    this.#public = paths;
    return [...this.known.files()].filter(({ path, includes = {}, refused = [] }) =>
      Object.keys(includes).some((from) => {
        const isRefused = this.#isDocument(from) && !this.may(from, path);
        return isRefused !== refused.includes(from);
      }),
    );
  }

  #isDocument(path: string): boolean {
    return typeof this.known.get(path)?.slug === 'string';
  }
}
