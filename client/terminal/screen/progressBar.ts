import { formatBytes, formatShare } from '../../../protocol/base/bytes.ts';
import { columnsOf, cutTo, padEnd, padStart } from './columns.ts';
import { showLine } from './controlCharacters.ts';
import type { Style } from './style.ts';

/** One bar and what stands beside it. */
export interface BarRow {
  readonly name: string;
  /** 0 to 100. */
  readonly percentage: number;
  /** Bytes. */
  readonly completed?: number;
  readonly total?: number;
  /** Bytes a second. */
  readonly speed?: number;
}

/** A figure, and the columns that it has on every line, so that nothing moves when it changes. */
interface Figure {
  readonly columns: number;
  readonly of: (row: BarRow) => string;
}

/** By how much they are missed where there is no room. */
const figures: readonly Figure[] = [
  { columns: 5, of: ({ percentage }) => `${percentage} %` },
  {
    columns: 15,
    of: ({ completed, total }) =>
      completed === undefined || total === undefined ? '' : formatShare(completed, total),
  },
  { columns: 10, of: ({ speed, ...row }) => (isDone(row) || !speed ? '' : `${formatBytes(speed)}/s`) },
  { columns: 8, of: describeTimeLeft },
];

const gap = '  ';
const leastBar = 8;
const mostBar = 40;
const mostName = 20;

/** A line for each row, of at most `width` columns; all have the same figures and bars of the same length. */
export function drawBars(rows: readonly BarRow[], width: number, style: Style): readonly string[] {
  const names = rows.map(({ name }) => cutTo(showLine(name), Math.min(mostName, Math.floor(width / 3))));
  const nameColumns = Math.max(0, ...names.map(columnsOf));
  const room = width - nameColumns - gap.length;
  const shown = figuresFor(room);
  const bar = Math.min(mostBar, room - columnsOfFigures(shown) - gap.length);
  return rows.map((row, index) => {
    const name = padEnd(names[index] ?? '', nameColumns);
    const cells = shown.map(({ columns, of }) => padStart(cutTo(of(row), columns), columns)).join(gap);
    if (bar < leastBar) return cutTo(`${name}${gap}${cells}`.trimEnd(), width);
    return `${name}${gap}${drawBar(row, bar, style)}${gap}${cells}`.trimEnd();
  });
}

/** As many as leave room for a bar; the first in any case. */
function figuresFor(room: number): readonly Figure[] {
  for (let count = figures.length; count > 1; count--) {
    const some = figures.slice(0, count);
    if (room - columnsOfFigures(some) - gap.length >= leastBar) return some;
  }
  return figures.slice(0, 1);
}

function columnsOfFigures(some: readonly Figure[]): number {
  return some.reduce((sum, { columns }) => sum + columns, gap.length * (some.length - 1));
}

function drawBar(row: BarRow, columns: number, style: Style): string {
  const full = Math.round((Math.min(100, Math.max(0, row.percentage)) / 100) * columns);
  const colour = isDone(row) ? style.green : style.cyan;
  return colour('█'.repeat(full)) + style.dim('░'.repeat(columns - full));
}

function isDone({ percentage }: BarRow): boolean {
  return percentage >= 100;
}

/** At the speed of now, such as `1m 05s`. */
function describeTimeLeft({ completed = 0, total = 0, speed = 0 }: BarRow): string {
  if (completed >= total || speed <= 0) return '';
  const seconds = Math.ceil((total - completed) / speed);
  const two = (number: number) => String(Math.floor(number)).padStart(2, '0');
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${two(seconds % 60)}s`;
  return seconds < 360_000 ? `${Math.floor(seconds / 3600)}h ${two((seconds % 3600) / 60)}m` : 'long';
}
