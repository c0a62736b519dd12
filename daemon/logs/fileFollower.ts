import { setTimeout as pause } from 'node:timers/promises';
import type { SplitLine } from '../../protocol/base/lineSplitter.ts';
import { type Follower, type FollowOptions, NoSourceError, systemCode } from './follower.ts';
import { OpenedLog, readFileState } from './logFile.ts';
import { createLogSplitter } from './logLines.ts';

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
  readonly #path: string;
  readonly #options: FollowOptions;
  readonly #splitter = createLogSplitter();
  #log: OpenedLog | undefined;
  #isTroubled = false;

  constructor(path: string, options: FollowOptions) {
    this.#path = path;
    this.#options = options;
  }

  async open(): Promise<void> {
    try {
      this.#log = await OpenedLog.open(this.#path);
      await this.#log.seekTail();
    } catch (error) {
      await this.#close();
      throw new NoSourceError(reasonOf(error), { cause: error });
    }
  }

  async follow(): Promise<string> {
    const { signal, pollEvery } = this.#options;
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
      if (!this.#isTroubled && !this.#options.signal.aborted)
        this.#options.lines.warn(
          `The log ${this.#path} ${reasonOf(error)}. It continues as soon as it can be read again.`,
        );
      this.#isTroubled = true;
    }
  }

  async #poll(): Promise<void> {
    const state = await tryFileState(this.#path);
    if (state && state.identity !== this.#log?.identity) await this.#goToNewFile();
    else if (state && state.size < (this.#log?.offset ?? 0)) this.#beginAnew();
    await this.#readOn();
  }

  /** The new file is opened first. If that fails, the old one stays open. */
  async #goToNewFile(): Promise<void> {
    const next = await OpenedLog.open(this.#path);
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
      if (this.#options.signal.aborted) return;
      for (const line of this.#splitter.push(piece)) this.#take(line);
    }
  }

  #endLine(): void {
    const line = this.#splitter.end();
    if (line) this.#take(line);
  }

  #take(line: SplitLine): void {
    if (!this.#options.signal.aborted) this.#options.lines.take(line);
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
