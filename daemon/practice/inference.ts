import type { Exchange } from './exchange.ts';
import { ApiFailure } from './failure.ts';
import type { Job, Step } from './job.ts';
import { createLineMaker } from './lineMaker.ts';
import { createPacer } from './pacer.ts';

/** Lets the model speak within the limits of the request. Ends without `done` if the speech is cut. */
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
  const maker = createLineMaker(job);
  const room = job.shift ? job.limit : Math.min(job.limit, job.window - job.promptTokens + 1);
  const speak = exchange.speak ?? job.model.speak ?? exchange.runner.speak;
  let reason: 'stop' | 'length' = 'stop';
  for await (const piece of speak(job.prompt)) {
    exchange.signal.throwIfAborted();
    if (piece.kind === 'failure') throw new ApiFailure(piece.status ?? 500, piece.message);
    if (piece.kind === 'cut') return;
    if (piece.kind === 'crash') return exchange.drop();
    const { step, stopped } = maker.add(piece);
    if (step) yield step;
    if (stopped) break;
    if (maker.tokens() < room) continue;
    reason = 'length';
    break;
  }
  yield* maker.end(reason);
}
