/** Durations in nanoseconds. A zero is left out of the answer. */
export interface Metrics {
  readonly total_duration: number;
  readonly load_duration: number;
  readonly prompt_eval_count: number;
  readonly prompt_eval_duration: number;
  readonly eval_count: number;
  readonly eval_duration: number;
}

export interface Meter {
  count(tokens: number): void;
  tokens(): number;
  read(): Metrics;
}

/**
 * Counts the tokens that a model says. The evaluation time starts with the first token, so a single token takes no
 * time.
 */
export function startMeter(promptTokens: number): Meter {
  const start = performance.now();
  let tokens = 0;
  let first = start;
  let last = start;
  return {
    count(more) {
      if (more <= 0) return;
      last = performance.now();
      if (tokens === 0) first = last;
      tokens += more;
    },
    tokens: () => tokens,
    read: () => ({
      total_duration: nanoseconds(performance.now() - start),
      load_duration: 1_000,
      prompt_eval_count: promptTokens,
      prompt_eval_duration: nanoseconds(first - start),
      eval_count: tokens,
      eval_duration: tokens > 1 ? nanoseconds(last - first) : 0,
    }),
  };
}

/** The metrics for the answer, without zeros. */
export function metricsOnWire(metrics: Metrics): object {
  return Object.fromEntries(Object.entries(metrics).filter(([, value]) => value !== 0));
}

function nanoseconds(milliseconds: number): number {
  return Math.max(1, Math.round(milliseconds * 1e6));
}
