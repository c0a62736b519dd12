import type { Readable } from 'node:stream';
import { readBounded, TooLargeError } from '../../../protocol/base/boundedBody.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Output } from '../screen/output.ts';
import { TerminalError } from './failure.ts';

/** The terminal, or whatever the process was started in. It is passed in, so that tests run the program in process. */
export interface Terminal {
  readonly stdin: Readable & { readonly isTTY?: boolean; readonly setRawMode?: (isRaw: boolean) => unknown };
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder in which the program was started. */
  readonly cwd: string;
  /** Milliseconds since some moment in the past. */
  readonly now: () => number;
  readonly after: Clock['after'];
  /** The time of day. */
  readonly today: () => Date;
  /** After how many ms without an answer a note says what it waits for. Absent: there is no note. */
  readonly patience?: number;
  /** Stops the process and its group, as Ctrl-Z does. Fulfilled when the process continues. */
  readonly suspend: () => Promise<void>;
  /** Calls back each time the process continues after a stop, until the returned function is called. */
  readonly onContinue: (take: () => void) => () => void;
  /** Calls back at each SIGINT until the returned function is called. */
  readonly onInterrupt: (take: () => void) => () => void;
}

/** Whether a person can be asked: there is a keyboard, and standard error is on the screen. */
export function canAsk({ stdin, stderr }: Terminal): boolean {
  return stdin.isTTY === true && stderr.isScreen;
}

/**
 * All of standard input as text.
 * @param limit in bytes.
 * @throws {TerminalError} of the kind `usage` if there is more.
 */
export async function readAll({ stdin }: Terminal, limit: number): Promise<string> {
  try {
    return (await readBounded(stdin, limit)).toString('utf8');
  } catch (error) {
    if (!(error instanceof TooLargeError)) throw error;
    const megabytes = limit / 1024 / 1024;
    throw new TerminalError('usage', `What comes on standard input is larger than ${megabytes} MB.`);
  }
}
