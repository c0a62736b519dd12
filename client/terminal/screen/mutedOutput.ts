import { Writable } from 'node:stream';
import type { Output } from './output.ts';

/** Passes on what readline draws, except while an answer is being written. */
export class MutedOutput extends Writable {
  /** True until the first prompt, and while an answer is being written. */
  isMuted = true;
  readonly #target: Output['stream'];
  readonly #resized = () => this.emit('resize');

  constructor(target: Output['stream']) {
    super();
    this.#target = target;
    target.on('resize', this.#resized);
  }

  get columns(): number {
    return this.#target.columns ?? 80;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (!this.isMuted) this.#target.write(chunk);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#target.off('resize', this.#resized);
    done(error);
  }
}
