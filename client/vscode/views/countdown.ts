import type { Clock } from '../../shared/clock.ts';

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
