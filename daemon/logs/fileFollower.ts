import type { BigIntStats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { SplitLine } from '../../protocol/base/byteStreams.ts';
import {
  createLogSplitter,
  type Follower,
  type FollowOptions,
  NoSourceError,
  systemCode,
} from './logLines.ts';

/**
 * Follows a file by its name, without a process. It reads the last lines, then what is written, even after the file was
 * rotated, truncated, replaced or missing for a while.
 * @throws {NoSourceError} if the file cannot be read now.
 */
export async function followFile(path: string, options: FollowOptions): Promise<Follower> {
  const file = new FollowedFile(path, options);
  await file.open();
  return { source: path, ended: file.follow() };
}

class FollowedFile {
  readonly #splitter = createLogSplitter();
  #log: OpenedLog | undefined;
  #isTroubled = false;

  constructor(
    private readonly path: string,
    private readonly options: FollowOptions,
  ) {}

  async open(): Promise<void> {
    try {
      this.#log = await OpenedLog.open(this.path);
      await this.#log.seekTail();
    } catch (error) {
      await this.#close();
      throw new NoSourceError(reasonOf(error), { cause: error });
    }
  }

  async follow(): Promise<string> {
    const { signal, pollEvery } = this.options;
    while (!signal.aborted) {
      await this.#tryPoll();
      // This rejects at the abort, which also ends the loop.
      await pause(pollEvery, undefined, { signal }).catch(() => undefined);
    }
    await this.#close();
    return 'was stopped';
  }

  /** Reports trouble once, until it is over. Meanwhile the open file is still read. */
  async #tryPoll(): Promise<void> {
    try {
      await this.#poll();
      this.#isTroubled = false;
    } catch (error) {
      if (!this.#isTroubled && !this.options.signal.aborted)
        this.options.lines.warn(
          `The log ${this.path} ${reasonOf(error)}. It continues as soon as it can be read again.`,
        );
      this.#isTroubled = true;
    }
  }

  async #poll(): Promise<void> {
    const state = await tryFileState(this.path);
    if (state && state.identity !== this.#log?.identity) await this.#goToNewFile();
    else if (state && state.size < (this.#log?.offset ?? 0)) this.#beginAnew();
    await this.#readOn();
  }

  /** The new file is opened first. If that fails, the old one stays open. */
  async #goToNewFile(): Promise<void> {
    const next = await OpenedLog.open(this.path);
    try {
      await this.#readOn();
    } finally {
      await this.#close();
      this.#log = next;
    }
    this.#endLine();
  }

  #beginAnew(): void {
    this.#endLine();
    this.#log?.rewind();
  }

  async #readOn(): Promise<void> {
    if (!this.#log) return;
    for await (const piece of this.#log.pieces()) {
      if (this.options.signal.aborted) return;
      for (const line of this.#splitter.push(piece)) this.#take(line);
    }
  }

  #endLine(): void {
    const line = this.#splitter.end();
    if (line) this.#take(line);
  }

  #take(line: SplitLine): void {
    if (!this.options.signal.aborted) this.options.lines.take(line);
  }

  async #close(): Promise<void> {
    const log = this.#log;
    this.#log = undefined;
    await log?.close().catch(() => undefined);
  }
}

/** Undefined while no file has the name: a rotation removes the old file before it creates the new one. */
async function tryFileState(path: string) {
  try {
    return await readFileState(path);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof NoSourceError) return error.message;
  const code = systemCode(error);
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'does not exist';
  return code === 'EACCES' || code === 'EPERM' ? 'may not be read by this user' : `cannot be read (${code})`;
}

/** How many bytes one read takes. */
const pieceBytes = 64 * 1024;

interface FileState {
  /** Equal as long as the name refers to the same file. */
  readonly identity: string;
  readonly size: number;
}

/**
 * The file that has the name now.
 * @throws {NoSourceError} if it is not a file: opening a pipe would block.
 */
async function readFileState(path: string): Promise<FileState> {
  const found = await stat(path, { bigint: true });
  if (!found.isFile()) throw new NoSourceError('is not a file');
  return { identity: identityOf(found), size: Number(found.size) };
}

/** NTFS counts in the number how often it was used. Birth times are not kept by every file system. */
function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

/** An open log. It stays the same file when another file takes its name. */
class OpenedLog {
  readonly #piece = Buffer.alloc(pieceBytes);
  #offset = 0;
  /** Whether the next bytes are the rest of a line whose beginning was not read. */
  #isInsideLine = false;

  private constructor(
    private readonly handle: FileHandle,
    readonly identity: string,
  ) {}

  static async open(path: string): Promise<OpenedLog> {
    await readFileState(path);
    const handle = await open(path, 'r');
    // Asks the handle, because another file may have the name by now.
    const opened = await handle.stat({ bigint: true });
    return new OpenedLog(handle, identityOf(opened));
  }

  /** The number of bytes read or skipped. */
  get offset(): number {
    return this.#offset;
  }

  rewind(): void {
    this.#offset = 0;
    this.#isInsideLine = false;
  }

  /** Skips all but the last lines. */
  async seekTail(): Promise<void> {
    const { size } = await this.handle.stat();
    // One extra byte shows whether a line ends just before.
    const from = Math.max(0, size - tailBytes - 1);
    const bytes = await this.#read(Buffer.alloc(size - from), from);
    const start = tailStart(bytes, { isWhole: from === 0 });
    this.#isInsideLine = start === undefined;
    this.#offset = from + (start ?? bytes.length);
  }

  /** What was written since then, in pieces. Each piece is valid until the next one is requested. */
  async *pieces(): AsyncGenerator<Buffer> {
    for (;;) {
      const piece = await this.#read(this.#piece, this.#offset);
      if (piece.length === 0) return;
      this.#offset += piece.length;
      yield this.#fromLineStart(piece);
    }
  }

  async close(): Promise<void> {
    await this.handle.close();
  }

  async #read(buffer: Buffer, from: number): Promise<Buffer> {
    const { bytesRead } = await this.handle.read(buffer, 0, buffer.length, from);
    return buffer.subarray(0, bytesRead);
  }

  #fromLineStart(piece: Buffer): Buffer {
    if (!this.#isInsideLine) return piece;
    const start = piece.indexOf('\n') + 1;
    this.#isInsideLine = start === 0;
    return piece.subarray(start === 0 ? piece.length : start);
  }
}

/** How much of an existing log is shown at the start. */
export const tailBytes = 64 * 1024;
export const tailLines = 100;

const newline = 0x0a;

/**
 * The index at which the last lines begin in the end of a file. `isWhole` means that the bytes are the whole file;
 * otherwise the first line may be the rest of a line, so it is left out. Undefined if no line begins in the bytes.
 */
export function tailStart(bytes: Buffer, { isWhole }: { readonly isWhole: boolean }): number | undefined {
  const first = isWhole ? 0 : bytes.indexOf(newline) + 1;
  if (!isWhole && first === 0) return undefined;
  let start = bytes.at(-1) === newline ? bytes.length - 1 : bytes.length;
  for (let lines = 0; lines < tailLines; lines++) {
    // A search from -1 would start at the end.
    const before = start === 0 ? -1 : bytes.lastIndexOf(newline, start - 1);
    if (before < first) return first;
    start = before;
  }
  return start + 1;
}
