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
  /** The soonest comes first. */
  let timers: readonly { readonly at: number; readonly work: () => void }[] = [];
  return {
    now: () => now,
    after(milliseconds: number, work: () => void) {
      const own = { at: now + milliseconds, work };
      timers = [...timers, own].toSorted((one, other) => one.at - other.at);
      return () => {
        timers = timers.filter((timer) => timer !== own);
      };
    },
    get next() {
      const [timer] = timers;
      return timer && timer.at - now;
    },
    pass(milliseconds) {
      now += milliseconds;
    },
    turn() {
      const [timer, ...later] = timers;
      if (!timer) return;
      timers = later;
      now = timer.at;
      timer.work();
    },
  };
}
