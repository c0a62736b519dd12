import { setImmediate as turn } from 'node:timers/promises';
import type { Clock, Exchange } from './exchange.ts';
import { ApiFailure, badRequest } from './failure.ts';
import { checkFormat, type InferenceRequest, type LoadedOptions } from './inferenceRequest.ts';
import { createLineMaker, type Job, type Step } from './lineMaker.ts';
import type { InstalledModel } from './modelStore.ts';
import { countTokens, type Prompt, type PromptMessage, type PromptTool } from './speech.ts';

interface MessageInference extends Pick<Prompt, 'tools' | 'think' | 'hole'> {
  readonly request: InferenceRequest;
  readonly model: InstalledModel;
  readonly options: LoadedOptions;
  readonly messages: readonly PromptMessage[];
}

/** Lets the model speak on messages, which are cut to its window. */
export async function* inferMessages(
  exchange: Exchange,
  { request, model, options, messages: all, tools, ...prompt }: MessageInference,
): AsyncGenerator<Step> {
  const { window, limit, stop } = options;
  const { name, format, shift, topLogprobs } = request;
  checkFormat(format);
  const count = (kept: readonly PromptMessage[]) => promptTokens(kept, tools);
  const { messages, tokens } = fitMessages(all, count, { ...request, window });
  yield* infer(exchange, {
    prompt: { model: name, messages, tools, format, signal: exchange.signal, ...prompt },
    model,
    promptTokens: tokens,
    window,
    shift,
    limit,
    stop,
    ...(topLogprobs === undefined ? {} : { topLogprobs }),
  });
}

/** An estimate of the prompt's tokens: four more for the frame of each message, and ten for each image. */
function promptTokens(messages: readonly PromptMessage[], tools: readonly PromptTool[]): number {
  const texts = messages.map(({ content, images }) => countTokens(content) + 4 + images * 10);
  const offered = tools.map((tool) => countTokens(JSON.stringify(tool)));
  return [...texts, ...offered].reduce((sum, count) => sum + count, 0);
}

/**
 * Silently cuts a prompt to the window, as a real runner does. The oldest messages are dropped; system messages and the
 * last message stay. If the last message alone is too long, it is cut inside.
 * @throws {ApiFailure} 400 if the request asks for an error instead.
 */
function fitMessages(
  messages: readonly PromptMessage[],
  count: (messages: readonly PromptMessage[]) => number,
  { window, truncate }: Pick<InferenceRequest, 'truncate'> & { readonly window: number },
): { readonly messages: readonly PromptMessage[]; readonly tokens: number } {
  let kept = messages;
  while (count(kept) > window) {
    if (!truncate) throw badRequest('the input length exceeds the context length');
    const oldest = kept.findIndex(({ role }, index) => role !== 'system' && index < kept.length - 1);
    if (oldest === -1) return { messages: kept, tokens: window };
    kept = kept.toSpliced(oldest, 1);
  }
  return { messages: kept, tokens: count(kept) };
}

/** Lets the model speak within the limits of the request. Ends without `done` if the speech is cut. */
async function* infer(exchange: Exchange, job: Job): AsyncGenerator<Step> {
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

/**
 * Waits before each token, so that tokens come at a steady speed, however long the waits themselves take. Without a
 * limit it only pauses now and then for other work: otherwise nothing would notice that a client is gone.
 */
export function createPacer(perSecond: number, clock: Clock, signal: AbortSignal): () => Promise<void> {
  let count = 0;
  let due = clock.now();
  return async () => {
    signal.throwIfAborted();
    if (!Number.isFinite(perSecond)) {
      count += 1;
      if (count % 32 === 0) await turn();
      return;
    }
    due += 1_000 / perSecond;
    const wait = due - clock.now();
    if (wait > 0) await clock.delay(wait, signal);
  };
}
