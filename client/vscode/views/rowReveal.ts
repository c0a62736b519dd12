import type { Clock } from '../../shared/clock.ts';
import type { ModelRow } from '../models/modelRow.ts';

/** In ms. A row that appears later is not selected: by then the user looks at something else. */
const maxWait = 10_000;
/**
 * In ms until the next try. If rows change while the editor looks for one, it does not find it, and does not report
 * that.
 */
const again = 500;

/** Selects the row of one model as soon as possible. `select` selects it if it is shown. */
export function createRowReveal(clock: Clock, select: (model: ModelRow) => void) {
  let wanted: { readonly model: ModelRow; readonly until: number } | undefined;
  let stopTrying: () => void = () => undefined;
  /** The row is selected, or the user has selected another row, which must stay selected. */
  const end = () => {
    wanted = undefined;
    stopTrying();
  };
  /** The rows have changed. */
  const tryNow = () => {
    stopTrying();
    if (!wanted || clock.now() >= wanted.until) return end();
    stopTrying = clock.after(again, tryNow);
    select(wanted.model);
  };
  return {
    /** Replaces an older request. */
    want(model: ModelRow): void {
      wanted = { model, until: clock.now() + maxWait };
      tryNow();
    },
    tryNow,
    end,
    dispose: end,
  };
}
