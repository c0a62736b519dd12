/** A clock that stands still until the test lets time pass. */
export interface VirtualClock {
  readonly now: () => number;
  readonly wait: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
  /** Ends all waits that are due by then. */
  pass(milliseconds: number): void;
  /** How many wait. */
  readonly waiting: number;
}

export function createVirtualClock(): VirtualClock {
  let now = 1_000;
  const waits = new Set<{ readonly due: number; readonly end: () => void }>();
  return {
    now: () => now,
    wait: (milliseconds, signal) =>
      new Promise((resolve, reject) => {
        const one = { due: now + milliseconds, end: resolve };
        waits.add(one);
        const stop = () => {
          waits.delete(one);
          reject(signal?.reason);
        };
        if (signal?.aborted) stop();
        else signal?.addEventListener('abort', stop, { once: true });
      }),
    pass(milliseconds) {
      now += milliseconds;
      for (const one of [...waits]) {
        if (one.due > now) continue;
        waits.delete(one);
        one.end();
      }
    },
    get waiting() {
      return waits.size;
    },
  };
}
