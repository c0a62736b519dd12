import { folded } from '../../../protocol/base/platform/folder.ts';
import { untilChange } from '../../library/wholeIndex.ts';
import type { DocumentIndex, LocatedMetadata } from '../../search/documentIndex.ts';

/** A folder of the library with what is directly in it. */
export interface Folder {
  /** From the content folder, with a final slash; empty for the content folder itself. */
  readonly path: string;
  /** The paths of its folders, as a person sorts them. */
  readonly folders: readonly string[];
  /** By title, with drafts. */
  readonly documents: readonly LocatedMetadata[];
}

/** All folders that documents are in, or that are above one of those, by their paths. */
export type Folders = ReadonlyMap<string, Folder>;

/** The folders as the index has them now. They are worked out again only after the library has changed. */
export function createFolders(index: DocumentIndex): () => Promise<Folders> {
  return untilChange(index, async () => foldersOf(await index.select({ order: 'title' })));
}

/** The folders of these documents, which keep their order. */
function foldersOf(documents: readonly LocatedMetadata[]): Folders {
  const found = new Map<string, { readonly folders: string[]; readonly documents: LocatedMetadata[] }>();
  const open = (path: string) => {
    const known = found.get(path);
    if (known !== undefined) return known;
    const folder = { folders: [], documents: [] };
    found.set(path, folder);
    if (path !== '') open(parentOf(path)).folders.push(path);
    return folder;
  };
  open('');
  for (const document of documents) open(parentOf(document.path)).documents.push(document);
  const { compare } = new Intl.Collator('en', { numeric: true });
  return new Map(
    [...found].map(([path, { folders, documents }]) => [
      path,
      { path, folders: folders.sort(compare), documents },
    ]),
  );
}

/** The folder at this path, or the only one whose path differs from it in case or the form of Unicode. */
export function folderAt(folders: Folders, path: string): Folder | undefined {
  const wanted = path.replace(/\/?$/, '/');
  const [folder, ...others] = [...folders.values()].filter((one) => folded(one.path) === folded(wanted));
  return folders.get(wanted) ?? (others.length === 0 ? folder : undefined);
}

/** The folder that a file or a folder is in. */
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
