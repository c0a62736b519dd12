import {
  type ContentFile,
  type ContentFolder,
  type ContentListing,
  isCollection,
} from '../content/contentFolder.ts';
import { nearestFirst } from '../content/slug.ts';
import type { IndexedFile } from '../search/documentIndex.ts';
import { isDue } from './indexedFile.ts';
import type { KnownFiles } from './knownFiles.ts';

const width = 8;

/** The content of the scanned folders; `undefined` for one that is gone. */
export type FolderScan = ReadonlyMap<string, ContentListing | undefined>;

/** Scans some folders, and all their subfolders that `descend` accepts. */
export async function scanFolders(
  folder: ContentFolder,
  starts: readonly string[],
  descend: (folder: string) => boolean,
): Promise<FolderScan> {
  const found = new Map<string, ContentListing | undefined>();
  const next = [...new Set(starts)];
  while (next.length > 0) {
    const now = next.splice(0, width);
    const listings = await Promise.all(now.map((path) => folder.list(path)));
    for (const [at, path] of now.entries()) {
      const listing = listings[at];
      found.set(path, listing);
      for (const child of listing?.folders ?? []) if (!found.has(child) && descend(child)) next.push(child);
    }
  }
  return found;
}

export interface FolderView {
  readonly known: KnownFiles;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Whether all files count as complete, however young they are. */
  readonly areAllSettled: boolean;
}

export interface Comparison {
  /** New or changed files, the nearest to the content folder first. */
  readonly changed: readonly ContentFile[];
  readonly gone: readonly IndexedFile[];
  /** Folders with files that are left for later, because they are still being written. */
  readonly unsettled: readonly string[];
}

/** A file that was written less than this many milliseconds ago may be incomplete. */
const settling = 150;

/** Whether a changed file is still being written. Other changes may belong to it, as in a `git pull`. */
export function hasUnsettled(scan: FolderScan, view: FolderView): boolean {
  return [...scan.values()].some((listing) =>
    listing?.files.some((file) => !isKnown(file, view) && !isSettled(file, view)),
  );
}

/** The changes in the scanned folders. It forgets folders that are gone, and records new ones. */
export function compareFolders(scan: FolderScan, view: FolderView): Comparison {
  const changed: ContentFile[] = [];
  const gone: IndexedFile[] = [];
  const unsettled = new Set<string>();
  for (const [folder, listing] of scan) {
    if (listing === undefined) {
      gone.push(...view.known.takeFolder(folder));
      continue;
    }
    gone.push(...goneFrom(folder, listing, view.known));
    for (const file of listing.files) {
      if (isCollection(file.path) || isKnown(file, view)) continue;
      if (isSettled(file, view)) changed.push(file);
      else unsettled.add(folder);
    }
  }
  return { changed: nearestFirst(changed), gone, unsettled: [...unsettled] };
}

function goneFrom(
  folder: string,
  { files, folders }: ContentListing,
  known: KnownFiles,
): readonly IndexedFile[] {
  known.addFolder(folder);
  const there = new Set(files.map(({ path }) => path));
  const stay = new Set(folders);
  const gone = known.foldersIn(folder).filter((one) => !stay.has(one));
  return [
    ...gone.flatMap((one) => known.takeFolder(one)),
    ...known.filesIn(folder).filter(({ path }) => !there.has(path)),
  ];
}

export function isKnown({ path, look }: ContentFile, { known, now }: FolderView): boolean {
  const before = known.get(path);
  return look !== '' && before?.look === look && !isDue(before, now);
}

function isSettled({ modified }: ContentFile, { now, areAllSettled }: FolderView): boolean {
  const age = now - modified;
  return areAllSettled || age >= settling || age < -settling;
}
