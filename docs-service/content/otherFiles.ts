import { dirname } from 'node:path/posix';
import type { FolderScan } from './folderScan.ts';

/** The files of the content folder that are no documents, by their names: links and pictures may lead to them. */
export class OtherFiles {
  readonly #names = new Map<string, ReadonlySet<string>>();

  /** Returns whether something has changed. */
  note(scan: FolderScan): boolean {
    let hasChanged = false;
    for (const [folder, listing] of scan) {
      const before = this.#names.get(folder);
      const isSame =
        before?.size === listing?.others.length && listing?.others.every((name) => before?.has(name));
      if (isSame) continue;
      hasChanged = true;
      if (listing === undefined) this.#names.delete(folder);
      else this.#names.set(folder, new Set(listing.others));
    }
    return hasChanged;
  }

  /** Also if nobody looks into that place: hidden folders, and links to folders. */
  mayHave(path: string): boolean {
    const parts = path.split('/');
    if (parts.some((name) => name.startsWith('.') || name === 'node_modules')) return true;
    for (let at = path; at !== '.'; at = dirname(at)) if (this.#has(at)) return true;
    return false;
  }

  #has(path: string): boolean {
    const folder = dirname(path);
    const name = folder === '.' ? path : path.slice(folder.length + 1);
    return this.#names.get(folder === '.' ? '' : folder)?.has(name) ?? false;
  }
}
