import type { Capability } from '../../protocol/messages/models.ts';
import type { FillRequest } from '../runner/runner.ts';
import type { CursorContext } from './cursorContext.ts';
import { type FillInTheMiddle, fillInTheMiddleOf } from './families.ts';

/** How to ask a model for the text between two texts. */
export interface PromptStrategy {
  readonly name: 'suffix' | 'raw';
  /** Whether the prompt begins with the text after the cursor. */
  readonly isSuffixFirst: boolean;
  readonly textOf: (prefix: string, suffix: string) => FillRequest['text'];
  /** The stops of the model's family. If a request has none, those of the model's own Modelfile apply. */
  readonly stops: readonly string[];
}

/**
 * The strategies for a model, the best first; none if it cannot fill in the middle. The family's tokens with the suffix
 * first cost least at each keystroke. The model's own template is the most exact. The tokens with the prefix first are
 * the last resort.
 */
export function promptStrategies(model: string, insert: Capability['value']): readonly PromptStrategy[] {
  const fill = fillInTheMiddleOf(model);
  const suffix: PromptStrategy = {
    name: 'suffix',
    isSuffixFirst: false,
    textOf: (prefix, suffix) => ({ prefix, suffix }),
    stops: fill?.stops ?? [],
  };
  // A server that does not list capabilities refuses the request, and that is remembered.
  if (!fill) return insert === false ? [] : [suffix];
  const raw = (build: FillInTheMiddle['prompt']): PromptStrategy => ({
    name: 'raw',
    isSuffixFirst: build === fill.suffixFirst,
    textOf: (before, after) => ({ prompt: build(before, after) }),
    stops: fill.stops,
  });
  return [
    ...(fill.suffixFirst ? [raw(fill.suffixFirst)] : []),
    ...(insert === true ? [suffix] : []),
    raw(fill.prompt),
  ];
}

interface FillOptions {
  readonly model: string;
  /** With `nothing` the runner only evaluates the prompt. */
  readonly wanted: keyof typeof limits;
  /** The text of other files as a comment; `""` means none. */
  readonly before: string;
  /** From the configuration: seconds or a duration. */
  readonly keepAlive?: string | number;
  /**
   * From the configuration, in tokens. A window of another size than the chat's would make the runner load the model
   * again.
   */
  readonly contextLength?: number;
}

/** In tokens. For a runner 0 means no limit. */
const limits = { nothing: 1, line: 32, block: 128 } as const;
/** Low, because the most likely continuation is wanted. */
const temperature = 0.1;

/** The request for the text at the cursor. */
export function fillRequest(
  strategy: PromptStrategy,
  around: CursorContext,
  { wanted, before, ...asked }: FillOptions,
): FillRequest {
  return {
    ...asked,
    text: strategy.textOf(before + around.prefix, around.suffix),
    stops: strategy.stops,
    maxTokens: limits[wanted],
    temperature,
  };
}
