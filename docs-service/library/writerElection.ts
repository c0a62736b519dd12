import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { linkedSignal } from '../../protocol/base/abort.ts';
import type { WriterLease } from '../search/documentIndex.ts';
import type { Library } from './library.ts';

interface WriterElectionOptions {
  /** Undefined if another instance is the writer. */
  readonly tryBecomeWriter: () => Promise<WriterLease | undefined>;
  readonly openLibrary: () => Promise<Library>;
  readonly onError: (error: Error) => void;
}

/** Milliseconds between two tries to become the writer; another instance takes over within 10 s. */
const period = 3_000;

/** Of all instances on one database, one at a time follows the files. This waits for its turn, again and again. */
export class WriterElection {
  readonly #options: WriterElectionOptions;
  readonly #ending = new AbortController();
  #library: Library | undefined;
  #running: Promise<void> | undefined;

  constructor(options: WriterElectionOptions) {
    this.#options = options;
  }

  /** Resolves once this instance has scanned all files, or another one is the writer. */
  start(): Promise<void> {
    return new Promise((resolve) => {
      this.#running = this.#takeTurns(resolve);
    });
  }

  /** Undefined while another instance is the writer. */
  get library(): Library | undefined {
    return this.#library;
  }

  async close(): Promise<void> {
    this.#ending.abort();
    await this.#running;
  }

  async #takeTurns(onFirst: () => void): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      try {
        const lease = await this.#options.tryBecomeWriter();
        if (lease !== undefined) await this.#write(lease, onFirst);
      } catch (error) {
        this.#options.onError(error as Error);
      }
      onFirst();
      await wait(period, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Follows the files until the lease is lost or the service ends. */
  async #write(lease: WriterLease, onFirst: () => void): Promise<void> {
    const over = linkedSignal(lease.lost, this.#ending.signal);
    try {
      this.#library = await this.#options.openLibrary();
      const isOver = over.signal.aborted ? Promise.resolve() : once(over.signal, 'abort');
      await Promise.race([this.#library.start().then(onFirst), isOver]);
      await isOver;
    } finally {
      over.unlink();
      await this.#library?.close();
      this.#library = undefined;
      await lease.dispose();
    }
  }
}
