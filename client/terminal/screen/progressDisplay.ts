import { withoutUndefined } from '../../../protocol/base/withoutUndefined.ts';
import { cutTo } from './columns.ts';
import { showLine } from './controlCharacters.ts';
import { type BarRow, drawBars } from './progressBar.ts';
import type { PartState, ProgressState } from './progressState.ts';
import type { Style } from './style.ts';

/** Of a terminal. */
export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

/**
 * What is on the screen: a line that says what is done, a bar for each part, and one for all. It is one row lower than
 * the screen, where the cursor stands, and one column narrower, where some terminals wrap too early.
 */
export function drawProgress(
  state: ProgressState,
  { columns, rows }: ScreenSize,
  style: Style,
): readonly string[] {
  const width = Math.max(1, columns - 1);
  const height = Math.max(1, rows - 1);
  const head = cutTo(showLine(headOf(state)), width);
  const total = totalOf(state);
  if (!total) return [head];
  const { shown, summary } = fitParts(state.parts, height - 2);
  const bars = drawBars([...shown.map(rowOf), total], width, style);
  const lines = [
    head,
    ...(summary === '' ? [] : [style.dim(cutTo(summary, width))]),
    ...bars.slice(0, shown.length),
    ...bars.slice(-1),
  ];
  return lines.slice(-height);
}

function headOf({ title, message }: ProgressState): string {
  return [title, message].filter((part) => part !== '').join(' · ');
}

function totalOf({ percentage, completed, total, speed }: ProgressState): BarRow | undefined {
  if (percentage === undefined && !total) return undefined;
  const share = percentage ?? percentageOf(completed, total);
  return withoutUndefined({
    name: 'total',
    percentage: share,
    ...(total && completed !== undefined ? { completed, total } : {}),
    speed,
  });
}

function rowOf(part: PartState): BarRow {
  return { ...part, percentage: percentageOf(part.completed, part.total) };
}

function percentageOf(completed = 0, total = 0): number {
  return total === 0 ? 100 : Math.min(100, Math.floor((completed / total) * 100));
}

interface FittedParts {
  readonly shown: readonly PartState[];
  /** Of those that are not shown. */
  readonly summary: string;
}

/** Those that fit into some rows: the finished ones go first, the oldest before the others, then the newest. */
function fitParts(parts: readonly PartState[], rows: number): FittedParts {
  if (parts.length <= rows) return { shown: parts, summary: '' };
  if (rows < 1) return { shown: [], summary: '' };
  const spare = parts.length - (rows - 1);
  const finished = parts.filter(isFinished).slice(0, spare);
  const rest = parts.filter((part) => !finished.includes(part));
  const shown = rest.slice(0, rows - 1);
  const waiting = rest.length - shown.length;
  const words = [
    ...(finished.length > 0 ? [`${finished.length} finished`] : []),
    ...(waiting > 0 ? [`${waiting} more under way`] : []),
  ];
  return { shown, summary: `… ${words.join(', ')}` };
}

function isFinished({ completed, total }: PartState): boolean {
  return completed >= total;
}
