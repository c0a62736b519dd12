import { GuardedFetchError } from './guardedFetchError.ts';

export interface FetchQueueOptions {
  /** How many may run at once, each for another host. */
  readonly lanes: number;
  /** How many may wait. */
  readonly length: number;
}

interface Waiter {
  readonly host: string;
  readonly start: () => void;
}

/** Lets one request at a time go to each host, and this many in all. */
export class FetchQueue {
  readonly #options: FetchQueueOptions;
  readonly #busy = new Set<string>();
  readonly #waiting = new Set<Waiter>();

  constructor(options: FetchQueueOptions) {
    this.#options = options;
  }

  /** Resolves when its turn comes, with a function that ends the turn. Rejects if too many wait, or on timeout. */
  async enter(host: string, signal: AbortSignal): Promise<() => void> {
    if (!this.#isFree(host)) await this.#wait(host, signal);
    else this.#busy.add(host);
    return () => this.#leave(host);
  }

  #isFree(host: string): boolean {
    return this.#busy.size < this.#options.lanes && !this.#busy.has(host);
  }

  #wait(host: string, signal: AbortSignal): Promise<void> {
    if (this.#waiting.size >= this.#options.length)
      throw new GuardedFetchError('busy', 'Too many sign-ins are in progress. Try again in a moment.');
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        this.#waiting.delete(waiter);
        reject(signal.reason);
      };
      const start = () => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const waiter = { host, start };
      signal.addEventListener('abort', giveUp, { once: true });
      this.#waiting.add(waiter);
    });
  }

  #leave(host: string): void {
    this.#busy.delete(host);
    for (const waiter of this.#waiting) {
      if (!this.#isFree(waiter.host)) continue;
      this.#waiting.delete(waiter);
      this.#busy.add(waiter.host);
      waiter.start();
    }
  }
}
