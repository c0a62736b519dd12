import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long work may run before others get their turn, in ms. */
const maxWork = 20;

/**
 * Long work calls the result between two steps. If the work has run for too long, the call returns a pause to await, so
 * that everything else gets its turn; otherwise it returns nothing.
 */
export function createYielder(now = () => performance.now()): () => Promise<void> | undefined {
  let since = now();
  const pause = async () => {
    await nextTurn();
    since = now();
  };
  return () => (now() - since < maxWork ? undefined : pause());
}
