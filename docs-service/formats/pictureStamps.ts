import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { LruCache } from '../base/lruCache.ts';
import type { ContentFolder } from '../content/contentFolder.ts';

/** The number of pictures in the cache. */
const remembered = 20_000;

/**
 * Distinguishes the versions of a picture by its bytes, so that instances with the same files agree. An unchanged file
 * is not read again.
 */
export function createPictureStamps(
  folder: ContentFolder,
): (paths: readonly string[]) => Promise<readonly string[]> {
  const hashes = new LruCache<string>(remembered);
  const stampOf = async (path: string): Promise<string> => {
    const found = await stat(join(folder.root, path)).catch(() => undefined);
    if (found === undefined) return `${path}:gone`;
    const look = `${path}:${found.size}:${found.mtimeMs}`;
    const known = hashes.get(look);
    if (known !== undefined) return known;
    // A file outside the library is never shown.
    const stamp = await folder.read(path).then(
      (bytes) => `${path}:${createHash('sha256').update(bytes).digest('hex')}`,
      () => `${path}:none`,
    );
    hashes.set(look, stamp, 1);
    return stamp;
  };
  return async (paths) => {
    const stamps: string[] = [];
    for (const path of paths) stamps.push(await stampOf(path));
    return stamps;
  };
}
