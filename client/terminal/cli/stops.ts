import type { Interface } from 'node:readline';
import type { Surroundings } from './streams.ts';

export interface StopListeners {
  /** Leaves the terminal as the shell wants it. */
  readonly beforeStop?: () => void;
  /** Takes it again. */
  readonly afterStop: () => void;
}

/**
 * Ctrl-Z while keys are read one by one: the terminal does not stop the program then, so the program stops itself, and
 * reads on once a shell lets it go on. The same where it was stopped from outside. Ends with the returned function.
 */
export function goOnAfterStops(
  { stdin, suspend, onContinue }: Surroundings,
  readline: Interface,
  { beforeStop = () => undefined, afterStop }: StopListeners,
): () => void {
  // With a listener readline leaves all of this to us: its own way back never reads the keyboard again.
  readline.on('SIGTSTP', async () => {
    beforeStop();
    setRawMode(stdin, false);
    await suspend();
    goOn();
  });
  let isEnded = false;
  const goOn = () => {
    if (isEnded) return;
    // The shell may have changed the mode without our runtime's knowledge, which then takes it to be set.
    setRawMode(stdin, false);
    setRawMode(stdin, true);
    readline.resume();
    afterStop();
  };
  const stopListening = onContinue(goOn);
  return () => {
    isEnded = true;
    stopListening();
  };
}

function setRawMode(stdin: Surroundings['stdin'], isRaw: boolean): void {
  stdin.setRawMode?.(isRaw);
}
