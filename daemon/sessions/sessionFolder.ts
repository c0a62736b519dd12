import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { maxFile } from './sessionFile.ts';
import { isSessionId } from './sessionId.ts';

/** A file whose name and kind are those of a conversation. */
export interface FolderEntry {
  readonly id: string;
  readonly path: string;
  /** In bytes. */
  readonly size: number;
  /** In whole ms. */
  readonly updatedAt: number;
}

/** How many files are examined at the same time. */
const atOnce = 64;

export const fileEnding = '.jsonl';

/**
 * The conversations in the folder, newest first. Other names, links, pipes and files that are too large are skipped.
 */
export async function readFolder(folder: string): Promise<readonly FolderEntry[]> {
  const ids = await idsIn(folder);
  const entries: FolderEntry[] = [];
  for (let at = 0; at < ids.length; at += atOnce) {
    const found = await Promise.all(ids.slice(at, at + atOnce).map((id) => tryEntry(folder, id)));
    entries.push(...found.flatMap((entry) => entry ?? []));
  }
  return entries.sort(newestFirst);
}

export function newestFirst(
  one: Pick<FolderEntry, 'id' | 'updatedAt'>,
  other: Pick<FolderEntry, 'id' | 'updatedAt'>,
): number {
  return other.updatedAt - one.updatedAt || (one.id < other.id ? 1 : one.id > other.id ? -1 : 0);
}

async function idsIn(folder: string): Promise<readonly string[]> {
  const ids: string[] = [];
  try {
    for await (const { name } of await opendir(folder)) {
      const id = name.endsWith(fileEnding) ? name.slice(0, -fileEnding.length) : '';
      if (isSessionId(id)) ids.push(id);
    }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')))
      throw error;
  }
  return ids;
}

async function tryEntry(folder: string, id: string): Promise<FolderEntry | undefined> {
  const path = join(folder, `${id}${fileEnding}`);
  const stats = await lstat(path).catch(() => undefined);
  if (!stats?.isFile() || stats.size > maxFile) return undefined;
  return { id, path, size: stats.size, updatedAt: Math.round(stats.mtimeMs) };
}

/** The most bytes of all conversations together. */
const maxFolder = 200 * 1024 * 1024;
/** The most conversations that are kept, whatever their size. */
const maxCount = 10_000;
const day = 24 * 60 * 60 * 1000;

interface RetentionLimits {
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
