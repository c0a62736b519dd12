import type { Interface } from 'node:readline';
import type { Readable } from 'node:stream';
import { readBounded, TooLargeError } from '../../../protocol/base/byteStreams.ts';
import { homeFolder } from '../../../protocol/base/platform/folders.ts';
import { showLine } from '../../../protocol/base/text.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Output } from '../screen/output.ts';
import { usageError } from './failure.ts';

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
    throw usageError(`What comes on standard input is larger than ${megabytes} MB.`);
  }
}

/** The user pressed Ctrl-C twice and wants to leave at once. */
export class ForceQuitError extends Error {
  override readonly name = 'ForceQuitError';
}

/** Ctrl-C during work: the first press cancels the work, the second does not wait for it. */
export type Interrupts = ReturnType<typeof createInterrupts>;

export function createInterrupts() {
  const abort = new AbortController();
  let quit: (reason: ForceQuitError) => void = () => undefined;
  let isForced = false;
  const forced = new Promise<never>((_, reject) => {
    quit = reject;
  });
  // The second press may come when nobody waits any more.
  forced.catch(() => undefined);
  return {
    /** Aborted at the first press. */
    signal: abort.signal,
    /** The user is leaving: nothing more is shown of the work. */
    get isForced() {
      return isForced;
    },
    press(): void {
      isForced = abort.signal.aborted;
      if (isForced) quit(new ForceQuitError());
      abort.abort();
    },
    /** Settles as `work` does, or rejects with {@link ForceQuitError} at the second press. */
    orForceQuit: <T>(work: Promise<T>): Promise<T> => Promise.race([work, forced]),
  };
}

/**
 * Does work that the first Ctrl-C cancels: the result is undefined then. How cancelled work fails does not matter.
 * @throws {ForceQuitError} at the second Ctrl-C, without waiting for the work.
 */
export async function interruptible<T>(
  { onInterrupt }: Terminal,
  begin: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const { signal, press, orForceQuit } = createInterrupts();
  const stopListening = onInterrupt(press);
  const outcome = async () => {
    try {
      return await begin(signal);
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    }
  };
  try {
    return await orForceQuit(outcome());
  } finally {
    stopListening();
  }
}

/**
 * Makes Ctrl-Z work while keys are read one by one (raw mode): the terminal does not stop the program then, so the
 * program stops itself. After that stop, and after one from outside, it reads on. Ends with the returned function.
 * `beforeSuspend` leaves the terminal as the shell expects it, `afterResume` prepares it for this program again.
 */
export function resumeAfterSuspend(
  { stdin, suspend, onContinue }: Terminal,
  readline: Interface,
  {
    beforeSuspend = () => undefined,
    afterResume,
  }: { readonly beforeSuspend?: () => void; readonly afterResume: () => void },
): () => void {
  // With a listener, readline leaves everything to us. Its own handling would never read the keyboard again.
  readline.on('SIGTSTP', async () => {
    beforeSuspend();
    stdin.setRawMode?.(false);
    await suspend();
    resume();
  });
  let isEnded = false;
  const resume = () => {
    if (isEnded) return;
    // The shell may have changed the mode. Node does not notice, and would not set a mode that it believes to be set.
    stdin.setRawMode?.(false);
    stdin.setRawMode?.(true);
    readline.resume();
    afterResume();
  };
  const stopListening = onContinue(resume);
  return () => {
    isEnded = true;
    stopListening();
  };
}

/** A path for a person: in the user's own folder, it begins with `~`. */
export function shortPath({ env }: Pick<Terminal, 'env'>, path: string): string {
  const home = homeFolder(env);
  const isAtHome = home !== '' && (path === home || path.startsWith(`${home}/`));
  return showLine(isAtHome ? `~${path.slice(home.length)}` : path);
}
