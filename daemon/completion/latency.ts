import type { AskRunner } from './asking.ts';

/** How long models take to the first line of an answer, as it was seen lately. */
export interface Latency {
  /** In ms: the middle one of the newest, so that a model that had to be loaded first counts little. */
  of(model: string): number | undefined;
  /** The same way to ask, observed; what is aborted or fails tells nothing. */
  observe(ask: AskRunner): AskRunner;
}

/** How many answers are remembered, of one model. */
const most = 5;

/** `now` in ms. */
export function createLatency(now: () => number): Latency {
  let seen: { readonly model: string; readonly times: readonly number[] } = { model: '', times: [] };
  const note = (model: string, time: number) => {
    const times = seen.model === model ? seen.times : [];
    seen = { model, times: [...times, time].slice(-most) };
  };
  return {
    of: (model) => (seen.model === model ? middleOf(seen.times) : undefined),
    observe: (ask) => async (place, signal, receive) => {
      const begun = now();
      let firstLine: number | undefined;
      const text = await ask(place, signal, (piece) => {
        if (piece.includes('\n')) firstLine ??= now() - begun;
        receive(piece);
      });
      note(place.model, firstLine ?? now() - begun);
      return text;
    },
  };
}

function middleOf(times: readonly number[]): number | undefined {
  return times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)];
}
