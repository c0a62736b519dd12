/** The wait before a start after so many ends in a row, in ms. */
const firstWait = 1_000;
const longestWait = 60_000;
/** Who was there for so long has not ended in a row, in ms. */
const steadyAfter = 60_000;

/** When a server may be started again: at once the first time, then later and later. */
export class Restarts {
  readonly #now: () => number;
  #ends = 0;
  #notBefore = 0;
  #reason = '';

  constructor(now: () => number) {
    this.#now = now;
  }

  /** It has ended, or did not start; `reason` is a clause. */
  noteEnd(reason: string, startedAt?: number): void {
    if (startedAt !== undefined && this.#now() - startedAt >= steadyAfter) this.#ends = 0;
    this.#ends += 1;
    this.#reason = reason;
    const wait = this.#ends === 1 ? 0 : Math.min(longestWait, firstWait * 2 ** (this.#ends - 2));
    this.#notBefore = this.#now() + wait;
  }

  /** Why it is not started now, as a clause, and for how long; undefined where it is. */
  get delay(): { readonly reason: string; readonly text: string } | undefined {
    const wait = this.#notBefore - this.#now();
    return wait > 0
      ? { reason: this.#reason, text: `It is started again in ${secondsOf(wait)} at the earliest.` }
      : undefined;
  }
}

function secondsOf(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1_000);
  return seconds === 1 ? 'a second' : `${seconds} seconds`;
}
