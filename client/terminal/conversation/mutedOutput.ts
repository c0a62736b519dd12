import { Writable } from 'node:stream';
import type { Surroundings } from '../cli/streams.ts';

/** Passes on what a line editor draws, except while an answer is being written. */
export class MutedOutput extends Writable {
  /** Until the first prompt. */
  isMuted = true;
  readonly #target: Surroundings['stdout'];
  readonly #resized = () => this.emit('resize');

  constructor(target: Surroundings['stdout']) {
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
