import { setTimeout as pause } from 'node:timers/promises';
import { linkedSignal, orAborted } from '../../protocol/base/abort.ts';
import type { SplitLine } from '../../protocol/base/lineSplitter.ts';
import { plainText } from '../base/programOutput.ts';
import { type Follower, type FollowOptions, NoSourceError } from './follower.ts';
import { type LogChild, type LogCommand, startLogChild } from './logChild.ts';
import { createLogSplitter } from './logLines.ts';

/** A command that prints a log and follows it. */
export interface CommandSource {
  readonly command: LogCommand;
  /** Which of its streams are the log. With `stdout`, its standard error is a remark. */
  readonly streams: 'stdout' | 'both';
  /** Matches a first line that says that there is no log. */
  readonly refusal: RegExp;
  /**
   * Matches lines of the command itself, such as `-- Journal begins at … --`, which do not show that there is a log.
   */
  readonly heading?: RegExp;
}

/**
 * Follows a command if its first line comes in time; otherwise ends its child.
 * @throws {NoSourceError} if no line comes, or if the first one says that there is no log.
 */
export async function followCommand(source: CommandSource, options: FollowOptions): Promise<Follower> {
  const output = new CommandOutput(source);
  const child = startLogChild(source.command, {
    env: options.env,
    onOutput: (stream, piece) => output.write(stream, piece),
  });
  const problem = await problemOf(output, child, options);
  if (problem !== undefined) {
    await child.end();
    throw new NoSourceError(problem + output.remark);
  }
  output.open(options.lines.take);
  return { source: source.command.join(' '), ended: untilEnd(output, child, options.signal) };
}

/**
 * The problem, decided by what comes first: a line, the child's end, the time limit or the abort. Undefined if there is
 * none.
 */
async function problemOf(
  output: CommandOutput,
  child: LogChild,
  { signal, firstLineWithin }: FollowOptions,
): Promise<string | undefined> {
  const decided = linkedSignal(signal);
  const silence = pause(firstLineWithin, 'said nothing', {
    signal: decided.signal,
  }).catch(() => 'was stopped');
  try {
    return await Promise.race([output.first, child.ended, silence]);
  } finally {
    decided.abort();
  }
}

async function untilEnd(output: CommandOutput, child: LogChild, signal: AbortSignal): Promise<string> {
  try {
    const how = await orAborted(child.ended, signal);
    output.end();
    return how;
  } catch {
    await child.end();
    return 'was stopped';
  }
}

/** How much of a command's own words a reason quotes, in characters. */
const maxRemark = 200;

/**
 * The lines of a command's streams, held back until it is known whether they are a log. Each stream has its own
 * splitter, so that partial lines of two streams are never joined.
 */
class CommandOutput {
  /** Settles with the first line: with a clause if the line says that there is no log, otherwise with undefined. */
  readonly first: Promise<string | undefined>;
  readonly #source: CommandSource;
  readonly #splitters = { stdout: createLogSplitter(), stderr: createLogSplitter() };
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
    for (const line of this.#splitters[stream].push(piece)) this.#takeFrom(stream, line);
  }

  /** Passes on the held lines, and from now on each line as it comes. */
  open(onLine: (line: SplitLine) => void): void {
    this.#onLine = onLine;
    for (const line of this.#held.splice(0)) onLine(line);
  }

  /** Passes on last lines that have no line end. */
  end(): void {
    for (const stream of ['stdout', 'stderr'] as const) {
      const line = this.#splitters[stream].end();
      if (line) this.#takeFrom(stream, line);
    }
  }

  #takeFrom(stream: 'stdout' | 'stderr', line: SplitLine): void {
    if (stream === 'stderr' && this.#source.streams === 'stdout')
      this.#remark ||= plainText(line.text).trim().slice(0, maxRemark);
    else if (this.#onLine) this.#onLine(line);
    else this.#hold(line);
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
