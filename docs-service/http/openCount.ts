import type { FastifyReply } from 'fastify';
import { HttpProblem, unavailable } from './problems.ts';

interface OpenCountOptions {
  /** What is counted, in the plural: `downloads`. */
  readonly what: string;
  /** What one caller is: `token` or `address`. */
  readonly one: string;
  readonly maxOfOne: number;
  readonly maxOfAll: number;
}

/** Bounds what is open at once: for each caller, so that others get theirs, and in all. */
export class OpenCount {
  readonly #options: OpenCountOptions;
  readonly #open = new Map<string, number>();
  #all = 0;

  constructor(options: OpenCountOptions) {
    this.#options = options;
  }

  /** Returns a function that counts one less. Throws HttpProblem if there are too many. */
  add(caller: string): () => void {
    const { what, one, maxOfOne, maxOfAll } = this.#options;
    const count = this.#open.get(caller) ?? 0;
    const message = `One ${one} can have at most ${maxOfOne} ${what} at once. End one of the others.`;
    if (count >= maxOfOne) throw new HttpProblem(429, message, { headers: { 'retry-after': '5' } });
    if (this.#all >= maxOfAll) throw unavailable(`Too many ${what} are in progress. Try again in a moment.`);
    this.#open.set(caller, count + 1);
    this.#all += 1;
    return () => this.#remove(caller);
  }

  #remove(caller: string): void {
    const count = (this.#open.get(caller) ?? 0) - 1;
    if (count > 0) this.#open.set(caller, count);
    else this.#open.delete(caller);
    this.#all -= 1;
  }
}

/** Also if the client has gone before there was anything to send. */
export function whenClosed({ raw }: FastifyReply, work: () => void): void {
  if (raw.destroyed) work();
  else raw.once('close', work);
}
