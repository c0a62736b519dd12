import type { FileHandle } from 'node:fs/promises';

/** The length of the longest line of a conversation, in bytes. */
export const maxLine = 16 * 1024 * 1024;

const chunkSize = 256 * 1024;
const lineFeed = 0x0a;

export interface FileLine {
  readonly text: string;
  /** The offset in the file at which the line ends, after its line feed. */
  readonly end: number;
  /** Whether the line has its line feed. */
  readonly isEnded: boolean;
}

/**
 * Reads the lines of a file piece by piece, so that the process can do other things in between. It stops at the first
 * line that is too long.
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
    // The rest is copied, because the buffer is reused.
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
