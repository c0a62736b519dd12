import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a folder that only the user can read, and the folders above it. Each is made by itself: where a file system
 * answers ENOENT, as `/proc` does, Node's recursive `mkdir` never ends.
 */
export async function makePrivateFolder(path: string): Promise<void> {
  try {
    await make(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    for (const above of foldersAbove(path)) await make(above).catch(() => undefined);
    await make(path);
  }
}

async function make(path: string): Promise<void> {
  await mkdir(path, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}

/** The outermost first. */
function foldersAbove(path: string): readonly string[] {
  const above = dirname(path);
  return above === path ? [] : [...foldersAbove(above), above];
}
