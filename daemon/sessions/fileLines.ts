import type { FileHandle } from 'node:fs/promises';

/** No line of a conversation is longer, in bytes. */
export const maxLine = 16 * 1024 * 1024;

const chunkSize = 256 * 1024;
const lineFeed = 0x0a;

export interface FileLine {
  readonly text: string;
  /** Where it ends in the file, with its line feed. */
  readonly end: number;
  /** It has its line feed. */
  readonly isEnded: boolean;
}

/**
 * The lines of a file as they are read, piece by piece, so that the process does other things meanwhile; up to the
 * first that is too long.
 */
export async function* readLines(file: FileHandle, signal?: AbortSignal): AsyncGenerator<FileLine> {
  const buffer = Buffer.allocUnsafe(chunkSize);
  let parts: Buffer[] = [];
  let held = 0;
  let position = 0;
  for (;;) {
    signal?.throwIfAborted();
    const { bytesRead } = await file.read(buffer, 0, chunkSize, position);
    if (bytesRead === 0) break;
    let start = 0;
    for (let at = indexOfFeed(buffer, 0, bytesRead); at !== -1; at = indexOfFeed(buffer, start, bytesRead)) {
      if (held + at - start > maxLine) return;
      const text = Buffer.concat([...parts, buffer.subarray(start, at)]).toString('utf8');
      start = at + 1;
      [parts, held] = [[], 0];
      yield { text, end: position + start, isEnded: true };
    }
    // The buffer is filled anew.
    parts.push(Buffer.from(buffer.subarray(start, bytesRead)));
    held += bytesRead - start;
    if (held > maxLine) return;
    position += bytesRead;
  }
  if (held > 0) yield { text: Buffer.concat(parts).toString('utf8'), end: position, isEnded: false };
}

function indexOfFeed(buffer: Buffer, from: number, until: number): number {
  const at = buffer.indexOf(lineFeed, from);
  return at < until ? at : -1;
}
