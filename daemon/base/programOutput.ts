/** Escape sequences of terminals: CSI, OSC and titles, and the short ones. The line may be cut within one. */
const escapes =
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?/g;

/** A line that an editor can show: without escape sequences and control characters, and with tabs as blanks. */
export function plainText(line: string): string {
  return line
    .replace(escapes, '')
    .replace(/[\t\r]/g, ' ')
    .replace(/[\x00-\x1f\x7f-\x9f]/g, '');
}

/** The lines a second that may pass over a long time, and the lines that may pass at once. */
export const linesPerSecond = 200;
export const burstLines = 400;

/**
 * A token bucket. Once it is empty it stays closed until there is room for the lines of a second. So one line reports
 * everything that was left out, and not one line for every few.
 */
export class LineLimit {
  #room = burstLines;
  #at: number;
  #leftOut = 0;

  /** `now` in ms. */
  constructor(private readonly now: () => number) {
    this.#at = now();
  }

  get leftOut(): number {
    return this.#leftOut;
  }

  /** Whether a line may pass. If not, it is counted. */
  take(): boolean {
    this.#refill();
    if (this.#leftOut > 0 || this.#room < 1) {
      this.#leftOut++;
      return false;
    }
    this.#room--;
    return true;
  }

  /** The number of lines left out, once there is room again; this resets the count. 0 until then. */
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
    const now = this.now();
    const gained = (Math.max(0, now - this.#at) / 1000) * linesPerSecond;
    this.#room = Math.min(burstLines, this.#room + gained);
    this.#at = now;
  }
}
