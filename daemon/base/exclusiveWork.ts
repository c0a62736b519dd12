import { setTimeout as waitFor } from 'node:timers/promises';
import { orAborted } from '../../protocol/base/abort.ts';
import { createProcessLocks } from './processLocks.ts';

/** Work on files of the user that nobody else does at the same time, here or in another process. */
export interface ExclusiveWork {
  /**
   * Runs the work once all earlier work on the same id is done. The signal ends the waiting alone; work that was
   * begun ends by itself. @throws {Error} `busy`, where another process holds the id for too long.
   */
  run<T>(id: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Waits for work that was begun. */
  close(): Promise<void>;
}

export interface ExclusiveWorkOptions {
  /** Where processes mark what they work on. A process has one for a folder: two would take each other's marks for their own. */
  readonly folder: string;
  /** Longer than another process may need, in ms. */
  readonly longest: number;
  readonly busy: () => Error;
}

/** In ms. */
const lookEvery = 50;

export function createExclusiveWork({ folder, longest, busy }: ExclusiveWorkOptions): ExclusiveWork {
  const locks = createProcessLocks(folder);
  const turns = new Map<string, Promise<unknown>>();
  const locked = async <T>(id: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> => {
    const begun = performance.now();
    while ((await locks.take(id)) !== undefined) {
      if (performance.now() - begun > longest) throw busy();
      await waitFor(lookEvery);
      signal?.throwIfAborted();
    }
    try {
      signal?.throwIfAborted();
      return await work();
    } finally {
      await locks.release(id);
    }
  };
  return {
    async run(id, work, signal) {
      const before = turns.get(id) ?? Promise.resolve();
      const turn = before.then(() => locked(id, work, signal));
      const done = turn.catch(() => undefined).finally(() => turns.get(id) === done && turns.delete(id));
      turns.set(id, done);
      return signal ? orAborted(turn, signal) : turn;
    },
    async close() {
      await Promise.all(turns.values());
      await locks.close();
    },
  };
}
