import { columnsOf, cutTo, padEnd, padStart } from './columns.ts';
import type { Style } from './output.ts';

export interface Column {
  readonly title: string;
  readonly align?: 'right';
  /** It becomes narrower if the table is wider than the terminal, so that the columns after it can be read too. */
  readonly isFlexible?: boolean;
}

export interface TableLook {
  readonly style: Style;
  /** Lines are cut to this many columns. */
  readonly width?: number;
}

/** Rows under titles. Each column is as wide as its widest cell. */
export function formatTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  { style, width = Number.POSITIVE_INFINITY }: TableLook,
): string {
  const widths = columns.map(({ title }, index) =>
    Math.max(columnsOf(title), ...rows.map((row) => columnsOf(row[index] ?? ''))),
  );
  narrow(columns, widths, width - (columns.length - 1) * gap);
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

/** Blanks between two columns, and the least width of a flexible one. */
const gap = 2;
const leastFlexible = 12;

/** Makes flexible columns narrower until the table fits, the widest first. */
function narrow(columns: readonly Column[], widths: number[], room: number): void {
  let excess = widths.reduce((sum, each) => sum + each, 0) - room;
  const flexible = columns.flatMap(({ isFlexible }, index) => (isFlexible ? [index] : []));
  while (excess-- > 0) {
    const widest = Math.max(...flexible.map((index) => widths[index] ?? 0));
    const index = flexible.find((each) => widths[each] === widest);
    if (index === undefined || widest <= leastFlexible) return;
    widths[index] = widest - 1;
  }
}
