import { columnsOf, cutTo, padEnd, padStart } from './columns.ts';
import type { Style } from './style.ts';

export interface Column {
  readonly title: string;
  readonly align?: 'right';
}

export interface TableLook {
  readonly style: Style;
  /** Columns of the terminal, where lines are to be cut to it. */
  readonly width?: number;
}

/** Rows under titles, as wide as their widest cell. */
export function formatTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  { style, width = Number.POSITIVE_INFINITY }: TableLook,
): string {
  const widths = columns.map(({ title }, index) =>
    Math.max(columnsOf(title), ...rows.map((row) => columnsOf(row[index] ?? ''))),
  );
  const format = (cells: readonly string[]) => {
    const padded = columns.map(({ align }, index) =>
      (align === 'right' ? padStart : padEnd)(cells[index] ?? '', widths[index] ?? 0),
    );
    return cutTo(padded.join('  ').trimEnd(), width);
  };
  const head = style.dim(format(columns.map(({ title }) => title)));
  return [head, ...rows.map(format)].map((line) => `${line}\n`).join('');
}

const units = ['B', 'kB', 'MB', 'GB', 'TB'];

/** Bytes in the unit that gives one to three digits before the point. */
export function formatBytes(bytes: number): string {
  const power = powerOf(bytes);
  const value = bytes / 1000 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[power]}`;
}

/** Such as `1.2 of 4.7 GB`, both in the unit of the larger; at most 15 characters below a thousand terabytes. */
export function formatShare(completed: number, total: number): string {
  const power = powerOf(total);
  const digits = power === 0 || total / 1000 ** power >= 99.95 ? 0 : 1;
  const inUnit = (bytes: number) => (bytes / 1000 ** power).toFixed(digits);
  return `${inUnit(completed)} of ${inUnit(total)} ${units[power]}`;
}

/** Of a thousand, for the unit. */
function powerOf(bytes: number): number {
  return bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
}
