import type { Daemon } from '../daemon/daemon.ts';

/** Beyond this many things that wait to be taken, the daemon is not read. */
const many = 16;

/** Has what the daemon tells taken one after another, and holds the daemon back when that is slow. */
export class TakeQueue<T> {
  readonly #daemon: Daemon;
  readonly #take: (thing: T) => Promise<void>;
  readonly #waiting: T[] = [];
  #work: Promise<void> | undefined;

  constructor(daemon: Daemon, take: (thing: T) => Promise<void>) {
    this.#daemon = daemon;
    this.#take = take;
  }

  push(thing: T): void {
    this.#waiting.push(thing);
    if (this.#waiting.length === many) this.#daemon.pause();
    this.#work ??= this.#takeAll();
  }

  /** Settles once all that came was taken. */
  async taken(): Promise<void> {
    await this.#work;
  }

  async #takeAll(): Promise<void> {
    for (let thing = this.#waiting.shift(); thing !== undefined; thing = this.#waiting.shift())
      await this.#take(thing);
    this.#work = undefined;
    this.#daemon.resume();
  }
}
