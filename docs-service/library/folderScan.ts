import {
  type ContentFile,
  type ContentFolder,
  type ContentListing,
  isCollection,
} from '../content/contentFolder.ts';
import type { ContentProblem } from '../content/document.ts';
import { nearestFirst } from '../content/slug.ts';
import type { IndexedFile } from '../search/documentIndex.ts';
import { isDue } from './indexedFile.ts';
import type { KnownFiles } from './knownFiles.ts';

const width = 8;

/** The content of the scanned folders; `undefined` for one that is gone. */
export type FolderScan = ReadonlyMap<string, ContentListing | undefined>;

/** Milliseconds for which changes wait for a file that is being written. */
const maxWait = 2_000;

/** Scans the content folder, and says what has changed in it. */
export class FolderScanner {
  readonly #problems = new Map<string, readonly ContentProblem[]>();
  /** The last full scan found nothing. */
  #wasEmpty = false;
  #waitingSince: number | undefined;

  constructor(
    private readonly folder: ContentFolder,
    private readonly known: KnownFiles,
  ) {}

  /** What is wrong with the folders. */
  get problems(): readonly ContentProblem[] {
    return [...this.#problems.values()].flat();
  }

  /** Scans these folders with the new ones below them, or all. Throws if the content folder seems to be away. */
  async scan(folders?: readonly string[]): Promise<FolderScan> {
    const descend = (child: string) => folders === undefined || !this.known.hasFolder(child);
    const scan = await scanFolders(this.folder, folders ?? [''], descend);
    this.#checkThere(scan, folders === undefined);
    return scan;
  }

  /** A content folder that is gone or empty because it is not mounted is not an empty library. */
  #checkThere(scan: FolderScan, isAll: boolean): void {
    if (!scan.has('')) return;
    const root = scan.get('');
    if (root === undefined)
      throw new Error('The content folder is gone. The documents are served as they were until it is back.');
    const isEmpty = root.isEmpty && this.known.hasFiles();
    const isConfirmed = isAll && this.#wasEmpty;
    if (isAll) this.#wasEmpty = isEmpty;
    if (isEmpty && !isConfirmed)
      throw new Error(
        'The content folder is empty. The documents are served as they were, unless the next full scan also finds it empty.',
      );
  }

  /**
   * Whether a changed file is still being written. Then all changes wait for it, up to a limit: they may belong to it,
   * as in a `git pull`.
   */
  waitsFor(scan: FolderScan, view: FolderView): boolean {
    const isUnsettled = (file: ContentFile) => !isKnown(file, view) && !isSettled(file, view);
    if (![...scan.values()].some((listing) => listing?.files.some(isUnsettled)))
      this.#waitingSince = undefined;
    else this.#waitingSince ??= view.now;
    return this.#waitingSince !== undefined && view.now - this.#waitingSince < maxWait;
  }

  compare(scan: FolderScan, view: FolderView): Comparison {
    for (const [folder, listing] of scan) this.#problems.set(folder, listing?.problems ?? []);
    const comparison = compareFolders(scan, view);
    for (const folder of this.#problems.keys())
      if (!this.known.hasFolder(folder)) this.#problems.delete(folder);
    return comparison;
  }
}

/** Scans some folders, and all their subfolders that `descend` accepts. */
async function scanFolders(
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

interface Comparison {
  /** New or changed files, the nearest to the content folder first. */
  readonly changed: readonly ContentFile[];
  readonly gone: readonly IndexedFile[];
  /** Folders with files that are left for later, because they are still being written. */
  readonly unsettled: readonly string[];
}

/** A file that was written less than this many milliseconds ago may be incomplete. */
const settling = 150;

/** The changes in the scanned folders. It forgets folders that are gone, and records new ones. */
function compareFolders(scan: FolderScan, view: FolderView): Comparison {
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
