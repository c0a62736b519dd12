import { formatBytes } from '../../../protocol/base/bytes.ts';

/** The speed of a download, from what it reports. */
export interface DownloadSpeed {
  /** Takes the bytes so far, and returns such as `12.3 MB/s, 4 min left`; `""` until it can be said. */
  next(completed: number, total: number): string;
}

/** Milliseconds of a download that its speed is measured over. */
const span = 10_000;
/** With less behind it, a speed jumps. */
const least = 2_000;

/** `now` in ms. */
export function createDownloadSpeed(now: () => number): DownloadSpeed {
  let seen: { readonly at: number; readonly completed: number }[] = [];
  return {
    next(completed, total) {
      const at = now();
      const [first] = seen;
      // A layer that begins anew counts down.
      if (first && completed < first.completed) seen = [];
      seen = [...seen.filter((one) => at - one.at <= span), { at, completed }];
      const [oldest] = seen;
      if (!oldest || at - oldest.at < least || completed <= oldest.completed) return '';
      const perSecond = ((completed - oldest.completed) / (at - oldest.at)) * 1000;
      return `${formatBytes(perSecond)}/s, ${inWords((total - completed) / perSecond)} left`;
    },
  };
}

function inWords(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  return seconds < 5_400 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}
