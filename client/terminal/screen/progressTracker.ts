import type { PartProgress, WorkProgress } from '../../../protocol/messages/progress.ts';

export interface PartState extends PartProgress {
  /** Bytes a second. */
  readonly speed?: number;
}

/** What is drawn. */
export interface ProgressState {
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
