import type { NoticeCode } from '../../protocol/messages/chat.ts';
import { type AdvisedMessage, advise } from '../base/advice.ts';
import { RunnerError } from '../base/errors.ts';
import type { PromptSize } from './tokenEstimate.ts';
import {
  adviceFor,
  type ContextWindowOptions,
  createContextWindow,
  nearlyFull,
  withFigures,
} from './window.ts';

/** How long to wait for the runner to report the allocated window, in ms: beside an answer, after it, after a refusal. */
const windowWithin = { answer: 500, end: 200, refusal: 1_000 } as const;

/** How one prompt fits into the context window of its model. */
export interface PromptFit {
  /** Warns when the prompt nearly fills the window, as far as the window is known. */
  warn(): void;
  /** Is called once the model is loaded. The answer does not wait for it: the warning is sent as soon as possible. */
  learn(): Promise<void>;
  /** The error; figures are added to a refusal of a prompt that is too long. */
  withFigures(error: unknown): Promise<unknown>;
  /** Tokens, at the end of the answer. */
  allocated(): Promise<number | undefined>;
}

export interface PromptFitOptions extends ContextWindowOptions {
  readonly size: PromptSize;
  /** The tokens of the prompt, as estimated. */
  readonly needed: number;
  readonly notice: (code: NoticeCode, message: AdvisedMessage) => void;
}

export function createPromptFit({ size, needed, notice, ...options }: PromptFitOptions): PromptFit {
  const window = createContextWindow(options);
  const warn = () => {
    const allocated = window.allocated();
    if (allocated === undefined || needed < allocated * nearlyFull) return;
    if (needed > allocated)
      return notice(
        'context-nearly-full',
        advise(
          `The prompt needs about ${needed} tokens, and the context window holds ${allocated}: the runner may refuse it.`,
          adviceFor(size),
        ),
      );
    notice(
      'context-nearly-full',
      advise(
        `The prompt fills about ${Math.round((needed / allocated) * 100)} % of the context window of ${allocated} tokens.`,
        'make-room',
      ),
    );
  };
  return {
    warn,
    async learn() {
      const learnt = window.learn(windowWithin.answer);
      if (window.allocated() !== undefined || !window.isWorthKnowing(needed)) return;
      await learnt;
      if (!options.signal.aborted) warn();
    },
    async withFigures(error) {
      if (!(error instanceof RunnerError) || error.kind !== 'context-exceeded') return error;
      await window.learn(windowWithin.refusal);
      return withFigures(error, { estimated: needed, window: window.allocated(), advice: adviceFor(size) });
    },
    async allocated() {
      if (window.allocated() === undefined) await window.learn(windowWithin.end);
      return window.allocated();
    },
  };
}
