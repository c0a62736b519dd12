const secondsOfUnit: Readonly<Record<string, number>> = {
  ns: 1e-9,
  us: 1e-6,
  µs: 1e-6,
  ms: 1e-3,
  s: 1,
  m: 60,
  h: 3_600,
};

/**
 * The seconds of a duration: a number of seconds, or a text such as `300` or `-1h30m`, as Go reads it. Undefined where
 * there is none, or for a text of another form.
 */
export function durationSeconds(duration: string | number | undefined): number | undefined {
  if (typeof duration !== 'string') return duration;
  if (/^-?\d+$/.test(duration)) return Number(duration);
  const parts = [...duration.matchAll(/(\d+(?:\.\d+)?)([nuµm]?s|m|h)/g)];
  const sign = duration.startsWith('-') ? '-' : '';
  if (parts.length === 0 || sign + parts.map(([part]) => part).join('') !== duration) return undefined;
  const seconds = parts.reduce(
    (sum, [, count, unit = '']) => sum + Number(count) * (secondsOfUnit[unit] ?? 0),
    0,
  );
  return sign ? -seconds : seconds;
}
