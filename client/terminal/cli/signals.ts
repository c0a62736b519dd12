import type { Interface } from 'node:readline';
import type { Terminal } from './terminal.ts';

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

interface SuspendListeners {
  /** Leaves the terminal as the shell expects it. */
  readonly beforeSuspend?: () => void;
  /** Prepares the terminal for this program again. */
  readonly afterResume: () => void;
}

/**
 * Makes Ctrl-Z work while keys are read one by one (raw mode): the terminal does not stop the program then, so the
 * program stops itself. After that stop, and after one from outside, it reads on. Ends with the returned function.
 */
export function resumeAfterSuspend(
  { stdin, suspend, onContinue }: Terminal,
  readline: Interface,
  { beforeSuspend = () => undefined, afterResume }: SuspendListeners,
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
