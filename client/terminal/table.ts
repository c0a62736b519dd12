import { columnsOf, padEnd, padStart } from './columns.ts';
import type { Style } from './style.ts';

export interface Column {
  readonly title: string;
  readonly align?: 'right';
}

/** Rows under titles, as wide as their widest cell; nothing is cut. */
export function formatTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  style: Style,
): string {
  const widths = columns.map(({ title }, index) =>
    Math.max(columnsOf(title), ...rows.map((row) => columnsOf(row[index] ?? ''))),
  );
  const format = (cells: readonly string[]) =>
    columns
      .map(({ align }, index) =>
        (align === 'right' ? padStart : padEnd)(cells[index] ?? '', widths[index] ?? 0),
      )
      .join('  ')
      .trimEnd();
  const head = style.dim(format(columns.map(({ title }) => title)));
  return [head, ...rows.map(format)].map((line) => `${line}\n`).join('');
}

/** Bytes in the unit that gives one to three digits before the point. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[power]}`;
}
