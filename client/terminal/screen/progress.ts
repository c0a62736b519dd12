import { withoutUndefined } from '../../../protocol/base/json.ts';
import { formatBytes, formatShare, showLine } from '../../../protocol/base/text.ts';
import type { PartProgress, WorkProgress } from '../../../protocol/messages/messageTypes.ts';
import { columnsOf, cutTo, padEnd, padStart } from './columns.ts';
import type { Style } from './output.ts';

/**
 * The lines on the screen: what is being done, a bar for each part, and one for all. They leave one row for the cursor,
 * and one column, because some terminals wrap too early.
 */
export function drawProgress(
  state: ProgressState,
  { columns, rows }: { readonly columns: number; readonly rows: number },
  style: Style,
): readonly string[] {
  const width = Math.max(1, columns - 1);
  const height = Math.max(1, rows - 1);
  const about = [state.title, state.message].filter((part) => part !== '').join(' · ');
  const head = cutTo(showLine(about), width);
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

/**
 * The parts that fit into the rows, and a summary of the others. Finished ones are left out first, the oldest before
 * the others; then the newest.
 */
function fitParts(parts: readonly PartState[], rows: number) {
  if (parts.length <= rows) return { shown: parts, summary: '' };
  if (rows < 1) return { shown: [], summary: '' };
  const spare = parts.length - (rows - 1);
  const finished = parts.filter(({ completed, total }) => completed >= total).slice(0, spare);
  const rest = parts.filter((part) => !finished.includes(part));
  const shown = rest.slice(0, rows - 1);
  const waiting = rest.length - shown.length;
  const words = [
    ...(finished.length > 0 ? [`${finished.length} finished`] : []),
    ...(waiting > 0 ? [`${waiting} more under way`] : []),
  ];
  return { shown, summary: `… ${words.join(', ')}` };
}

/** One bar and the figures beside it. */
interface BarRow {
  readonly name: string;
  /** 0 to 100. */
  readonly percentage: number;
  /** Bytes. */
  readonly completed?: number;
  readonly total?: number;
  /** Bytes a second. */
  readonly speed?: number;
}

/** A figure, and its columns on every line, so that nothing moves when it changes. */
interface Figure {
  readonly columns: number;
  readonly of: (row: BarRow) => string;
}

/** The most important first. The last ones are left out if there is no room. */
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
const maxBar = 40;
const maxName = 20;

/** A line for each row, of at most `width` columns. All have the same figures, and bars of the same length. */
function drawBars(rows: readonly BarRow[], width: number, style: Style): readonly string[] {
  const names = rows.map(({ name }) => cutTo(showLine(name), Math.min(maxName, Math.floor(width / 3))));
  const nameColumns = Math.max(0, ...names.map(columnsOf));
  const room = width - nameColumns - gap.length;
  const shown = figuresFor(room);
  const bar = Math.min(maxBar, room - columnsOfFigures(shown) - gap.length);
  return rows.map((row, index) => {
    const name = padEnd(names[index] ?? '', nameColumns);
    const cells = shown.map(({ columns, of }) => padStart(cutTo(of(row), columns), columns)).join(gap);
    if (bar < leastBar) return cutTo(`${name}${gap}${cells}`.trimEnd(), width);
    return `${name}${gap}${drawBar(row, bar, style)}${gap}${cells}`.trimEnd();
  });
}

/** As many as leave room for a bar, and at least the first. */
function figuresFor(room: number): readonly Figure[] {
  const last = figures.findLastIndex(
    (_, index) => room - columnsOfFigures(figures.slice(0, index + 1)) - gap.length >= leastBar,
  );
  return figures.slice(0, Math.max(1, last + 1));
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

/** At the present speed, such as `1m 05s`. */
function describeTimeLeft({ completed = 0, total = 0, speed = 0 }: BarRow): string {
  if (completed >= total || speed <= 0) return '';
  const seconds = Math.ceil((total - completed) / speed);
  const two = (number: number) => String(Math.floor(number)).padStart(2, '0');
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${two(seconds % 60)}s`;
  return seconds < 360_000 ? `${Math.floor(seconds / 3600)}h ${two((seconds % 3600) / 60)}m` : 'long';
}

interface PartState extends PartProgress {
  /** Bytes a second. */
  readonly speed?: number;
}

/** What is drawn. */
interface ProgressState {
  readonly title: string;
  readonly message: string;
  readonly percentage?: number;
  readonly completed?: number;
  readonly total?: number;
  /** Bytes a second, all parts together. */
  readonly speed?: number;
  readonly parts: readonly PartState[];
}

type Report = Extract<WorkProgress, { readonly kind: 'report' }>;

/** Follows the reports of a piece of work, and measures the speed of its parts. */
export class ProgressTracker {
  #title = '';
  #report: Report = { kind: 'report', message: '' };
  readonly #meters = new Map<string, SpeedMeter>();
  readonly #whole = new SpeedMeter();

  /** `now` in ms. */
  take(value: WorkProgress, now: number): void {
    if (value.kind === 'begin') this.#title = value.title;
    if (value.kind !== 'report') return;
    this.#report = value;
    for (const { name, completed } of value.parts ?? []) this.#meterOf(name).note(now, completed);
    if (value.completed !== undefined) this.#whole.note(now, value.completed);
  }

  state(now: number): ProgressState {
    const { kind: _, parts: reported = [], ...report } = this.#report;
    const parts = reported.map((part) => ({ ...part, ...speedOf(this.#meterOf(part.name), now) }));
    return { title: this.#title, ...report, ...this.#speed(parts, now), parts };
  }

  /** The sum of the parts: a part that is resumed raises what is completed, but not the speed. */
  #speed(parts: readonly PartState[], now: number): { readonly speed?: number } {
    const known = parts.flatMap(({ speed }) => (speed === undefined ? [] : [speed]));
    if (known.length > 0) return { speed: known.reduce((sum, speed) => sum + speed, 0) };
    return parts.length > 0 ? {} : speedOf(this.#whole, now);
  }

  #meterOf(name: string): SpeedMeter {
    const meter = this.#meters.get(name) ?? new SpeedMeter();
    this.#meters.set(name, meter);
    return meter;
  }
}

function speedOf(meter: SpeedMeter, now: number): { readonly speed?: number } {
  const speed = meter.speed(now);
  return speed === undefined ? {} : { speed };
}

/** The speed is the mean of this many ms. */
const period = 5_000;
/** Before this many ms the speed is unknown. */
const least = 500;

interface Sample {
  readonly at: number;
  readonly completed: number;
}

/** Measures how fast a number grows, from its values in the last seconds. */
export class SpeedMeter {
  #samples: Sample[] = [];

  note(at: number, completed: number): void {
    // A smaller value means that it began anew.
    if (completed < (this.#samples.at(-1)?.completed ?? 0)) this.#samples = [];
    this.#samples.push({ at, completed });
    this.#forget(at);
  }

  /** Units a second; undefined if it is too early. */
  speed(now: number): number | undefined {
    this.#forget(now);
    const [first] = this.#samples;
    const last = this.#samples.at(-1);
    if (!first || !last || now - first.at < least) return undefined;
    return ((last.completed - first.completed) / (now - first.at)) * 1000;
  }

  /** The last sample stays, because it is valid until the next one. */
  #forget(now: number): void {
    const first = this.#samples.findIndex(({ at }) => now - at <= period);
    this.#samples.splice(0, first < 0 ? this.#samples.length - 1 : first);
  }
}
