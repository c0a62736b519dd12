import type { PartProgress, WorkProgress } from '../../../protocol/messages/progress.ts';
import { SpeedMeter } from './speedMeter.ts';

export interface PartState extends PartProgress {
  /** Bytes a second. */
  readonly speed?: number;
}

/** What there is to draw. */
export interface ProgressState {
  readonly title: string;
  readonly message: string;
  readonly percentage?: number;
  readonly completed?: number;
  readonly total?: number;
  /** Bytes a second, of all parts. */
  readonly speed?: number;
  readonly parts: readonly PartState[];
}

type Report = Extract<WorkProgress, { readonly kind: 'report' }>;

/** Follows the reports of a piece of work, and measures how fast its parts are. */
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

  /** That of the parts together: one that goes on where it was left raises what is completed, and not the speed. */
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
