import { randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type * as z from 'zod/mini';
import { readRegularFile } from './regularFile.ts';

interface PrivateFileOptions {
  /** It is on the disk before it has its name: for what must not be lost when the machine stops. */
  readonly isSynced?: boolean;
}

/**
 * Writes a file that only the user can read: whole or not at all, even if it is written twice at the same time, here or
 * by another daemon.
 */
export async function writePrivateFile(
  path: string,
  text: string,
  { isSynced = false }: PrivateFileOptions = {},
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
    await rename(beside, path);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
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

interface KeptJsonOptions<T extends z.ZodMiniType> {
  readonly schema: T;
  readonly maxBytes: number;
}

/** A file that a daemon has written. Undefined if there is none, or if it is not as a daemon writes it. */
export async function tryReadKept<T extends z.ZodMiniType>(
  path: string,
  { schema, maxBytes }: KeptJsonOptions<T>,
): Promise<z.output<T> | undefined> {
  try {
    const parsed = schema.safeParse(JSON.parse(await readRegularFile(path, maxBytes)));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}
