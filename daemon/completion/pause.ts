import { setTimeout as wait } from 'node:timers/promises';

/** How long the keys rest before the runner is asked, in ms. */
const restFor = 150;

/**
 * Waits for what is left of the rest: an editor may have waited itself. Rejects at once when a newer request or a
 * cancellation ends it. `rested` is in ms.
 */
export async function pause(rested: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const left = restFor - rested;
  if (left > 0) await wait(left, undefined, { signal });
}
