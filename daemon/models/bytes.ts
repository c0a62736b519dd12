const units = ['B', 'kB', 'MB', 'GB', 'TB'];

/** Such as `1.2 of 4.7 GB`: both in the unit of the larger. */
export function formatShare(completed: number, total: number): string {
  const power = total < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(total) / 3));
  const inUnit = (bytes: number) => (bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1);
  return `${inUnit(completed)} of ${inUnit(total)} ${units[power]}`;
}
