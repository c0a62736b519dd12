import type { DaemonClient } from './daemon.ts';

/** While this many items wait, the daemon is not read. */
const many = 16;

/** Handles what the daemon sends one item at a time, and pauses the daemon while handling is slow. */
export class BackpressureQueue<T> {
  readonly #daemon: DaemonClient;
  readonly #handle: (item: T) => Promise<void>;
  readonly #waiting: T[] = [];
  #work: Promise<void> | undefined;

  constructor(daemon: DaemonClient, handle: (item: T) => Promise<void>) {
    this.#daemon = daemon;
    this.#handle = handle;
  }

  push(item: T): void {
    this.#waiting.push(item);
    if (this.#waiting.length === many) this.#daemon.pause();
    this.#work ??= this.#handleAll();
  }

  /** Settles when everything so far has been handled. */
  async settle(): Promise<void> {
    await this.#work;
  }

  async #handleAll(): Promise<void> {
    for (let item = this.#waiting.shift(); item !== undefined; item = this.#waiting.shift())
      await this.#handle(item);
    this.#work = undefined;
    this.#daemon.resume();
  }
}
