import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type * as z from 'zod/mini';

/** How much of a file one read takes. */
const pieceBytes = 64 * 1024;

/**
 * Opens a regular file for reading, with `flags` beside those that this takes. It never waits for anything else, such
 * as a pipe or a device. Some system files, such as `/proc/kmsg`, claim to be regular but have nothing to read yet:
 * reading them fails instead of waiting.
 * @throws {Error} if it cannot be opened or is not a regular file.
 */
export async function openRegularFile(path: string, flags = 0): Promise<FileHandle> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | flags);
  try {
    if (!(await file.stat()).isFile()) throw new Error('it is not a regular file');
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/**
 * Reads a regular file of at most `maxBytes` bytes.
 * @throws {Error} if it cannot be read, is not a regular file, or is larger.
 */
export async function readRegularBytes(path: string, maxBytes: number): Promise<Buffer> {
  const file = await openRegularFile(path);
  try {
    return await readOpenBytes(file, maxBytes);
  } finally {
    await file.close();
  }
}

/** Reads an open file from its beginning to its end. @throws {Error} if it cannot be read, or is larger. */
export async function readOpenBytes(file: FileHandle, maxBytes: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  // The reported size does not count: the file may grow while it is read.
  for (let size = 0; ; ) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(pieceBytes), 0, pieceBytes, null);
    if (bytesRead === 0) return Buffer.concat(pieces);
    size += bytesRead;
    if (size > maxBytes) throw new Error(`it has more than ${maxBytes / 1024 / 1024} MB`);
    pieces.push(buffer.subarray(0, bytesRead));
  }
}

/** The same, as text. */
export async function readRegularFile(path: string, maxBytes: number): Promise<string> {
  return (await readRegularBytes(path, maxBytes)).toString('utf8');
}

/** A file that a daemon has written. Undefined if there is none, or if it is not as a daemon writes it. */
export async function tryReadKept<T extends z.ZodMiniType>(
  path: string,
  schema: T,
  maxBytes: number,
): Promise<z.output<T> | undefined> {
  try {
    const parsed = schema.safeParse(JSON.parse(await readRegularFile(path, maxBytes)));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}
