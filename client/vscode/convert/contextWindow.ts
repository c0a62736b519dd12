import type { ContextLength } from '../../../protocol/models.ts';

/**
 * A model's window in words, the same wherever it is shown: what the model has now, or gets once it is loaded, and the
 * most that it can have. Such as `4,096 of at most 40,960 tokens`; `""` if nothing is known. `expected` are the tokens
 * that the next question gets, where that is known.
 */
export function describeWindow({ allocated, configured, maximum }: ContextLength, expected?: number): string {
  const next = expected ?? allocated ?? configured;
  if (next === undefined) return maximum === undefined ? '' : `at most ${inWords(maximum)} tokens`;
  const most = maximum !== undefined && maximum > next ? ` of at most ${inWords(maximum)}` : '';
  const when =
    allocated === undefined ? ' once loaded' : next === allocated ? '' : `, ${inWords(allocated)} now`;
  return `${inWords(next)}${most} tokens${when}`;
}

function inWords(tokens: number): string {
  return tokens.toLocaleString('en-US');
}
