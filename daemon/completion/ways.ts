import type { Capability } from '../../protocol/models.ts';
import { withoutUndefined } from '../../protocol/withoutUndefined.ts';
import type { GenerateRequestBody } from '../runner/client.ts';
import { keepAliveToWire } from '../runner/keepAlive.ts';
import { type FillInTheMiddle, fillInTheMiddleOf } from './families.ts';
import type { Surroundings } from './surroundings.ts';

/** One way to ask a model for what stands between two texts. */
export interface Way {
  readonly name: 'suffix' | 'raw';
  /** The prompt begins with the text after the cursor. */
  readonly isSuffixFirst: boolean;
  readonly prompt: (prefix: string, suffix: string) => { prompt: string; suffix?: string; raw?: true };
  /** Of the model's family. A request without stops leaves those of the model's own Modelfile in force. */
  readonly stops: readonly string[];
}

/**
 * The ways to ask a model, the best first; none where it cannot fill in the middle. The family's tokens with the suffix
 * first cost least at each key. The model's own template knows best. The tokens with the prefix first are what is left.
 */
export function waysToAsk(model: string, insert: Capability['value']): readonly Way[] {
  const fill = fillInTheMiddleOf(model);
  const suffix: Way = { name: 'suffix', isSuffixFirst: false, prompt: withSuffix, stops: fill?.stops ?? [] };
  // A server that does not list capabilities refuses by itself, and that is remembered.
  if (!fill) return insert === false ? [] : [suffix];
  const raw = (build: FillInTheMiddle['prompt']): Way => ({
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

/** Without a suffix a runner would take the prompt for a question, so at the end of a file a line end stands for it. */
function withSuffix(prompt: string, suffix: string) {
  return { prompt, suffix: suffix === '' ? '\n' : suffix };
}

export interface BodyOptions {
  readonly model: string;
  /** With `nothing` the runner only evaluates the prompt. */
  readonly wanted: keyof typeof limits;
  /** The text of other files as a comment; `""` is none. */
  readonly before: string;
  /** Of the configuration: seconds or a duration. */
  readonly keepAlive?: string | number;
  /** Of the configuration, in tokens. A window of another size than the chat's would load the model again. */
  readonly contextLength?: number;
}

/** In tokens. To a runner 0 is no limit. */
const limits = { nothing: 1, line: 32, block: 128 } as const;
/** Low, because the likeliest continuation is wanted. */
const temperature = 0.1;

/** The body of `/api/generate`. With `truncate: false` the runner refuses a prompt that it would cut silently. */
export function completionRequestBody(
  way: Way,
  around: Surroundings,
  asked: BodyOptions,
): GenerateRequestBody {
  const { model, wanted, before, keepAlive, contextLength } = asked;
  return withoutUndefined<GenerateRequestBody>({
    model,
    ...way.prompt(before + around.prefix, around.suffix),
    think: false,
    truncate: false,
    options: withoutUndefined<object>({
      temperature,
      num_predict: limits[wanted],
      stop: way.stops.length === 0 ? undefined : way.stops,
      num_ctx: contextLength,
    }),
    keep_alive: keepAlive === undefined ? undefined : keepAliveToWire(keepAlive),
  });
}
