import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from './clock.ts';

/**
 * Waits before each token, so that tokens come at a steady speed, however long the waits themselves take. Without a
 * limit it only pauses now and then for other work: otherwise nothing would notice that a client is gone.
 */
export function createPacer(perSecond: number, clock: Clock, signal: AbortSignal): () => Promise<void> {
  let count = 0;
  let due = clock.now();
  return async () => {
    signal.throwIfAborted();
    if (!Number.isFinite(perSecond)) {
      count += 1;
      if (count % 32 === 0) await turn();
      return;
    }
    due += 1_000 / perSecond;
    const wait = due - clock.now();
    if (wait > 0) await clock.delay(wait, signal);
  };
}
