import { LruCache } from '../base/lruCache.ts';
import { noSuchCollection, noSuchDocument } from '../base/text.ts';
import type { Document } from '../content/document.ts';
import { resolveLink, tryDecode } from '../content/links.ts';
import { isSlug, pathSlugs } from '../content/slug.ts';
import { type DocumentParts, readParts } from '../formats/renderJob.ts';
import type { Renditions } from '../formats/renditions.ts';
import { findCollection, openCollection } from '../library/libraryCollections.ts';
import { untilChange } from '../library/wholeIndex.ts';
import type { LibrarySearch } from '../meaning/librarySearch.ts';
import type { DocumentIndex } from '../search/documentIndex.ts';

/** The library as one reader sees it. */
export type McpLibrary = ReturnType<ReturnType<typeof createMcpLibrary>>;

/** How the addresses of the resources of documents begin. */
const resourceAddress = 'docs://doc/';

/** In characters: the longest address that leads to a document, of its page or its file. */
export const maxReference = 2_048;

/** In UTF-16 units of all cached texts, ready to be read in parts. */
const capacity = 16_000_000;

/** What readers share: cached texts, and the counts of collections. */
export function createMcpLibrary({
  index,
  search,
  renditions,
  addresses = [resourceAddress],
}: {
  readonly index: DocumentIndex;
  readonly search: LibrarySearch;
  readonly renditions: Pick<Renditions, 'parts'>;
  /** How the addresses of documents begin; people read them at the first one. */
  readonly addresses?: readonly [string, ...string[]];
}) {
  const texts = new LruCache<DocumentParts>(capacity);
  const counted = untilChange(index, () => countCollections(index));

  const parts = async (document: Document, signal: AbortSignal) => {
    const rendition = await renditions.parts(document);
    const known = texts.get(rendition.etag);
    if (known !== undefined) return known;
    const read = readParts((await rendition.cached()) ?? (await rendition.render(signal)));
    const { markdown, sections, blocks, lines } = read;
    const size = markdown.length + 100 * sections.length + 2 * (blocks.length + lines.length);
    texts.set(rendition.etag, read, size);
    return read;
  };
  return ({ drafts }: { readonly drafts: boolean }) => ({
    index,
    search,
    /** Where people read a document, or one of its sections. */
    addressOf: (slug: string, section?: string) =>
      `${addresses[0]}${encodeURIComponent(slug)}${section === undefined ? '' : `#${encodeURIComponent(section)}`}`,
    drafts,
    parts,
    /** By its slug, another name or an address of it, or the path of its file. */
    async read(reference: string): Promise<Document | undefined> {
      const name = tryNameIn(reference, [resourceAddress, ...addresses]) ?? reference;
      const document = await readNamed(index, name, drafts);
      return document?.draft && !drafts ? undefined : document;
    },
    collection: (name: string) => findCollection(index, name),
    /** In the order of their names, with the numbers of their documents without drafts. */
    countedCollections: counted,
  });
}

/** Undefined if it is no address of a document. */
function tryNameIn(reference: string, addresses: readonly string[]): string | undefined {
  const start = addresses.find((one) => reference.startsWith(one));
  if (start === undefined) return undefined;
  const [, name] = /^([^/?#]+?)(?:\.(?:md|html|pdf))?(?:[?#]|$)/.exec(reference.slice(start.length)) ?? [];
  return name && tryDecode(name);
}

async function readNamed(index: DocumentIndex, name: string, drafts: boolean): Promise<Document | undefined> {
  const document = isSlug(name) ? await index.read(name) : undefined;
  const place = resolveLink(name, '');
  if (document !== undefined || place.kind !== 'inside') return document;
  const atPath = await index.slugsOf(place.documents);
  // Two files may have the same long form, which drafts have as well.
  const { long } = pathSlugs(place.path);
  const slug =
    place.documents.map((path) => atPath.get(path)).find(Boolean) ??
    (await index.slugsNamed([long], { drafts })).get(long);
  return slug === undefined ? undefined : index.read(slug);
}

async function countCollections(index: DocumentIndex) {
  const counted: { readonly name: string; readonly title: string; readonly documents: number }[] = [];
  for (const definition of await index.collections()) {
    const { documents } = await openCollection(index, definition);
    counted.push({ name: definition.name, title: definition.title, documents: documents.length });
  }
  return counted;
}

/** A sentence about a missing document, with slugs that resemble the wrong one, or the end of a wrong address. */
export async function unknownDocument(library: McpLibrary, reference: string): Promise<string> {
  const wrong = reference.slice(0, 100);
  const [, name = ''] = /([^/?#]*?)(?:\.(?:md|markdown|html|pdf))?(?:[?#].*)?$/s.exec(wrong) ?? [];
  const near = name === '' ? [] : await library.index.nearSlugs(name, 3);
  return noSuchDocument(wrong, near, 'search_docs finds documents.');
}

/** A sentence about a missing collection, with the first existing ones. */
export async function unknownCollection(library: McpLibrary, name: string): Promise<string> {
  const names = (await library.index.collections()).map((one) => one.name);
  return noSuchCollection(name, names);
}
