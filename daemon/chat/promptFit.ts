import { withoutUndefined } from '../../protocol/base/withoutUndefined.ts';
import type { NoticeCode } from '../../protocol/messages/chat.ts';
import { type AdvisedMessage, advise, RunnerError } from '../base/errors.ts';
import type { ModelCapabilities } from '../models/modelCapabilities.ts';
import type { RunnerClient } from '../runner/client.ts';
import type { PromptSize } from './tokenEstimate.ts';

/** How long to wait for the runner to report the allocated window, in ms: beside an answer, after it, after a refusal. */
const windowWithin = { answer: 500, end: 200, refusal: 1_000 } as const;
/** The user is warned when a prompt fills this share of the window. */
const nearlyFull = 0.9;
/** No runner allocates fewer tokens than this. */
const smallestWindow = 2048;

interface PromptFitOptions {
  readonly client: RunnerClient;
  readonly model: string;
  readonly knowledge: ModelCapabilities;
  /** `num_ctx` of the request or the configuration. */
  readonly asked?: number;
  readonly size: PromptSize;
  /** The tokens of the prompt, as estimated. */
  readonly needed: number;
  readonly notice: (code: NoticeCode, message: AdvisedMessage) => void;
  readonly signal: AbortSignal;
}

/** How one prompt fits into the context window of its model. */
export class PromptFit {
  readonly #options: PromptFitOptions;
  /** The runner is asked at most once. After a failure the window stays unknown. */
  #asking: Promise<void> | undefined;

  constructor(options: PromptFitOptions) {
    this.#options = options;
  }

  /** Warns when the prompt nearly fills the window, as far as the window is known. */
  warn(): void {
    const { needed, notice, size } = this.#options;
    const allocated = this.#window;
    if (allocated === undefined || needed < allocated * nearlyFull) return;
    const message =
      needed > allocated
        ? advise(
            `The prompt needs about ${needed} tokens, and the context window holds ${allocated}: the runner may refuse it.`,
            adviceFor(size),
          )
        : advise(
            `The prompt fills about ${Math.round((needed / allocated) * 100)} % of the context window of ${allocated} tokens.`,
            'make-room',
          );
    notice('context-nearly-full', message);
  }

  /** Called once the model is loaded. The answer does not wait for it; the warning is sent as soon as possible. */
  async learn(): Promise<void> {
    const { needed, signal } = this.#options;
    const learnt = this.#learn(windowWithin.answer);
    if (this.#window !== undefined || needed < smallestWindow * nearlyFull) return;
    await learnt;
    if (!signal.aborted) this.warn();
  }

  /** The error; figures are added to a refusal of a prompt that is too long. */
  async withFigures(error: unknown): Promise<unknown> {
    if (!(error instanceof RunnerError) || error.kind !== 'context-exceeded') return error;
    await this.#learn(windowWithin.refusal);
    return withFigures(error, this.#options, this.#window);
  }

  /** Tokens, at the end of the answer. */
  async allocated(): Promise<number | undefined> {
    if (this.#window === undefined) await this.#learn(windowWithin.end);
    return this.#window;
  }

  /** The allocated tokens, or those that will be allocated because the request asks for them. */
  get #window(): number | undefined {
    const { client, model, knowledge, asked } = this.#options;
    return knowledge.context(client.server, model).allocated ?? asked;
  }

  /** Settles within `limit` ms. */
  #learn(limit: number): Promise<void> {
    this.#asking ??= this.#ask();
    return within(this.#asking, limit);
  }

  async #ask(): Promise<void> {
    const { client, knowledge, signal } = this.#options;
    const models = await client.ps(signal).catch(() => undefined);
    if (models) knowledge.learnRunning(client.server, models);
  }
}

/** What a user can do about a prompt that is too long. */
function adviceFor({ characters, inTools }: PromptSize): 'offer-fewer-tools' | 'shorten-prompt' {
  return inTools > characters / 2 ? 'offer-fewer-tools' : 'shorten-prompt';
}

/** Adds figures to the refusal: what the prompt needs, what the window holds, and what the user can do. */
function withFigures(
  error: RunnerError,
  { needed: estimated, size }: Pick<PromptFitOptions, 'needed' | 'size'>,
  window: number | undefined,
): RunnerError {
  const { allocated = window } = error.details;
  // The runner has counted, so an estimate that fits into the window must be wrong.
  const { needed = Math.max(estimated, (allocated ?? 0) + 1) } = error.details;
  const holds =
    allocated === undefined ? 'the context window is smaller' : `the context window holds ${allocated}`;
  return new RunnerError(
    'context-exceeded',
    advise(`The prompt needs about ${needed} tokens and ${holds}.`, adviceFor(size)),
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
