/** Lines a second that are told for long, and those that may come at once. */
export const linesPerSecond = 200;
export const burstLines = 400;

/**
 * A token bucket. Once it is empty it stays shut until a second's worth of lines has room, so that what was left out
 * is told in one line and not in one for every few.
 */
export class LineLimit {
  readonly #now: () => number;
  #room = burstLines;
  #at: number;
  #leftOut = 0;

  /** `now` in ms. */
  constructor(now: () => number) {
    this.#now = now;
    this.#at = now();
  }

  get leftOut(): number {
    return this.#leftOut;
  }

  /** Whether a line may be told; else it is counted. */
  take(): boolean {
    this.#refill();
    if (this.#leftOut > 0 || this.#room < 1) {
      this.#leftOut++;
      return false;
    }
    this.#room--;
    return true;
  }

  /** How many were left out, once there is room again; the count then begins anew. 0 until then. */
  reopen(): number {
    this.#refill();
    return this.#room >= linesPerSecond ? this.takeLeftOut() : 0;
  }

  takeLeftOut(): number {
    const count = this.#leftOut;
    this.#leftOut = 0;
    return count;
  }

  #refill(): void {
    const now = this.#now();
    const gained = (Math.max(0, now - this.#at) / 1000) * linesPerSecond;
    this.#room = Math.min(burstLines, this.#room + gained);
    this.#at = now;
  }
}
