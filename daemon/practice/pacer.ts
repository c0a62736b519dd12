import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from './clock.ts';

/**
 * Waits before each token so that they come at a steady speed, whatever the waits themselves take. Without a limit
 * it only lets the process turn to other work now and then, or nobody would ever notice that a client has gone.
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
