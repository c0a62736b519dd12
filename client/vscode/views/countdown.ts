import type { Clock } from '../clock.ts';

export interface CountdownEvents {
  readonly clock: Clock;
  /** What is said of the ends has changed. */
  readonly onTick: () => void;
  /** One end has come; told once for all that came together. */
  readonly onEnd: () => void;
}

/** Follows the ends of keep-alives without asking anybody. Without an end ahead it has no timer. */
export interface Countdown {
  /**
   * Replaces what is followed. `ends` are in ms since 1970, those that have passed are left out. While it is not
   * watched it does not tick, and only an end is told.
   */
  follow(ends: readonly number[], isWatched: boolean): void;
  dispose(): void;
}

/** No timer of the runtime takes more than 24 days. */
const longest = 3_600_000;

export function createCountdown({ clock, onTick, onEnd }: CountdownEvents): Countdown {
  let cancel: (() => void) | undefined;

  const follow = (ends: readonly number[], isWatched: boolean): void => {
    cancel?.();
    cancel = undefined;
    const now = clock.now();
    const ahead = ends.filter((end) => end > now);
    if (ahead.length === 0) return;
    const left = ahead.reduce((soonest, end) => Math.min(soonest, end), Number.POSITIVE_INFINITY) - now;
    const wait = isWatched ? untilChange(left) : left;
    cancel = clock.after(Math.min(wait, longest), () => look(ahead, isWatched));
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

/** Seconds are told in the last minute, minutes before it. */
function untilChange(left: number): number {
  const lastMinute = 62_000;
  if (left > lastMinute) return Math.min(30_000, left - lastMinute);
  return left % 1_000 || 1_000;
}
