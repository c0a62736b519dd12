import { showLine } from '../../../protocol/base/controlCharacters.ts';
import type { WorkProgress } from '../../../protocol/messages/progress.ts';
import type { Terminal } from '../cli/terminal.ts';
import { columnsOf, withoutStyles } from './columns.ts';
import type { Output } from './output.ts';
import { drawProgress } from './progressBars.ts';
import { ProgressTracker } from './progressTracker.ts';

/** Shows the progress of one piece of work. */
export interface ProgressOutput {
  /** It is not called again before it has settled. */
  readonly take: (value: WorkProgress) => Promise<void>;
  /** Called when the work has ended, even if it failed. */
  readonly end: () => Promise<void>;
}

export function createProgressOutput(
  { stdout, stderr, now }: Pick<Terminal, 'stdout' | 'stderr' | 'now'>,
  json: boolean,
): ProgressOutput {
  if (json) return jsonOutput(stdout);
  if (!stderr.isRedrawable) return lineOutput(stderr);
  const screen = new ProgressScreen(stderr, now);
  return { take: (value) => screen.take(value), end: () => screen.end() };
}

/** One object a line. */
function jsonOutput(stdout: Output): ProgressOutput {
  return {
    async take(value) {
      if (value.kind !== 'report') return;
      const { kind: _, ...report } = value;
      await stdout.writeJson({ event: 'progress', ...report });
    },
    end: async () => undefined,
  };
}

/** For a log: a line for each new message, and for each further tenth. */
function lineOutput(stderr: Output): ProgressOutput {
  const reported = new Set<string>();
  let tenth = 0;
  return {
    async take(value) {
      if (value.kind !== 'report') return;
      const { message, percentage } = value;
      const now = Math.floor((percentage ?? 0) / 10);
      const thing = withoutFigures(message);
      // Layers are downloaded in parallel, and each is reported once.
      if (reported.has(thing) && now <= tenth) return;
      reported.add(thing);
      tenth = Math.max(tenth, now);
      await stderr.writeLine(showLine(message) + (percentage === undefined ? '' : ` (${percentage} %)`));
    },
    end: async () => undefined,
  };
}

/** Numbers that count up do not make a message new, such as in `Downloading 3e4cb1417446: 1.2 of 4.7 GB`. */
function withoutFigures(message: string): string {
  return message.replace(/:? *\d[\d.,]* *(?:of|\/) *\d[\d.,]* *\w*$/, '');
}

/** In ms. It is also drawn when nothing arrives, so that the speed of a stalled download falls. */
const redrawEvery = 1_000;
const hideCursor = '\u001b[?25l';
const showCursor = '\u001b[?25h';
const clearBelow = '\u001b[J';
const clearRight = '\u001b[K';

/**
 * Draws progress in place. Between two frames the cursor is visible, at the start of the row below: however the program
 * ends, the terminal is in order, and the next frame replaces what others write there, such as `^C`.
 */
class ProgressScreen {
  readonly #stderr: Output;
  readonly #now: () => number;
  readonly #tracker = new ProgressTracker();
  readonly #timer: NodeJS.Timeout;
  /** The columns of each line on the screen. */
  #drawn: readonly number[] = [];
  readonly #drawAgain = () => {
    // A slow terminal skips this frame.
    const { stream } = this.#stderr;
    if (this.#drawn.length > 0 && !stream.writableNeedDrain) stream.write(this.#frame());
  };

  constructor(stderr: Output, now: () => number) {
    this.#stderr = stderr;
    this.#now = now;
    this.#timer = setInterval(this.#drawAgain, redrawEvery);
    stderr.stream.on('resize', this.#drawAgain);
  }

  async take(value: WorkProgress): Promise<void> {
    this.#tracker.take(value, this.#now());
    if (value.kind !== 'end') await this.#stderr.write(this.#frame());
  }

  /** Removes everything from the screen. */
  async end(): Promise<void> {
    clearInterval(this.#timer);
    this.#stderr.stream.off('resize', this.#drawAgain);
    await this.#stderr.write(this.#drawn.length === 0 ? '' : this.#toStart() + clearBelow);
    this.#drawn = [];
  }

  #frame(): string {
    const start = this.#toStart();
    const lines = drawProgress(this.#tracker.state(this.#now()), this.#stderr, this.#stderr.style);
    this.#drawn = lines.map((line) => columnsOf(withoutStyles(line)));
    const text = lines.map((line) => `${line}${clearRight}\r\n`).join('');
    return `${hideCursor}${start}${text}${clearBelow}${showCursor}`;
  }

  /** Moves to the first row that is drawn. A terminal that became narrower has wrapped the lines to more rows. */
  #toStart(): string {
    const { columns, rows } = this.#stderr;
    const taken = this.#drawn.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns)), 0);
    const up = Math.min(taken, rows - 1);
    return up > 0 ? `\r\u001b[${up}A` : '\r';
  }
}
