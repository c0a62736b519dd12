import type { BigIntStats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { NoSourceError } from './follower.ts';
import { tailBytes, tailStart } from './tailStart.ts';

/** Bytes that are read at once. */
const pieceBytes = 64 * 1024;

export interface FileState {
  /** The same as long as the name stands for the same file. */
  readonly identity: string;
  readonly size: number;
}

/**
 * What stands under the name now.
 * @throws {NoSourceError} where it is no file; a pipe would hold whoever opens it.
 */
export async function readFileState(path: string, platform: NodeJS.Platform): Promise<FileState> {
  const found = await stat(path, { bigint: true });
  if (!found.isFile()) throw new NoSourceError('is not a file');
  return { identity: identityOf(found, platform), size: Number(found.size) };
}

/** Windows may use an inode's number again; elsewhere a birth time is not kept by every file system. */
function identityOf({ dev, ino, birthtimeMs }: BigIntStats, platform: NodeJS.Platform): string {
  return platform === 'win32' ? `${dev}:${ino}:${birthtimeMs}` : `${dev}:${ino}`;
}

/** A log that is open: it stays the same file when its name goes to another one. */
export class OpenedLog {
  readonly identity: string;
  readonly #handle: FileHandle;
  readonly #piece = Buffer.alloc(pieceBytes);
  #offset = 0;
  /** Whether what comes is the rest of a line whose beginning was not read. */
  #isInsideLine = false;

  private constructor(handle: FileHandle, identity: string) {
    this.#handle = handle;
    this.identity = identity;
  }

  static async open(path: string, platform: NodeJS.Platform): Promise<OpenedLog> {
    await readFileState(path, platform);
    const handle = await open(path, 'r');
    // Of the handle: the name may have gone to another file meanwhile.
    const opened = await handle.stat({ bigint: true });
    return new OpenedLog(handle, identityOf(opened, platform));
  }

  /** Bytes that were read, or passed over. */
  get offset(): number {
    return this.#offset;
  }

  rewind(): void {
    this.#offset = 0;
    this.#isInsideLine = false;
  }

  /** Passes over all but the last lines. */
  async seekTail(): Promise<void> {
    const { size } = await this.#handle.stat();
    // One byte more shows whether a line ends just before.
    const from = Math.max(0, size - tailBytes - 1);
    const bytes = await this.#read(Buffer.alloc(size - from), from);
    const start = tailStart(bytes, { isWhole: from === 0 });
    this.#isInsideLine = start === undefined;
    this.#offset = from + (start ?? bytes.length);
  }

  /** What was written since, in pieces; each is good until the next one is asked for. */
  async *pieces(): AsyncGenerator<Buffer> {
    for (;;) {
      const piece = await this.#read(this.#piece, this.#offset);
      if (piece.length === 0) return;
      this.#offset += piece.length;
      yield this.#fromLineStart(piece);
    }
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  async #read(buffer: Buffer, from: number): Promise<Buffer> {
    const { bytesRead } = await this.#handle.read(buffer, 0, buffer.length, from);
    return buffer.subarray(0, bytesRead);
  }

  #fromLineStart(piece: Buffer): Buffer {
    if (!this.#isInsideLine) return piece;
    const start = piece.indexOf('\n') + 1;
    this.#isInsideLine = start === 0;
    return piece.subarray(start === 0 ? piece.length : start);
  }
}
