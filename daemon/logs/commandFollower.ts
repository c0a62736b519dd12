import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { linkedSignal, orAborted } from '../../protocol/base/abort.ts';
import type { SplitLine } from '../../protocol/base/byteStreams.ts';
import { thisPlatform } from '../../protocol/base/platform/folders.ts';
import { startProgram } from '../../protocol/base/platform/program.ts';
import { plainText } from '../base/programOutput.ts';
import {
  createLogSplitter,
  type Follower,
  type FollowOptions,
  NoSourceError,
  systemCode,
} from './logLines.ts';

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
  const child = startLogChild(source.command, options.env, (stream, piece) => output.write(stream, piece));
  const problem = await problemOf(output, child, options);
  if (problem !== undefined) {
    await child.end();
    throw new NoSourceError(problem + output.remark);
  }
  output.open((line) => options.lines.take(line));
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
  const silence = pause(firstLineWithin, 'said nothing', { signal: decided.signal }).catch(
    () => 'was stopped',
  );
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
  readonly #splitters = { stdout: createLogSplitter(), stderr: createLogSplitter() };
  #onFirst: (problem: string | undefined) => void = () => undefined;
  #held: SplitLine[] = [];
  #onLine: ((line: SplitLine) => void) | undefined;
  #remark = '';

  constructor(private readonly source: CommandSource) {
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
    if (stream === 'stderr' && this.source.streams === 'stdout')
      this.#remark ||= plainText(line.text).trim().slice(0, maxRemark);
    else if (this.#onLine) this.#onLine(line);
    else this.#hold(line);
  }

  #hold(line: SplitLine): void {
    const text = plainText(line.text).trim();
    const { refusal, heading } = this.source;
    if (text === '') return;
    if (refusal.test(text)) this.#onFirst(`said "${text.slice(0, maxRemark)}"`);
    else if (!heading?.test(text)) {
      this.#held.push(line);
      this.#onFirst(undefined);
    }
  }
}

/** A program and its arguments. No shell interprets them. */
export type LogCommand = readonly [string, ...string[]];

/** How long a child may take to end by itself, in ms. */
const killAfter = 1000;

/** A child whose output is read. */
export interface LogChild {
  /** Settles when all of its output is read, with a clause that says how it ended. Never rejects. */
  readonly ended: Promise<string>;
  /** Ends the child. It has no more output, and it is gone when this settles. */
  end(): Promise<void>;
}

type TakeOutput = (stream: 'stdout' | 'stderr', piece: Buffer) => void;

export function startLogChild(command: LogCommand, env: NodeJS.ProcessEnv, onOutput: TakeOutput): LogChild {
  try {
    return followChild(spawnReader(command, env), onOutput);
  } catch (error) {
    return { ended: Promise.resolve(failureOf(error)), end: async () => undefined };
  }
}

/**
 * Runs `"$@"`, and ends it when the standard input ends. The standard input ends whatever happens to the daemon,
 * `SIGKILL` included. A command that ignores the first signal is killed. The shell has a process group of its own, so
 * that a signal from the terminal reaches only the daemon.
 */
const supervisor = `
command -v "$1" >/dev/null || exit 127
exec 3<&0 </dev/null
"$@" 3<&- &
child=$!
{
  read -r _ <&3
  kill "$child"
  PATH=$PATH:/bin:/usr/bin sleep ${killAfter / 1000}
  kill -KILL "$child"
} >/dev/null 2>&1 &
watcher=$!
exec 3<&-
wait "$child"
code=$?
kill "$watcher"
exit "$code"
`;

/** On Windows the system ends children with their parent. */
function spawnReader([program, ...args]: LogCommand, env: NodeJS.ProcessEnv): ChildProcess {
  const options = { env, cwd: dirname(process.execPath) };
  if (thisPlatform === 'win32')
    return startProgram(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const supervised = ['-c', supervisor, 'sh', program, ...args];
  return startProgram('/bin/sh', supervised, { ...options, stdio: 'pipe', leadsGroup: true });
}

function followChild(child: ChildProcess, onOutput: TakeOutput): LogChild {
  let isSilent = false;
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.on('data', (piece: Buffer) => {
      if (!isSilent) onOutput(name, piece);
    });
    // A broken pipe also ends the output, and that is reported.
    child[name]?.on('error', () => undefined);
  }
  child.stdin?.on('error', () => undefined);
  const exited = endOf(child, 'exit');
  const ended = endOf(child, 'close');
  const end = async () => {
    isSilent = true;
    await killChild(child, exited);
    // A process that the child has started may hold the pipes open.
    child.stdout?.destroy();
    child.stderr?.destroy();
  };
  return { ended, end };
}

/** An error before the process exists is its end. A later error, such as a refused signal, is not. */
function endOf(child: ChildProcess, event: 'exit' | 'close'): Promise<string> {
  return new Promise((resolve) => {
    child.once(event, (code: number | null, signal: string | null) => resolve(endingOf(code, signal)));
    child.on('error', (error) => {
      if (child.pid === undefined) resolve(failureOf(error));
    });
  });
}

/** A shell ends with 127 if there is no such program, and with 128 plus the signal's number if a signal ended it. */
function endingOf(code: number | null, signal: string | null): string {
  if (code === 127) return notInstalled;
  const [name] = Object.entries(constants.signals).find(([, number]) => number + 128 === code) ?? [];
  return `ended with ${signal ?? name ?? `code ${code}`}`;
}

async function killChild(child: ChildProcess, exited: Promise<string>): Promise<void> {
  if (child.stdin) {
    child.stdin.destroy();
    await exited;
    return;
  }
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), killAfter);
  await exited;
  clearTimeout(timer);
}

const notInstalled = 'is not installed';

function failureOf(error: unknown): string {
  const code = systemCode(error);
  return code === 'ENOENT' ? notInstalled : `cannot be started (${code})`;
}
