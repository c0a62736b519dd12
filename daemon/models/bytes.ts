const units = ['B', 'kB', 'MB', 'GB', 'TB'];

/** Such as `1.2 of 4.7 GB`, both in the unit of the total. */
export function formatShare(completed: number, total: number): string {
  const power = powerOf(total);
  return `${inUnit(completed, power)} of ${inUnit(total, power)} ${units[power]}`;
}

/** Such as `5.2 GB`. */
export function formatSize(bytes: number): string {
  const power = powerOf(bytes);
  return `${inUnit(bytes, power)} ${units[power]}`;
}

/** The index of the unit that suits this number of bytes. */
function powerOf(bytes: number): number {
  return bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
}

function inUnit(bytes: number, power: number): string {
  return (bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1);
}
