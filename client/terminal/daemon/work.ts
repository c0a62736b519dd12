import { randomUUID } from 'node:crypto';
import { showLine } from '../../../protocol/base/text.ts';
import {
  progressNotification,
  type RequestMessage,
  type WorkDoneParams,
  type WorkProgress,
} from '../../../protocol/messages/messageTypes.ts';
import type { CommandContext } from '../cli/command.ts';
import { interruptible, type Terminal } from '../cli/terminal.ts';
import { columnsOf, withoutStyles } from '../screen/columns.ts';
import type { Output } from '../screen/output.ts';
import { drawProgress, ProgressTracker } from '../screen/progress.ts';
import { BackpressureQueue, type DaemonClient } from './daemon.ts';

/**
 * Sends a request and shows its progress. Ctrl-C cancels it: the result is undefined then. It settles only after all
 * progress is shown, in order, even if the work fails.
 */
export async function requestWork<P extends WorkDoneParams, R>(
  { terminal, commandLine: { json } }: Pick<CommandContext, 'terminal' | 'commandLine'>,
  daemon: DaemonClient,
  { request, params }: { readonly request: RequestMessage<P, R>; readonly params: P },
): Promise<R | undefined> {
  const output = createProgressOutput(terminal, json);
  return interruptible(terminal, async (signal) => {
    const workDoneToken = randomUUID();
    const waiting = new BackpressureQueue<WorkProgress>(daemon, (value) => output.take(value));
    const stop = daemon.onNotification(progressNotification, ({ token, value }) => {
      if (token === workDoneToken) waiting.push(value);
    });
    try {
      return await daemon.request(request, { ...params, workDoneToken }, signal);
    } finally {
      stop();
      await waiting.settle();
      await output.end();
    }
  });
}

/** Shows the progress of one piece of work: takes one value after another, and ends with it, even if it failed. */
function createProgressOutput(
  { stdout, stderr, now }: Pick<Terminal, 'stdout' | 'stderr' | 'now'>,
  json: boolean,
) {
  if (json) return jsonOutput(stdout);
  return stderr.isRedrawable ? new ProgressScreen(stderr, now) : lineOutput(stderr);
}

/** One object a line. */
function jsonOutput(stdout: Output) {
  return {
    async take(value: WorkProgress): Promise<void> {
      if (value.kind !== 'report') return;
      const { kind: _, ...report } = value;
      await stdout.writeJson({ event: 'progress', ...report });
    },
    end: async () => undefined,
  };
}

/** For a log: a line for each new message, and for each further tenth. */
function lineOutput(stderr: Output) {
  const reported = new Set<string>();
  let tenth = 0;
  return {
    async take(value: WorkProgress): Promise<void> {
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
