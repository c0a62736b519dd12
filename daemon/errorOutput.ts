import { Writable } from 'node:stream';

/** How much may wait for a reader that does not read, in bytes. Beyond it lines are left out. */
const maxWaiting = 1024 * 1024;

/** Standard error, through which everything in the process writes: without secrets, and a write never fails. */
export class ErrorOutput extends Writable {
  readonly #target: Writable;
  #redact = (text: string) => text;
  #leftOut = 0;

  constructor(target: Writable) {
    super({ decodeStrings: false });
    this.#target = target;
    // The reader may be gone before the daemon ends.
    target.on('error', () => undefined);
  }

  /** From now on this removes the secrets. */
  redactWith(redact: (text: string) => string): void {
    this.#redact = redact;
  }

  override _write(chunk: unknown, _encoding: BufferEncoding, done: () => void): void {
    try {
      if (this.#target.writableLength > maxWaiting) this.#leftOut++;
      else this.#target.write(this.#takeLeftOut() + this.#redact(String(chunk)));
    } catch {
      // There is nowhere left to report it.
    }
    done();
  }

  #takeLeftOut(): string {
    const count = this.#leftOut;
    this.#leftOut = 0;
    return count === 0 ? '' : `runnerd: … ${count} messages left out because nobody read them\n`;
  }
}
