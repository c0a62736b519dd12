import { orAborted } from '../../../protocol/base/abort.ts';
import { SerialQueue } from '../../../protocol/base/serialQueue.ts';

export type FileTurns = ReturnType<typeof createFileTurns>;

/** Edits of one file wait for each other: the next one is made from what the one before it has written. */
export function createFileTurns() {
  const queue = new SerialQueue();
  return {
    /** Waits for the turn of a file. The function that it returns ends it. */
    async take(path: string, signal: AbortSignal): Promise<() => void> {
      const turn = new Promise<() => void>((begin) => {
        void queue.run(path, () => new Promise<void>((end) => begin(end)));
      });
      try {
        return await orAborted(turn, signal);
      } catch (error) {
        void turn.then((end) => end());
        throw error;
      }
    },
  };
}
