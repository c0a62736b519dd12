import { setTimeout as wait } from 'node:timers/promises';

/** The time in milliseconds, and a wait that rejects when it is aborted. */
export interface Clock {
  now(): number;
  delay(milliseconds: number, signal: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  delay: (milliseconds, signal) => wait(milliseconds, undefined, { signal }),
};
