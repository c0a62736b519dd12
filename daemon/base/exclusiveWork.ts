import { setTimeout as waitFor } from 'node:timers/promises';
import { orAborted } from '../../protocol/base/abort.ts';
import { SerialQueue } from '../../protocol/base/serialQueue.ts';
import { createProcessLocks } from './processLocks.ts';

export interface ExclusiveWorkOptions {
  /**
   * Where processes put their locks. A process must have only one instance for a folder: two would share their locks.
   */
  readonly folder: string;
  /** How long to wait for another process, in ms. */
  readonly longest: number;
  readonly busy: () => Error;
}

/** How often to try again while another process holds the id, in ms. */
const retryEvery = 50;

export type ExclusiveWork = ReturnType<typeof createExclusiveWork>;

/** Work on files of the user that nobody else does at the same time, here or in another process. */
export function createExclusiveWork({ folder, longest, busy }: ExclusiveWorkOptions) {
  const locks = createProcessLocks(folder);
  const queue = new SerialQueue();
  const locked = async <T>(id: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> => {
    const begun = performance.now();
    while ((await locks.take(id)) !== undefined) {
      if (performance.now() - begun > longest) throw busy();
      await waitFor(retryEvery);
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
    /**
     * Runs the work once all earlier work on the same id is done. The signal ends only the waiting, not work that has
     * begun. @throws {Error} `busy`, if another process holds the id for too long.
     */
    async run<T>(id: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
      const turn = queue.run(id, () => locked(id, work, signal));
      return signal ? orAborted(turn, signal) : turn;
    },
    /** Waits for work that has begun. */
    async close(): Promise<void> {
      await queue.settle();
      await locks.close();
    },
  };
}
