import { LineSplitter, type SplitLine } from './lineSplitter.ts';
import type { CommandSource } from './logCommands.ts';
import { plainText } from './plainText.ts';

/** How much of a command's own words a reason quotes, in characters. */
const maxRemark = 200;

/**
 * The lines of a command's streams, held back until it is known whether they are a log. Each stream has its own
 * splitter, so that partial lines of two streams are never joined.
 */
export class CommandOutput {
  /** Settles with the first line: with a clause if the line says that there is no log, otherwise with undefined. */
  readonly first: Promise<string | undefined>;
  readonly #source: CommandSource;
  readonly #splitters = {
    stdout: new LineSplitter((line) => this.#take(line)),
    stderr: new LineSplitter((line) => this.#takeFromErrors(line)),
  };
  #onFirst: (problem: string | undefined) => void = () => undefined;
  #held: SplitLine[] = [];
  #onLine: ((line: SplitLine) => void) | undefined;
  #remark = '';

  constructor(source: CommandSource) {
    this.#source = source;
    this.first = new Promise((resolve) => {
      this.#onFirst = resolve;
    });
  }

  /** What the command said besides its log, as the rest of a clause; empty if it said nothing. */
  get remark(): string {
    return this.#remark === '' ? '' : `: ${this.#remark}`;
  }

  write(stream: 'stdout' | 'stderr', piece: Buffer): void {
    this.#splitters[stream].write(piece);
  }

  /** Passes on the held lines, and from now on each line as it comes. */
  open(onLine: (line: SplitLine) => void): void {
    this.#onLine = onLine;
    for (const line of this.#held.splice(0)) onLine(line);
  }

  /** Passes on last lines that have no line end. */
  end(): void {
    this.#splitters.stdout.end();
    this.#splitters.stderr.end();
  }

  #take(line: SplitLine): void {
    if (this.#onLine) this.#onLine(line);
    else this.#hold(line);
  }

  #takeFromErrors(line: SplitLine): void {
    if (this.#source.streams === 'both') this.#take(line);
    else this.#remark ||= plainText(line.text).trim().slice(0, maxRemark);
  }

  #hold(line: SplitLine): void {
    const text = plainText(line.text).trim();
    const { refusal, heading } = this.#source;
    if (text === '') return;
    if (refusal.test(text)) this.#onFirst(`said "${text.slice(0, maxRemark)}"`);
    else if (!heading?.test(text)) {
      this.#held.push(line);
      this.#onFirst(undefined);
    }
  }
}
