import { withoutUndefined } from '../../protocol/base/json.ts';
import type { Notice } from '../../protocol/messages/chat.ts';
import { adviseOnWindow, RunnerError } from '../base/errors.ts';
import type { ModelCapabilities } from '../models/modelCapabilities.ts';
import type { ChatRequest, Runner } from '../runner/runner.ts';
import type { PromptSize } from './turnWindow.ts';

/**
 * How long to wait for the runner to report the window, in ms: before or beside an answer, after it, after a refusal.
 */
const windowWithin = { answer: 500, end: 200, refusal: 1_000 } as const;
/** The user is warned when a prompt fills this share of the window. */
const nearlyFull = 0.9;
/** An estimate below this share of the window is good enough: nothing is counted for it. */
const worthCounting = 0.4;
/** No runner allocates fewer tokens than this. */
const smallestWindow = 2048;
/** A window that is advised is a multiple of this, in tokens. */
const windowStep = 4096;
/** A prompt may be so much longer than it is estimated at. */
const estimateMargin = 1.1;
/** What an advised window has beyond the prompt, in tokens: room for the answer. */
const roomForAnswer = 1024;

interface PromptFitOptions {
  readonly runner: Runner;
  readonly model: string;
  readonly knowledge: ModelCapabilities;
  /** `num_ctx` of the request. */
  readonly asked?: number;
  /** The window of the configuration. A model with a smaller maximum gets its maximum. */
  readonly configured?: number;
  readonly size: PromptSize;
  /** The tokens of the prompt, as estimated. */
  readonly needed: number;
  /** What is sent: some runners count it exactly. */
  readonly request: ChatRequest;
  readonly notice: (notice: Notice) => void;
  readonly signal: AbortSignal;
}

/** How one prompt fits into the context window of its model. */
export class PromptFit {
  readonly #options: PromptFitOptions;
  /** The runner is asked at most once. After a failure the window stays unknown. */
  #asking: Promise<void> | undefined;
  #askingMaximum: Promise<void> | undefined;
  /** The runner has reported its windows since the request. */
  #isReported = false;
  #needed: number;

  constructor(options: PromptFitOptions) {
    this.#options = options;
    this.#needed = options.needed;
  }

  /**
   * Called before the request. Warns when the prompt nearly fills the window, as far as the window is known, and when
   * the model cannot have the window that was asked for.
   */
  async begin(): Promise<void> {
    const { asked } = this.#options;
    await this.#count();
    if (asked !== undefined || this.#filled !== undefined) await this.#learnMaximum(windowWithin.answer);
    const maximum = this.#maximum;
    if (asked !== undefined && maximum !== undefined && asked > maximum) this.#warnOfMaximum(asked, maximum);
    const filled = this.#filled;
    // A prompt that is too long is most likely refused, and the refusal has the same figures.
    if (filled !== undefined && this.#needed <= filled) this.#warn(filled);
  }

  /**
   * Called once the runner has accepted the prompt. The answer does not wait for it; the warning is sent as soon as
   * possible.
   */
  async learn(): Promise<void> {
    const { signal } = this.#options;
    const needed = this.#needed;
    const learnt = this.#learn(windowWithin.answer);
    if (this.#window === undefined) {
      if (needed < smallestWindow * nearlyFull) return;
      await learnt;
      if (this.#filled !== undefined) await this.#learnMaximum(windowWithin.answer);
    }
    const filled = this.#filled;
    if (!signal.aborted && filled !== undefined) this.#warn(filled);
  }

  /** The error; figures are added to a refusal of a prompt that is too long. */
  async withFigures(error: unknown): Promise<unknown> {
    if (!(error instanceof RunnerError) || error.kind !== 'context-exceeded') return error;
    const { runner, model, knowledge } = this.#options;
    const { allocated } = error.details;
    if (allocated !== undefined && runner.facts.hasFixedWindows)
      knowledge.observeWindow(runner.server, model, { refusedAt: allocated });
    const limit = windowWithin.refusal;
    await Promise.all([this.#learn(limit), this.#learnMaximum(limit)]);
    return withFigures(
      error,
      { needed: this.#needed, size: this.#options.size },
      { window: this.#window, maximum: this.#maximum, isFixed: this.#isFixed },
    );
  }

  /** Called when an answer was cut. Says so if the window is full; else the answer had a limit of its own. */
  noticeCut(tokens: number): void {
    const window = this.#window;
    // An engine may keep the last token free.
    if (window === undefined || tokens < window - 1) return;
    const problem = `The answer was cut because the context window of ${window} tokens is full.`;
    const message = adviseOnWindow(problem, 'make-room', this.#fitting(tokens, window));
    this.#options.notice({ code: 'context-exceeded', ...message });
  }

  /** The window in tokens, at the end of the answer to a prompt of so many tokens. */
  async allocated(promptTokens: number): Promise<number | undefined> {
    const { runner, model, knowledge } = this.#options;
    knowledge.observeWindow(runner.server, model, { accepted: promptTokens });
    if (this.#window === undefined) await this.#learn(windowWithin.end);
    return this.#window;
  }

  /** Replaces the estimate by the runner's own count, if the prompt may come near the window. */
  async #count(): Promise<void> {
    const { runner, request, signal } = this.#options;
    if (!runner.count) return;
    if (this.#window === undefined) await this.#learn(windowWithin.answer);
    const window = this.#window;
    if (window !== undefined && this.#needed < window * worthCounting) return;
    // What cannot be counted keeps its estimate. If the prompt does not fit, the chat itself is refused.
    this.#needed = await runner.count(request, signal).catch(() => this.#needed);
  }

  /** The notice is the same each time; only the first counts. */
  #warn(window: number): void {
    const { notice, size } = this.#options;
    const needed = this.#needed;
    const fitting = this.#fitting(needed, window);
    const message =
      needed > window
        ? adviseOnWindow(
            `The prompt needs about ${needed} tokens, and the context window holds ${window}: the runner may have left out a part of it.`,
            adviceFor(size),
            fitting,
          )
        : adviseOnWindow(
            `The prompt fills about ${Math.round((needed / window) * 100)} % of the context window of ${window} tokens.`,
            'make-room',
            fitting,
          );
    notice({ code: 'context-nearly-full', ...message });
  }

  #warnOfMaximum(asked: number, maximum: number): void {
    const { model, notice } = this.#options;
    notice({
      code: 'context-reduced',
      message: `${model} can have a context window of ${maximum} tokens at most, so it does not get ${asked}. Ask for ${maximum} or fewer.`,
    });
  }

  #fitting(needed: number, window: number): number {
    return this.#isFixed ? 0 : fittingWindow({ needed, window, maximum: this.#maximum });
  }

  /** No request gets another window. */
  get #isFixed(): boolean {
    return this.#options.runner.facts.hasFixedWindows === true;
  }

  /** The window, if the prompt nearly fills it or is longer. */
  get #filled(): number | undefined {
    const window = this.#window;
    return window !== undefined && this.#needed >= window * nearlyFull ? window : undefined;
  }

  /** The allocated tokens, or those that will be allocated because the request asks for them. */
  get #window(): number | undefined {
    const { runner, model, knowledge, asked, configured } = this.#options;
    const { allocated, maximum = Number.POSITIVE_INFINITY } = knowledge.context(runner.server, model);
    const wanted = asked ?? configured;
    const granted = wanted === undefined ? undefined : Math.min(wanted, maximum);
    // A model that is loaded with another window is loaded again.
    return this.#isReported ? (allocated ?? granted) : (granted ?? allocated);
  }

  get #maximum(): number | undefined {
    const { runner, model, knowledge } = this.#options;
    return knowledge.context(runner.server, model).maximum;
  }

  /** Settles within `limit` ms. */
  #learn(limit: number): Promise<void> {
    this.#asking ??= this.#ask();
    return within(this.#asking, limit);
  }

  async #ask(): Promise<void> {
    const { runner, knowledge, signal } = this.#options;
    const models = await runner.running(signal).catch(() => undefined);
    if (!models) return;
    knowledge.learnRunning(runner.server, models);
    this.#isReported = true;
  }

  /** Settles within `limit` ms. */
  async #learnMaximum(limit: number): Promise<void> {
    const { runner, model, knowledge } = this.#options;
    if (this.#maximum !== undefined || knowledge.isShown(runner.server, model)) return;
    this.#askingMaximum ??= this.#askMaximum();
    await within(this.#askingMaximum, limit);
  }

  async #askMaximum(): Promise<void> {
    const { runner, model, knowledge, signal } = this.#options;
    const shown = await runner.show(model, signal).catch(() => undefined);
    if (shown) knowledge.learnShown(runner.server, model, shown);
  }
}

/** What a user can do about a prompt that is too long. */
function adviceFor({ characters, inTools }: PromptSize): 'offer-fewer-tools' | 'shorten-prompt' {
  return inTools > characters / 2 ? 'offer-fewer-tools' : 'shorten-prompt';
}

/** In tokens. */
interface Figures {
  readonly needed: number;
  readonly window: number;
  /** Undefined if it is not known. */
  readonly maximum: number | undefined;
}

/** A window that holds the prompt and leaves room for an answer; 0 if the model can have none. */
function fittingWindow({ needed, window, maximum = Number.POSITIVE_INFINITY }: Figures): number {
  const wanted = Math.max(needed * estimateMargin, window) + roomForAnswer;
  const steps = Math.ceil(wanted / windowStep);
  const fitting = Math.min(steps * windowStep, maximum);
  return fitting > window && fitting > needed ? fitting : 0;
}

/** Adds figures to the refusal: what the prompt needs, what the window holds, and what the user can do. */
function withFigures(
  error: RunnerError,
  { needed: estimated, size }: Pick<PromptFitOptions, 'needed' | 'size'>,
  known: {
    readonly window: number | undefined;
    readonly maximum: number | undefined;
    readonly isFixed: boolean;
  },
): RunnerError {
  const { allocated = known.window } = error.details;
  const { maximum, isFixed } = known;
  // The runner has counted, so an estimate that fits into the window must be wrong.
  const { needed = Math.max(estimated, (allocated ?? 0) + 1) } = error.details;
  const about = error.details.needed === undefined ? 'about ' : '';
  const holds =
    allocated === undefined ? 'the context window is smaller' : `the context window holds ${allocated}`;
  const fitting = isFixed ? 0 : fittingWindow({ needed, window: allocated ?? 0, maximum });
  const mayHaveMore = fitting > 0 || maximum === undefined;
  const limit = isFixed ? ', as the server was started' : mayHaveMore ? '' : limitOf(maximum, allocated);
  return new RunnerError(
    'context-exceeded',
    adviseOnWindow(
      `The prompt needs ${about}${needed} tokens and ${holds}${limit}.`,
      adviceFor(size),
      fitting,
    ),
    { details: withoutUndefined({ ...error.details, needed, allocated, maximum }), cause: error },
  );
}

function limitOf(maximum: number, window: number | undefined): string {
  const isMost = window !== undefined && maximum <= window;
  return isMost ? ', the most that the model can have' : `; the model can have ${maximum} at most`;
}

async function within(promise: Promise<void>, limit: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limit);
  });
  await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
