import { withoutUndefined } from '../../protocol/base/withoutUndefined.ts';
import { advise } from '../base/advice.ts';
import { RunnerError } from '../base/errors.ts';
import type { ModelKnowledge } from '../models/knowledge.ts';
import type { RunnerClient } from '../runner/client.ts';
import type { PromptSize } from './tokenEstimate.ts';

/** The user is warned when a prompt fills this share of the window. */
export const nearlyFull = 0.9;
/** No runner allocates fewer tokens than this. */
const smallestWindow = 2048;

/** What is known about the context window of one model. */
export interface ContextWindow {
  /** The allocated tokens, or those that will be allocated because the request asks for them. */
  allocated(): number | undefined;
  /** Whether a prompt of this many tokens might fill a window whose size is not known yet. */
  isWorthKnowing(tokens: number): boolean;
  /** Asks the runner, but only once. After a failure the window stays unknown. Settles within `limit` ms. */
  learn(limit: number): Promise<void>;
}

export interface ContextWindowOptions {
  readonly client: RunnerClient;
  readonly model: string;
  readonly knowledge: ModelKnowledge;
  /** `num_ctx` of the request or the configuration. */
  readonly asked?: number;
  readonly signal: AbortSignal;
}

export function createContextWindow({
  client,
  model,
  knowledge,
  asked,
  signal,
}: ContextWindowOptions): ContextWindow {
  let asking: Promise<void> | undefined;
  const ask = async () => {
    const models = await client.ps(signal).catch(() => undefined);
    if (models) knowledge.learnRunning(client.server, models);
  };
  return {
    allocated: () => knowledge.context(client.server, model).allocated ?? asked,
    isWorthKnowing: (tokens) => tokens >= smallestWindow * nearlyFull,
    async learn(limit) {
      asking ??= ask();
      await within(asking, limit);
    },
  };
}

/** What a user can do about a prompt that is too long. */
export function adviceFor({ characters, inTools }: PromptSize): 'offer-fewer-tools' | 'shorten-prompt' {
  return inTools > characters / 2 ? 'offer-fewer-tools' : 'shorten-prompt';
}

/** Adds figures to the refusal: what the prompt needs, what the window holds, and what the user can do. */
export function withFigures(
  error: RunnerError,
  {
    estimated,
    window,
    advice,
  }: {
    estimated: number;
    window: number | undefined;
    advice: ReturnType<typeof adviceFor>;
  },
): RunnerError {
  const { allocated = window } = error.details;
  // An estimate that fits into the window must be wrong, because the runner has counted.
  const { needed = Math.max(estimated, (allocated ?? 0) + 1) } = error.details;
  const holds =
    allocated === undefined ? 'the context window is smaller' : `the context window holds ${allocated}`;
  return new RunnerError(
    'context-exceeded',
    advise(`The prompt needs about ${needed} tokens and ${holds}.`, advice),
    {
      details: withoutUndefined({ ...error.details, needed, allocated }),
      cause: error,
    },
  );
}

async function within(promise: Promise<void>, limit: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limit);
  });
  await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
