import { randomUUID } from 'node:crypto';
import { chmod, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { thisPlatform } from './folders.ts';

/**
 * Writes a file that only the user can read: whole or not at all, even if it is written twice at the same time, here or
 * by another program. With `isSynced` it is on the disk before it has its name: for what must not be lost when the
 * machine stops.
 */
export async function writePrivateFile(
  path: string,
  text: string,
  { isSynced = false }: { readonly isSynced?: boolean } = {},
): Promise<void> {
  await makePrivateFolder(dirname(path));
  const beside = `${path}.${randomUUID()}`;
  try {
    const file = await open(beside, 'wx', 0o600);
    try {
      await file.writeFile(text);
      if (isSynced) await file.sync();
    } finally {
      await file.close();
    }
    await replaceFile(beside, path);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}

/** How long Windows may refuse to replace a file that a virus scanner or another program has open, in ms. */
const busyLimit = 1_000;
const busyCodes: readonly (string | undefined)[] = ['EPERM', 'EACCES', 'EBUSY'];

/** Gives a file or folder its name; a file that had the name is gone. */
export async function replaceFile(from: string, to: string): Promise<void> {
  const begun = performance.now();
  for (;;) {
    try {
      return await rename(from, to);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const isBusy = thisPlatform === 'win32' && busyCodes.includes(code);
      if (!isBusy || performance.now() - begun > busyLimit) throw error;
    }
    // Not at the same moment as another one that waits.
    await pause(5 + Math.random() * 20);
  }
}

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

/** Whether files have modes. On Windows a file has the permissions of its folder, and a profile is private. */
export const hasModes = thisPlatform !== 'win32';

/** Whether others may do any of this, by the mode of a file. */
export function isOpenToOthers({ mode }: { readonly mode: number }, what = 0o077): boolean {
  return hasModes && (mode & what) !== 0;
}

/** Takes a file, or with the mode 0o700 a folder, from all but its owner. */
export async function makePrivate(path: string, mode = 0o600): Promise<void> {
  if (hasModes) await chmod(path, mode);
}
