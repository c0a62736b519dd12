import type { Clock } from '../../shared/clock.ts';
import type { ModelRow } from '../models/modelRow.ts';

interface CountdownEvents {
  readonly clock: Clock;
  /** The shown time has changed. */
  readonly onTick: () => void;
  /** An end has passed; called once for all that passed together. */
  readonly onEnd: () => void;
}

/** Timers of the runtime take at most 24 days. */
const maxTimer = 3_600_000;

/** Follows the ends of keep-alives by the clock, without requests. It has a timer only while an end is ahead. */
export function createCountdown({ clock, onTick, onEnd }: CountdownEvents) {
  let cancel: (() => void) | undefined;

  /**
   * Replaces the followed ends, in ms since 1970; ends in the past are left out. While `isWatched` is false, it reports
   * only ends, and does not tick.
   */
  const follow = (ends: readonly number[], isWatched: boolean): void => {
    cancel?.();
    cancel = undefined;
    const now = clock.now();
    const ahead = ends.filter((end) => end > now);
    if (ahead.length === 0) return;
    const left = ahead.reduce((soonest, end) => Math.min(soonest, end), Number.POSITIVE_INFINITY) - now;
    const wait = isWatched ? untilChange(left) : left;
    cancel = clock.after(Math.min(wait, maxTimer), () => look(ahead, isWatched));
  };

  const look = (ahead: readonly number[], isWatched: boolean): void => {
    const now = clock.now();
    const hasEnded = ahead.some((end) => end <= now);
    follow(ahead, isWatched);
    if (hasEnded) onEnd();
    else if (isWatched) onTick();
  };

  return { follow, dispose: () => cancel?.() };
}

/** The text shows seconds in the last minute, and minutes before it. */
function untilChange(left: number): number {
  const lastMinute = 62_000;
  if (left > lastMinute) return Math.min(30_000, left - lastMinute);
  return left % 1_000 || 1_000;
}

/** In ms. A row that appears later is not selected: by then the user looks at something else. */
const maxWait = 10_000;
/**
 * In ms until the next try. If rows change while the editor looks for one, it does not find it, and does not report
 * that.
 */
const again = 500;

/** Selects the row of one model as soon as possible. `select` selects it if it is shown. */
export function createRowReveal(clock: Clock, select: (model: ModelRow) => void) {
  let wanted: { readonly model: ModelRow; readonly until: number } | undefined;
  let stopTrying: () => void = () => undefined;
  /** The row is selected, or the user has selected another row, which must stay selected. */
  const end = () => {
    wanted = undefined;
    stopTrying();
  };
  /** The rows have changed. */
  const tryNow = () => {
    stopTrying();
    if (!wanted || clock.now() >= wanted.until) return end();
    stopTrying = clock.after(again, tryNow);
    select(wanted.model);
  };
  return {
    /** Replaces an older request. */
    want(model: ModelRow): void {
      wanted = { model, until: clock.now() + maxWait };
      tryNow();
    },
    tryNow,
    end,
    dispose: end,
  };
}
