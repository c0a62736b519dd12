import { someOf } from '../base/text.ts';
import {
  type CollectionDefinition,
  type ParsedCollection,
  parseCollectionFile,
} from '../content/collectionFile.ts';
import { byPath, type ContentFile, type ContentFolder, isCollection } from '../content/contentFolder.ts';
import type { ContentProblem } from '../content/document.ts';
import { pagesIn } from '../content/navigation.ts';
import { documentEndings, folderPagePaths } from '../content/slug.ts';
import type { DocumentIndex, LocatedMetadata } from '../search/documentIndex.ts';
import { inOrder } from '../search/documentRecord.ts';
import { documentsIn, inTreeOrder, readFolders } from './folders.ts';
import { readAllDocuments } from './wholeIndex.ts';

/** A collection with its documents in order, drafts left out. */
export interface LibraryCollection {
  readonly definition: CollectionDefinition;
  readonly documents: readonly LocatedMetadata[];
}

export async function findCollection(
  index: DocumentIndex,
  name: string,
): Promise<LibraryCollection | undefined> {
  const definition = (await index.collections()).find((one) => one.name === name);
  return definition && openCollection(index, definition);
}

export async function openCollection(
  index: DocumentIndex,
  definition: CollectionDefinition,
): Promise<LibraryCollection> {
  const documents = await documentsOf(index, definition);
  return { definition, documents: documents.filter(({ draft }) => !draft) };
}

async function documentsOf(
  index: DocumentIndex,
  { docs, order }: CollectionDefinition,
): Promise<readonly LocatedMetadata[]> {
  if ('folder' in docs) {
    const inside = [...documentsIn(await readFolders(index), docs.folder)];
    return order === 'listed' || order === 'tree' ? inside : inOrder(inside, order);
  }
  const found =
    'length' in docs
      ? await index.metadataOf([...new Set(docs)])
      : (await index.select({ ...docs, order: '-date' })).filter(({ hidden }) => !hidden);
  if (order === 'tree') return inTreeOrder(await readFolders(index), found);
  return order === 'listed' ? found : inOrder(found, order);
}

/** Documents that a collection has and does not list, without drafts: whoever may read it can read them too. */
export async function hiddenOf(
  index: DocumentIndex,
  { docs }: CollectionDefinition,
): Promise<readonly LocatedMetadata[]> {
  if ('length' in docs) return [];
  const all =
    'folder' in docs
      ? (await readAllDocuments(index)).filter(({ path }) => path.startsWith(docs.folder))
      : await index.select({ ...docs, order: 'title' });
  return all.filter(({ hidden, draft }) => hidden && !draft);
}

export interface Shelf {
  readonly collections: readonly CollectionDefinition[];
  readonly problems: readonly ContentProblem[];
}

type Outcome = ParsedCollection | { readonly problem: string };

/** The files of `collections/`. There are few, and an unchanged file is not read again. */
export class CollectionShelf {
  readonly #read = new Map<string, { readonly look: string; readonly outcome: Outcome }>();

  constructor(private readonly folder: ContentFolder) {}

  async load(index: ListedIndex): Promise<Shelf> {
    const listing = await this.folder.list('collections');
    const files = (listing?.files ?? []).filter(({ path }) => isCollection(path)).sort(byPath);
    for (const path of this.#read.keys())
      if (!files.some((file) => file.path === path)) this.#read.delete(path);
    const problems: ContentProblem[] = [];
    const collections = new Map<string, CollectionDefinition>();
    for (const file of files) {
      const outcome = await this.#outcomeOf(file);
      if (outcome.problem !== null) problems.push({ path: file.path, message: outcome.problem });
      if (!('collection' in outcome)) continue;
      const { collection } = outcome;
      const message = `Another file has the name "${collection.name}" already.`;
      if (collections.has(collection.name)) problems.push({ path: file.path, message });
      else {
        const found = await lookUp(file.path, collection, this.#pagesOf(collection), index);
        collections.set(collection.name, found.collection);
        problems.push(...found.problems);
      }
    }
    return { collections: [...collections.values()], problems };
  }

  /** The paths that its list of pages names, if it has one. */
  #pagesOf({ summary }: CollectionDefinition): readonly string[] | undefined {
    if (summary === undefined) return undefined;
    return pagesIn(summary, new TextDecoder().decode(this.folder.readNow(summary)));
  }

  async #outcomeOf(found: ContentFile): Promise<Outcome> {
    const before = this.#read.get(found.path);
    if (before !== undefined && found.look !== '' && before.look === found.look) return before.outcome;
    const outcome = await this.folder.read(found.path).then(
      (bytes) => tryParse(found.path, bytes),
      (error: Error) => ({ problem: error.message }),
    );
    this.#read.set(found.path, { look: found.look, outcome });
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

type ListedIndex = Pick<DocumentIndex, 'list' | 'metadataOf' | 'slugsNamed' | 'slugsOf'>;

function filesOfPage(page: string): readonly string[] {
  return [...documentEndings.map((ending) => page + ending), ...folderPagePaths(page)];
}

/** At most this many slugs are named in a problem. */
const named = 10;

/** The collection with the slug of each document that its file calls by another name, and what it lists in vain. */
async function lookUp(
  path: string,
  collection: CollectionDefinition,
  pages: readonly string[] | undefined,
  index: ListedIndex,
): Promise<{ readonly collection: CollectionDefinition; readonly problems: readonly ContentProblem[] }> {
  const { docs, name, summary } = collection;
  if (pages !== undefined) {
    const found = await index.slugsOf(pages.flatMap(filesOfPage));
    const slugs = pages.flatMap((page) => {
      const file = filesOfPage(page).find((one) => found.has(one));
      return found.get(file ?? '') ?? [];
    });
    const message = `The collection "${name}" has the summary "${summary}", which lists no documents.`;
    const problems = slugs.length > 0 ? [] : [{ path, message }];
    return { collection: { ...collection, docs: slugs }, problems };
  }
  if ('folder' in docs && docs.folder !== '') {
    const { total } = await index.list({ ...docs, drafts: true, limit: 1, offset: 0 });
    const message = `The collection "${name}" has the path "${docs.folder}", but no document is there.`;
    return { collection, problems: total > 0 ? [] : [{ path, message }] };
  }
  if (!('length' in docs)) return { collection, problems: [] };
  const there = new Map((await index.metadataOf(docs)).map((document) => [document.slug, document]));
  const others = docs.filter((slug) => !there.has(slug));
  const slugs = others.length === 0 ? undefined : await index.slugsNamed(others, { drafts: false });
  const missing = others.filter((slug) => !slugs?.has(slug));
  const drafts = docs.filter((slug) => there.get(slug)?.draft);
  const sentence = (wrong: readonly string[], what: string) =>
    wrong.length === 0
      ? []
      : [{ path, message: `The collection "${name}" names ${what}: ${someOf(wrong, named)}.` }];
  return {
    collection: { ...collection, docs: docs.map((slug) => slugs?.get(slug) ?? slug) },
    problems: [
      ...sentence(missing, 'documents that do not exist'),
      ...sentence(drafts, 'drafts, which are left out'),
    ],
  };
}
