import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long work may go on before others have their turn, in ms. */
const longest = 20;

/**
 * What long work asks for between two of its steps: a pause to wait for where it has gone on for too long, so that
 * everything else has its turn, and nothing where it has not.
 */
export function createBreath(now = () => performance.now()): () => Promise<void> | undefined {
  let since = now();
  const pause = async () => {
    await nextTurn();
    since = now();
  };
  return () => (now() - since < longest ? undefined : pause());
}
