import { Writable } from 'node:stream';

/** Standard error as everything in the process writes to it: without secrets, and never a failure. */
export class ErrorOutput extends Writable {
  readonly #target: Writable;
  #redact = (text: string) => text;

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
      this.#target.write(this.#redact(String(chunk)));
    } catch {
      // There is nowhere left to say it.
    }
    done();
  }
}
