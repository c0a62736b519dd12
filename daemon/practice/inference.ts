import type { Exchange } from './exchange.ts';
import { ApiFailure } from './failure.ts';
import type { Metrics } from './meter.ts';
import type { InstalledModel } from './modelStore.ts';
import { createPacer } from './pacer.ts';
import type { Prompt } from './speech.ts';
import { createTeller } from './teller.ts';

/** One line of an answer, before chat or generate gives it its form. */
export interface Step {
  readonly text: string;
  readonly thinking?: string;
  readonly calls?: readonly object[];
  readonly logprobs?: readonly object[];
  readonly done?: { readonly reason: 'stop' | 'length'; readonly metrics: Metrics };
}

export interface Job {
  readonly prompt: Prompt;
  readonly model: InstalledModel;
  readonly promptTokens: number;
  readonly window: number;
  readonly shift: boolean;
  readonly limit: number;
  readonly stop: readonly string[];
  readonly topLogprobs?: number;
}

/** Lets the model speak, within the limits of the request; ends without `done` where the speech is cut. */
export async function* infer(exchange: Exchange, job: Job): AsyncGenerator<Step> {
  const { runner, signal } = exchange;
  const release = runner.loaded.use(job.model);
  const pace = createPacer(
    exchange.speak ? Number.POSITIVE_INFINITY : runner.tokensPerSecond,
    runner.clock,
    signal,
  );
  try {
    for await (const step of steps(exchange, job)) {
      await pace();
      yield step;
    }
  } finally {
    release();
  }
}

async function* steps(exchange: Exchange, job: Job): AsyncGenerator<Step> {
  const teller = createTeller(job);
  const room = job.shift ? job.limit : Math.min(job.limit, job.window - job.promptTokens + 1);
  const speak = exchange.speak ?? job.model.speak ?? exchange.runner.speak;
  let reason: 'stop' | 'length' = 'stop';
  for await (const piece of speak(job.prompt)) {
    exchange.signal.throwIfAborted();
    if (piece.kind === 'failure') throw new ApiFailure(piece.status ?? 500, piece.message);
    if (piece.kind === 'cut') return;
    if (piece.kind === 'crash') return exchange.drop();
    const { step, stopped } = teller.tell(piece);
    if (step) yield step;
    if (stopped) break;
    if (teller.tokens() < room) continue;
    reason = 'length';
    break;
  }
  yield* teller.end(reason);
}
