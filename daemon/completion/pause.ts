import { setTimeout as wait } from 'node:timers/promises';

/** How long the keys rest before the runner is asked, in ms. */
const restFor = 150;

/** Rejects at once when a newer request or a cancellation ends it; what the user asked for does not wait. */
export async function pause(isInvoked: boolean, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (!isInvoked) await wait(restFor, undefined, { signal });
}
