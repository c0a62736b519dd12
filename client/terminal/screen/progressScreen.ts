import type { WorkProgress } from '../../../protocol/messages/progress.ts';
import { type Surroundings, write } from '../cli/streams.ts';
import { columnsOf } from './columns.ts';
import { drawProgress, type ScreenSize } from './progressDisplay.ts';
import { ProgressTracker } from './progressState.ts';
import { type Style, styleFor } from './style.ts';

/** Between two looks at the time while nothing comes, in ms: a download that stands still is seen to. */
const lookEvery = 1_000;
const hideCursor = '\u001b[?25l';
const showCursor = '\u001b[?25h';
const clearBelow = '\u001b[J';
const clearRight = '\u001b[K';

/**
 * Draws progress in place. Between two frames the cursor is seen, at the start of the row below what is drawn: however
 * the program ends, the terminal is as it was, and what others write there, such as `^C`, is gone with the next frame.
 */
export class ProgressScreen {
  readonly #stderr: Surroundings['stderr'];
  readonly #now: () => number;
  readonly #style: Style;
  readonly #tracker = new ProgressTracker();
  readonly #timer: NodeJS.Timeout;
  /** The columns of each line that is drawn. */
  #drawn: readonly number[] = [];
  readonly #drawAgain = () => {
    // A terminal that is slow gets the next one.
    if (this.#drawn.length > 0 && !this.#stderr.writableNeedDrain) this.#stderr.write(this.#frame());
  };

  constructor({ stderr, env, now }: Surroundings) {
    this.#stderr = stderr;
    this.#now = now;
    this.#style = styleFor(stderr, env);
    this.#timer = setInterval(this.#drawAgain, lookEvery);
    stderr.on('resize', this.#drawAgain);
  }

  async take(value: WorkProgress): Promise<void> {
    this.#tracker.take(value, this.#now());
    if (value.kind !== 'end') await write(this.#stderr, this.#frame());
  }

  /** Leaves nothing behind. */
  async end(): Promise<void> {
    clearInterval(this.#timer);
    this.#stderr.off('resize', this.#drawAgain);
    await write(this.#stderr, this.#drawn.length === 0 ? '' : this.#toStart() + clearBelow);
    this.#drawn = [];
  }

  #frame(): string {
    const start = this.#toStart();
    const lines = drawProgress(this.#tracker.state(this.#now()), this.#size(), this.#style);
    this.#drawn = lines.map((line) => columnsOf(withoutStyles(line)));
    const text = lines.map((line) => `${line}${clearRight}\r\n`).join('');
    return `${hideCursor}${start}${text}${clearBelow}${showCursor}`;
  }

  /** To the first row of what is drawn. A terminal that became narrower has wrapped it to more rows. */
  #toStart(): string {
    const { columns, rows } = this.#size();
    const taken = this.#drawn.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns)), 0);
    const up = Math.min(taken, rows - 1);
    return up > 0 ? `\r\u001b[${up}A` : '\r';
  }

  /** Of a terminal that does not know its size, zero is told. */
  #size(): ScreenSize {
    return { columns: this.#stderr.columns || 80, rows: this.#stderr.rows || 24 };
  }
}

function withoutStyles(line: string): string {
  return line.replace(/\u001b\[\d+m/g, '');
}
