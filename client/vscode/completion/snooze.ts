import type { Clock } from '../../shared/clock.ts';

/** A pause of completion, which ends by itself. */
export interface Snooze {
  /** In ms since 1970; undefined while completion is awake. */
  readonly until: number | undefined;
  begin(milliseconds: number): void;
  end(): void;
}

/** Calls `onDidChange` when the pause begins and when it ends. */
export function createSnooze(clock: Clock, onDidChange: () => void): Snooze {
  let until: number | undefined;
  let stopTimer: (() => void) | undefined;
  const end = () => {
    stopTimer?.();
    if (until === undefined) return;
    until = undefined;
    onDidChange();
  };
  return {
    get until() {
      // After the machine has slept, the timer is late.
      return until !== undefined && clock.now() < until ? until : undefined;
    },
    begin(milliseconds) {
      stopTimer?.();
      until = clock.now() + milliseconds;
      stopTimer = clock.after(milliseconds, end);
      onDidChange();
    },
    end,
  };
}
