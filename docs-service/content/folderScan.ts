import type { ContentFolder, FoundFolder } from './contentFolder.ts';

/** How many folders are listed at once. */
const width = 8;

/** The content of the scanned folders; `undefined` for one that is gone. */
export type FolderScan = ReadonlyMap<string, FoundFolder | undefined>;

/** Scans some folders, and all their subfolders that `descend` accepts. */
export async function scanFolders(
  folder: ContentFolder,
  starts: readonly string[],
  descend: (folder: string) => boolean,
): Promise<FolderScan> {
  const found = new Map<string, FoundFolder | undefined>();
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
