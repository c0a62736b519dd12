import type { Capability } from '../../protocol/models.ts';
import { type FillInTheMiddle, fillInTheMiddleOf } from './families.ts';

/** One way to ask a model for what stands between two texts. */
export interface Way {
  readonly name: 'suffix' | 'raw';
  /** The prompt begins with the text after the cursor. */
  readonly isSuffixFirst: boolean;
  readonly prompt: (prefix: string, suffix: string) => { prompt: string; suffix?: string; raw?: true };
  /** Of the model's family; none leaves those of the model's own Modelfile, which a request would replace. */
  readonly stops: readonly string[];
}

/**
 * The ways to ask a model, the best first; none where it cannot fill in the middle. Suffix first by the family's tokens
 * costs least at each key; the model's own template knows best; prefix first by the tokens is what is left.
 */
export function waysToAsk(model: string, insert: Capability['value']): readonly Way[] {
  const fill = fillInTheMiddleOf(model);
  const suffix: Way = { name: 'suffix', isSuffixFirst: false, prompt: withSuffix, stops: fill?.stops ?? [] };
  // A server that does not say what its models can refuses by itself, which is then remembered.
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

/** Without a suffix a runner would take the prompt for a question; at the end of a file one line end stands for it. */
function withSuffix(prompt: string, suffix: string) {
  return { prompt, suffix: suffix === '' ? '\n' : suffix };
}
