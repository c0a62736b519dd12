import type { DocumentIndex } from '../index/documentIndex.ts';
import type { CollectionDefinition } from './collection.ts';
import { type ParsedCollection, parseCollectionFile } from './collectionFile.ts';
import { byPath, type ContentFolder, type FoundFile, isCollection } from './contentFolder.ts';
import type { ContentProblem } from './document.ts';

export interface Shelf {
  readonly collections: readonly CollectionDefinition[];
  readonly problems: readonly ContentProblem[];
}

type Lookup = Pick<DocumentIndex, 'metadataOf' | 'slugsNamed'>;

type Outcome = ParsedCollection | { readonly problem: string };

/** The files of `collections/`. There are few, and an unchanged file is not read again. */
export class CollectionShelf {
  readonly #folder: ContentFolder;
  readonly #read = new Map<string, { readonly found: FoundFile; readonly outcome: Outcome }>();

  constructor(folder: ContentFolder) {
    this.#folder = folder;
  }

  async load(index: Lookup): Promise<Shelf> {
    const listing = await this.#folder.list('collections');
    const files = (listing?.files ?? []).filter(({ path }) => isCollection(path)).sort(byPath);
    for (const path of this.#read.keys())
      if (!files.some((file) => file.path === path)) this.#read.delete(path);
    const problems: ContentProblem[] = [];
    const collections = new Map<string, CollectionDefinition>();
    for (const found of files) {
      const outcome = await this.#outcomeOf(found);
      if (outcome.problem !== null) problems.push({ path: found.path, message: outcome.problem });
      if (!('collection' in outcome)) continue;
      const { collection } = outcome;
      if (collections.has(collection.name))
        problems.push({
          path: found.path,
          message: `Another file has the name "${collection.name}" already.`,
        });
      else {
        const settled = await withSlugs(collection, index);
        collections.set(collection.name, settled);
        problems.push(...(await namedInVain(found.path, settled, index)));
      }
    }
    return { collections: [...collections.values()], problems };
  }

  async #outcomeOf(found: FoundFile): Promise<Outcome> {
    const before = this.#read.get(found.path);
    if (before !== undefined && before.found.size === found.size && before.found.modified === found.modified)
      return before.outcome;
    const outcome = await this.#folder.read(found.path).then(
      (bytes) => tryParse(found.path, bytes),
      (error: Error) => ({ problem: error.message }),
    );
    this.#read.set(found.path, { found, outcome });
    return outcome;
  }
}

function tryParse(path: string, bytes: Uint8Array): Outcome {
  try {
    return parseCollectionFile(path, bytes);
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

/** Names the documents by their slugs if the file names them by other addresses that lead to them. */
async function withSlugs(collection: CollectionDefinition, index: Lookup): Promise<CollectionDefinition> {
  const { docs } = collection;
  if (!('length' in docs)) return collection;
  const there = new Set((await index.metadataOf(docs)).map(({ slug }) => slug));
  const missing = docs.filter((name) => !there.has(name));
  if (missing.length === 0) return collection;
  const named = await index.slugsNamed(missing, { drafts: false });
  return { ...collection, docs: docs.map((name) => named.get(name) ?? name) };
}

/** At most this many slugs are named in a problem. */
const named = 10;

async function namedInVain(
  path: string,
  { docs, name }: CollectionDefinition,
  index: Lookup,
): Promise<readonly ContentProblem[]> {
  if (!('length' in docs)) return [];
  const there = new Map((await index.metadataOf(docs)).map((document) => [document.slug, document]));
  const missing = docs.filter((slug) => !there.has(slug));
  const drafts = docs.filter((slug) => there.get(slug)?.draft);
  const sentence = (slugs: readonly string[], what: string) =>
    slugs.length === 0 ? [] : [{ path, message: `The collection "${name}" names ${what}: ${some(slugs)}.` }];
  return [
    ...sentence(missing, 'documents that do not exist'),
    ...sentence(drafts, 'drafts, which are left out'),
  ];
}

function some(slugs: readonly string[]): string {
  const more = slugs.length - named;
  return slugs.slice(0, named).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
