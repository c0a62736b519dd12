import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/**
 * The text of a regular file of at most so many bytes. What is none, such as a pipe or a device, is not waited for and
 * never read.
 * @throws {Error} also where it is no regular file, or larger.
 */
export async function readRegularFile(path: string, maxBytes: number): Promise<string> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    if (!(await file.stat()).isFile()) throw new Error(`${path} is not a regular file.`);
    // Not by the size that it says: it may grow while it is read. One byte more than the limit tells.
    const buffer = Buffer.alloc(maxBytes + 1);
    let size = 0;
    for (let read = -1; read !== 0 && size < buffer.length; size += read)
      ({ bytesRead: read } = await file.read(buffer, size, buffer.length - size, null));
    if (size > maxBytes) throw new Error(`${path} is larger than ${maxBytes} bytes.`);
    return buffer.toString('utf8', 0, size);
  } finally {
    await file.close();
  }
}
