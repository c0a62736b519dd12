import { orAborted } from '../../../protocol/base/abort.ts';
import { SerialQueue } from '../../../protocol/base/serialQueue.ts';

/** Edits of one file wait for each other: the next one is made from what the one before it has written. */
export interface FileTurns {
  /** Waits for the turn of a file. The function that it returns ends it. */
  take(path: string, signal: AbortSignal): Promise<() => void>;
}

export function createFileTurns(): FileTurns {
  const queue = new SerialQueue();
  return {
    async take(path, signal) {
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
