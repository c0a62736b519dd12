import type { Model } from '../../../protocol/messages/models.ts';

/** What decides the window of a model. */
export type Windowed = Pick<Model, 'context' | 'running'>;

/**
 * A model's window in words, the same wherever there is room for all of it: what the model has now, or gets once it is
 * loaded, and the most that it can have. Such as `4,096 of at most 40,960 tokens`; `""` if nothing is known. `expected`
 * are the tokens that the next question gets, where that is known.
 */
export function describeWindow({ context, running }: Windowed, expected?: number): string {
  const { allocated, configured, maximum } = context;
  const isLoaded = running !== undefined || allocated !== undefined;
  // Some servers do not say what they gave to a loaded model, and then nobody knows.
  const next = isLoaded && allocated === undefined ? undefined : (expected ?? allocated ?? configured);
  if (next === undefined) return maximum === undefined ? '' : `at most ${inTokens(maximum)}`;
  const most = maximum !== undefined && maximum > next ? ` of at most ${inWords(maximum)}` : '';
  const when =
    allocated === undefined ? ' once loaded' : next === allocated ? '' : `, ${inWords(allocated)} now`;
  return `${inWords(next)}${most} tokens${when}`;
}

export function inTokens(count: number): string {
  return `${inWords(count)} tokens`;
}

function inWords(count: number): string {
  return count.toLocaleString('en-US');
}
