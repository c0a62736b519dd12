export interface TurnQueueOptions {
  /** How many may run at once, each with another key. */
  readonly lanes: number;
  /** How many may wait. */
  readonly length: number;
}

interface Waiter {
  readonly key: string;
  readonly start: () => void;
}

/** Lets one at a time of each key run, such as a fetch from a host, and this many in all. */
export class TurnQueue {
  readonly #busy = new Set<string>();
  readonly #waiting = new Set<Waiter>();

  constructor(private readonly options: TurnQueueOptions) {}

  /**
   * Resolves when its turn comes, with a function that ends the turn; undefined if too many wait. Rejects on abort.
   */
  async tryEnter(key: string, signal?: AbortSignal): Promise<(() => void) | undefined> {
    if (this.#isFree(key)) this.#busy.add(key);
    else if (this.#waiting.size >= this.options.length) return undefined;
    else await this.#wait(key, signal);
    return () => this.#leave(key);
  }

  #isFree(key: string): boolean {
    return this.#busy.size < this.options.lanes && !this.#busy.has(key);
  }

  #wait(key: string, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        this.#waiting.delete(waiter);
        reject(signal?.reason);
      };
      const start = () => {
        signal?.removeEventListener('abort', giveUp);
        resolve();
      };
      const waiter = { key, start };
      signal?.addEventListener('abort', giveUp, { once: true });
      this.#waiting.add(waiter);
    });
  }

  #leave(key: string): void {
    this.#busy.delete(key);
    for (const waiter of this.#waiting) {
      if (!this.#isFree(waiter.key)) continue;
      this.#waiting.delete(waiter);
      this.#busy.add(waiter.key);
      waiter.start();
    }
  }
}
