import type { Clock } from '../../shared/clock.ts';
import type { ModelRow } from '../models/modelRow.ts';

/** Selects the row of one model as soon as possible. */
export interface RowReveal {
  /** Replaces an older request. */
  want(model: ModelRow): void;
  /** The rows have changed. */
  tryNow(): void;
  /** The row is selected, or the user has selected another row, which must stay selected. */
  end(): void;
  dispose(): void;
}

export interface RowRevealOptions {
  readonly clock: Clock;
  /** Selects the row of this model, if it is shown. */
  readonly select: (model: ModelRow) => void;
}

/** In ms. A row that appears later is not selected: by then the user looks at something else. */
const maxWait = 10_000;
/**
 * In ms until the next try. If rows change while the editor looks for one, it does not find it, and does not report
 * that.
 */
const again = 500;

export function createRowReveal({ clock, select }: RowRevealOptions): RowReveal {
  let wanted: { readonly model: ModelRow; readonly until: number } | undefined;
  let stopTrying: () => void = () => undefined;
  const end = () => {
    wanted = undefined;
    stopTrying();
  };
  const tryNow = () => {
    stopTrying();
    if (!wanted || clock.now() >= wanted.until) return end();
    stopTrying = clock.after(again, tryNow);
    select(wanted.model);
  };
  return {
    want(model) {
      wanted = { model, until: clock.now() + maxWait };
      tryNow();
    },
    tryNow,
    end,
    dispose: end,
  };
}
