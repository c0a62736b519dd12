import { withoutUndefined } from '../../protocol/base/withoutUndefined.ts';
import type { Capability } from '../../protocol/messages/models.ts';
import type { GenerateRequestBody } from '../runner/client.ts';
import { keepAliveToWire } from '../runner/wire.ts';
import type { CursorContext } from './cursorContext.ts';
import { type FillInTheMiddle, fillInTheMiddleOf } from './families.ts';

/** How to ask a model for the text between two texts. */
export interface PromptStrategy {
  readonly name: 'suffix' | 'raw';
  /** Whether the prompt begins with the text after the cursor. */
  readonly isSuffixFirst: boolean;
  readonly prompt: (prefix: string, suffix: string) => { prompt: string; suffix?: string; raw?: true };
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
    prompt: withSuffix,
    stops: fill?.stops ?? [],
  };
  // A server that does not list capabilities refuses the request, and that is remembered.
  if (!fill) return insert === false ? [] : [suffix];
  const raw = (build: FillInTheMiddle['prompt']): PromptStrategy => ({
    name: 'raw',
    isSuffixFirst: build === fill.suffixFirst,
    prompt: (before, after) => ({ prompt: build(before, after), raw: true }),
    stops: fill.stops,
  });
  return [
    ...(fill.suffixFirst ? [raw(fill.suffixFirst)] : []),
    ...(insert === true ? [suffix] : []),
    raw(fill.prompt),
  ];
}

/** Without a suffix a runner would treat the prompt as a question, so at the end of a file the suffix is a line end. */
function withSuffix(prompt: string, suffix: string) {
  return { prompt, suffix: suffix === '' ? '\n' : suffix };
}

interface BodyOptions {
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

/** The body of `/api/generate`. With `truncate: false` the runner refuses a prompt that it would cut silently. */
export function completionRequestBody(
  strategy: PromptStrategy,
  around: CursorContext,
  asked: BodyOptions,
): GenerateRequestBody {
  const { model, wanted, before, keepAlive, contextLength } = asked;
  return withoutUndefined<GenerateRequestBody>({
    model,
    ...strategy.prompt(before + around.prefix, around.suffix),
    think: false,
    truncate: false,
    options: withoutUndefined<object>({
      temperature,
      num_predict: limits[wanted],
      stop: strategy.stops.length === 0 ? undefined : strategy.stops,
      num_ctx: contextLength,
    }),
    keep_alive: keepAlive === undefined ? undefined : keepAliveToWire(keepAlive),
  });
}
