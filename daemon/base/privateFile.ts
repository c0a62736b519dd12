import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makePrivateFolder } from './privateFolder.ts';

export interface PrivateFileOptions {
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
