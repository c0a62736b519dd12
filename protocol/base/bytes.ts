const units = ['B', 'kB', 'MB', 'GB', 'TB'];

/** Such as `5.2 GB` or `123 MB`: bytes in the unit of 1,000 that gives one to three digits before the point. */
export function formatBytes(bytes: number): string {
  const power = powerOf(bytes);
  return `${inUnit(bytes, power, digitsOf(bytes, power))} ${units[power]}`;
}

/** Such as `1.2 of 4.7 GB`, both in the unit of the total; at most 15 characters below a thousand terabytes. */
export function formatShare(completed: number, total: number): string {
  const power = powerOf(total);
  const digits = digitsOf(total, power);
  return `${inUnit(completed, power, digits)} of ${inUnit(total, power, digits)} ${units[power]}`;
}

/** Of a thousand, for the unit. */
function powerOf(bytes: number): number {
  const power = Math.floor(Math.log10(Math.max(1, bytes)) / 3);
  // What is rounded to 1000 is 1.0 of the next unit.
  const whole = Math.round(bytes / 1000 ** power) === 1000 ? power + 1 : power;
  return Math.min(units.length - 1, whole);
}

/** Digits behind the point: none where three stand before it, also once it is rounded. */
function digitsOf(bytes: number, power: number): number {
  return power === 0 || bytes / 1000 ** power >= 99.95 ? 0 : 1;
}

function inUnit(bytes: number, power: number, digits: number): string {
  return (bytes / 1000 ** power).toFixed(digits);
}
