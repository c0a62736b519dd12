import type { FolderEntry } from './folderEntries.ts';

/** The most bytes of all conversations together. */
const maxFolder = 200 * 1024 * 1024;
/** The most conversations that are kept, whatever their size. */
const maxCount = 10_000;
const day = 24 * 60 * 60 * 1000;

export interface RetentionLimits {
  readonly days: number;
  /** In ms. */
  readonly now: number;
}

/**
 * Divides conversations into those that stay and those that are too old or have no room. `entries` are newest first.
 */
export function divideByAge(
  entries: readonly FolderEntry[],
  { days, now }: RetentionLimits,
): { readonly kept: readonly FolderEntry[]; readonly expired: readonly FolderEntry[] } {
  let bytes = 0;
  const first = entries.findIndex(({ size, updatedAt }, index) => {
    bytes += size;
    return index >= maxCount || bytes > maxFolder || now - updatedAt > days * day;
  });
  const at = first === -1 ? entries.length : first;
  return { kept: entries.slice(0, at), expired: entries.slice(at) };
}
