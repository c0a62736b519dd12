import { folded } from '../../protocol/base/platform/folders.ts';
import { restPlace } from '../content/navigation.ts';
import { folderPagePaths, isFolderPage } from '../content/slug.ts';
import type { DocumentIndex, LocatedMetadata } from '../search/documentIndex.ts';
import { readAllDocuments, untilChange } from './wholeIndex.ts';

/** A folder of the library with what is directly in it, in the order of its author. */
export interface Folder {
  /** From the content folder, with a final slash; empty for the content folder itself. */
  readonly path: string;
  /** What a list of its program calls it, or the title of its page, or else its own name. */
  readonly name: string;
  readonly folders: readonly string[];
  /** With drafts, without hidden ones. */
  readonly documents: readonly LocatedMetadata[];
  readonly entries: readonly string[];
}

/** All folders that documents are in, or that are above one of those, by their paths. */
export type Folders = ReadonlyMap<string, Folder>;

/** The folders as the index has them now. They are worked out again only after the library has changed. */
export function readFolders(index: DocumentIndex): Promise<Folders> {
  const ask = async () => foldersOf(await readAllDocuments(index));
  const read = trees.get(index) ?? untilChange(index, ask);
  trees.set(index, read);
  return read();
}

const trees = new WeakMap<DocumentIndex, () => Promise<Folders>>();

interface Sortable {
  readonly path: string;
  readonly document?: LocatedMetadata;
  readonly isPage: boolean;
  readonly place: number;
  readonly order: number;
  readonly date: string;
  readonly title: string;
}

type OpenFolder = { readonly folders: string[]; readonly documents: LocatedMetadata[] };

function foldersOf(documents: readonly LocatedMetadata[]): Folders {
  const open = new Map<string, OpenFolder>();
  const at = (path: string) => {
    const known = open.get(path);
    if (known !== undefined) return known;
    const folder = { folders: [], documents: [] };
    open.set(path, folder);
    if (path !== '') at(parentOf(path)).folders.push(path);
    return folder;
  };
  at('');
  for (const document of documents)
    if (!document.hidden) at(parentOf(document.path)).documents.push(document);
  const found = new Map<string, Folder>();
  sortFolder('', open, found);
  return found;
}

const none = Number.POSITIVE_INFINITY;
const { compare } = new Intl.Collator('en', { numeric: true });

/** Sorts what is below a folder too. Returns what decides about its own place. */
function sortFolder(
  path: string,
  open: ReadonlyMap<string, OpenFolder>,
  found: Map<string, Folder>,
): Sortable {
  const { folders = [], documents = [] } = open.get(path) ?? {};
  const below = folders.map((one) => sortFolder(one, open, found));
  const inside = [...below, ...documents.map(sortableDocument)];
  const unlisted = inside.filter((one) => !one.isPage && one.place === restPlace && one.order === none);
  const isDated = unlisted.every(({ date }) => date !== '');
  const sorted = inside.sort((one, other) => compared(one, other, isDated));
  const page = documents.find((one) => isFolderPage(one.path));
  const said = documents.find(({ folder }) => folder !== undefined)?.folder;
  const own = folderName(path);
  const name = said?.label ?? page?.label ?? page?.title ?? own;
  found.set(path, {
    ...{ path, name, entries: sorted.map((one) => one.path) },
    folders: sorted.flatMap((one) => (one.document ? [] : [one.path])),
    documents: sorted.flatMap(({ document }) => document ?? []),
  });
  const [, number] = /^(\d{1,9})\s*[-_.]+\s*[^-_.\s\d]/.exec(own) ?? [];
  // A folder that has only folders is where the first of them is.
  const first = documents.length > 0 ? restPlace : Math.min(restPlace, ...below.map((one) => one.place));
  const place = said?.place ?? first;
  const order = said?.order ?? page?.order ?? (number ? Number(number) : none);
  return { path, isPage: false, place, order, date: '', title: said || page?.label ? name : own };
}

function sortableDocument(document: LocatedMetadata): Sortable {
  const { path, place = restPlace, order = none, date, title } = document;
  return { path, document, isPage: isFolderPage(path), place, order, date: date ?? '', title };
}

/** The page of the folder, what a list names, what has a number, and then the newest or by title. */
function compared(one: Sortable, other: Sortable, isDated: boolean): number {
  return (
    Number(other.isPage) - Number(one.isPage) ||
    difference(one.place, other.place) ||
    difference(one.order, other.order) ||
    (isDated ? compare(other.date, one.date) : 0) ||
    compare(one.title, other.title)
  );
}

function difference(one: number, other: number): number {
  return one === other ? 0 : one - other;
}

/** The documents of a folder and of those below it, in the order of the tree. */
export function* documentsIn(folders: Folders, path = ''): Generator<LocatedMetadata> {
  const folder = folders.get(path);
  const documents = new Map(folder?.documents.map((one) => [one.path, one]));
  for (const entry of folder?.entries ?? []) {
    const document = documents.get(entry);
    if (document === undefined) yield* documentsIn(folders, entry);
    else yield document;
  }
}

/** The folder that has everything: the content folder, or the only one below it that has documents. */
export function topFolder(folders: Folders): Folder | undefined {
  let top = folders.get('');
  for (let only = top; only !== undefined; only = folders.get(only.folders[0] ?? '')) {
    top = only;
    if (only.documents.length > 0 || only.folders.length !== 1) break;
  }
  return top;
}

/** Where the first page of the library may be. */
export function startPaths(folders: Folders): readonly string[] {
  return folderPagePaths(topFolder(folders)?.path.replace(/\/$/, '') ?? '');
}

/** Documents in the order of the tree, and then those that are not in it. */
export function inTreeOrder(
  folders: Folders,
  documents: readonly LocatedMetadata[],
): readonly LocatedMetadata[] {
  const places = new Map(flatTree(folders).map(({ slug }, at) => [slug, at]));
  const placeOf = ({ slug }: LocatedMetadata) => places.get(slug) ?? places.size;
  return documents.toSorted((one, other) => placeOf(one) - placeOf(other));
}

const flat = new WeakMap<Folders, readonly LocatedMetadata[]>();

function flatTree(folders: Folders): readonly LocatedMetadata[] {
  const known = flat.get(folders) ?? [...documentsIn(folders)];
  flat.set(folders, known);
  return known;
}

/** The documents before and after one in the order of the tree, without drafts. */
export function neighboursInTree(
  folders: Folders,
  slug: string,
): readonly [previous: LocatedMetadata | undefined, next: LocatedMetadata | undefined] {
  const documents = flatTree(folders);
  const at = documents.findIndex((one) => one.slug === slug);
  const isShown = ({ draft }: LocatedMetadata) => !draft;
  if (at < 0) return [undefined, undefined];
  return [documents.slice(0, at).findLast(isShown), documents.slice(at + 1).find(isShown)];
}

/** The folder at this path, or the only one whose path differs from it in case or the form of Unicode. */
export function folderAt(folders: Folders, path: string): Folder | undefined {
  const wanted = path.replace(/\/?$/, '/');
  const [folder, ...others] = [...folders.values()].filter((one) => folded(one.path) === folded(wanted));
  return folders.get(wanted) ?? (others.length === 0 ? folder : undefined);
}

export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/', path.length - 2) + 1);
}

/** The folders from the first below the content folder down to this one. */
export function folderSteps(path: string): readonly string[] {
  return path === '' ? [] : [...folderSteps(parentOf(path)), path];
}

export function folderName(path: string): string {
  return path.slice(parentOf(path).length, -1);
}
