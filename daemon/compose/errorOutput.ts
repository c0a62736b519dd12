import { Writable } from 'node:stream';

/** How much may wait for a reader that does not read, in bytes. Beyond it lines are left out. */
const maxWaiting = 1024 * 1024;

/** Standard error, through which everything in the process writes: without secrets, and a write never fails. */
export class ErrorOutput extends Writable {
  readonly #openTarget: () => Writable;
  #opened: Writable | undefined;
  #redact = (text: string) => text;
  #leftOut = 0;

  /** The target is opened when something is first written. */
  constructor(target: () => Writable) {
    super({ decodeStrings: false });
    this.#openTarget = target;
  }

  /** From now on this removes the secrets. */
  redactWith(redact: (text: string) => string): void {
    this.#redact = redact;
  }

  override _write(chunk: unknown, _encoding: BufferEncoding, done: () => void): void {
    try {
      const target = this.#target();
      if (target.writableLength > maxWaiting) this.#leftOut++;
      else target.write(this.#takeLeftOut() + this.#redact(String(chunk)));
    } catch {
      // There is nowhere left to report it.
    }
    done();
  }

  #target(): Writable {
    // The reader may be gone before the daemon ends.
    this.#opened ??= this.#openTarget().on('error', () => undefined);
    return this.#opened;
  }

  #takeLeftOut(): string {
    const count = this.#leftOut;
    this.#leftOut = 0;
    return count === 0 ? '' : `runnerd: … ${count} messages left out because nobody read them\n`;
  }
}
