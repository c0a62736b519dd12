import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** What is read of a file at once. */
const pieceBytes = 64 * 1024;

/**
 * A regular file, open for reading. What is none, such as a pipe or a device, is not waited for. Some files of the
 * system, such as `/proc/kmsg`, say that they are regular and then have nothing to read: that is an error, and no wait.
 * @throws {Error} also where it is no regular file.
 */
export async function openRegularFile(path: string): Promise<FileHandle> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    if (!(await file.stat()).isFile()) throw new Error('it is not a regular file');
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/**
 * The bytes of a regular file of at most so many.
 * @throws {Error} also where it is no regular file, or larger.
 */
export async function readRegularBytes(path: string, maxBytes: number): Promise<Buffer> {
  const file = await openRegularFile(path);
  try {
    const pieces: Buffer[] = [];
    // Not by the size that it says: it may grow while it is read.
    for (let size = 0; ; ) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(pieceBytes), 0, pieceBytes, null);
      if (bytesRead === 0) return Buffer.concat(pieces);
      size += bytesRead;
      if (size > maxBytes) throw new Error(`it has more than ${maxBytes / 1024 / 1024} MB`);
      pieces.push(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}

/** The same as text. */
export async function readRegularFile(path: string, maxBytes: number): Promise<string> {
  return (await readRegularBytes(path, maxBytes)).toString('utf8');
}
