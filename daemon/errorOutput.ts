import { Writable } from 'node:stream';

/** What waits for a reader who does not read, in bytes; beyond it lines are left out. */
const maxWaiting = 1024 * 1024;

/** Standard error as everything in the process writes to it: without secrets, and never a failure. */
export class ErrorOutput extends Writable {
  readonly #target: Writable;
  #redact = (text: string) => text;
  #leftOut = 0;

  constructor(target: Writable) {
    super({ decodeStrings: false });
    this.#target = target;
    // Whoever reads it may be gone before the daemon is.
    target.on('error', () => undefined);
  }

  /** From now on these secrets are known. */
  redactWith(redact: (text: string) => string): void {
    this.#redact = redact;
  }

  override _write(chunk: unknown, _encoding: BufferEncoding, done: () => void): void {
    try {
      if (this.#target.writableLength > maxWaiting) this.#leftOut++;
      else this.#target.write(this.#takeLeftOut() + this.#redact(String(chunk)));
    } catch {
      // There is nowhere left to say it.
    }
    done();
  }

  #takeLeftOut(): string {
    const count = this.#leftOut;
    this.#leftOut = 0;
    return count === 0 ? '' : `runnerd: … ${count} messages left out, as nobody read them\n`;
  }
}
