import type { Clock } from '../../client/shared/clock.ts';

export interface HandClock extends Clock {
  /** Milliseconds until what waits is done; undefined where nothing waits. */
  readonly next: number | undefined;
  /** On to the work that waits, which is done. */
  turn(): void;
  /** On without any work. */
  pass(milliseconds: number): void;
}

/** A clock that is turned by hand. */
export function handClock(): HandClock {
  let now = 1_000_000;
  let timer: { readonly at: number; readonly work: () => void } | undefined;
  return {
    now: () => now,
    after(milliseconds: number, work: () => void) {
      const own = { at: now + milliseconds, work };
      timer = own;
      return () => {
        if (timer === own) timer = undefined;
      };
    },
    get next() {
      return timer === undefined ? undefined : timer.at - now;
    },
    pass(milliseconds) {
      now += milliseconds;
    },
    turn() {
      if (!timer) return;
      const { at, work } = timer;
      timer = undefined;
      now = at;
      work();
    },
  };
}
