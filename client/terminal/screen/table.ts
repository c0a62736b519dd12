import type { Surroundings } from '../cli/streams.ts';
import { columnsOf, cutTo, padEnd, padStart } from './columns.ts';
import { type Style, styleFor } from './style.ts';

export interface Column {
  readonly title: string;
  readonly align?: 'right';
  /** It gives way where the table is wider than the terminal, so that the columns behind it can be read too. */
  readonly isFlexible?: boolean;
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
  giveWay(columns, widths, width - (columns.length - 1) * gap);
  const format = (cells: readonly string[]) => {
    const padded = columns.map(({ align }, index) =>
      (align === 'right' ? padStart : padEnd)(
        cutTo(cells[index] ?? '', widths[index] ?? 0),
        widths[index] ?? 0,
      ),
    );
    return cutTo(padded.join(' '.repeat(gap)).trimEnd(), width);
  };
  const head = style.dim(format(columns.map(({ title }) => title)));
  return [head, ...rows.map(format)].map((line) => `${line}\n`).join('');
}

/** Blanks between two columns, and what a flexible one keeps. */
const gap = 2;
const leastFlexible = 12;

/** The widest of those that may gives way first. */
function giveWay(columns: readonly Column[], widths: number[], room: number): void {
  let excess = widths.reduce((sum, each) => sum + each, 0) - room;
  const flexible = columns.flatMap(({ isFlexible }, index) => (isFlexible ? [index] : []));
  while (excess-- > 0) {
    const widest = Math.max(...flexible.map((index) => widths[index] ?? 0));
    const index = flexible.find((each) => widths[each] === widest);
    if (index === undefined || widest <= leastFlexible) return;
    widths[index] = widest - 1;
  }
}

/** How a table looks on a stream: cut to a screen, and whole elsewhere. */
export function lookOf(stream: Surroundings['stdout'], env: Surroundings['env']): TableLook {
  const style = styleFor(stream, env);
  return stream.isTTY ? { style, width: stream.columns || 80 } : { style };
}
