import type { Clock } from '../clock.ts';

/** The sleep of completion, which ends by itself. */
export interface Snooze {
  /** In ms since 1970; undefined while it is awake. */
  readonly until: number | undefined;
  begin(milliseconds: number): void;
  end(): void;
}

/** `turned` is called when it falls asleep, and when it wakes. */
export function createSnooze(clock: Clock, turned: () => void): Snooze {
  let until: number | undefined;
  let stopTimer: (() => void) | undefined;
  const end = () => {
    stopTimer?.();
    if (until === undefined) return;
    until = undefined;
    turned();
  };
  return {
    get until() {
      // A timer is late after the machine has slept.
      return until !== undefined && clock.now() < until ? until : undefined;
    },
    begin(milliseconds) {
      stopTimer?.();
      until = clock.now() + milliseconds;
      stopTimer = clock.after(milliseconds, end);
      turned();
    },
    end,
  };
}
