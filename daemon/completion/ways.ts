import type { Capability } from '../../protocol/models.ts';
import { fillInTheMiddleOf } from './families.ts';

/** One way to ask a model for what stands between two texts. */
export interface Way {
  readonly name: 'suffix' | 'raw';
  readonly prompt: (prefix: string, suffix: string) => { prompt: string; suffix?: string; raw?: true };
  /** Of the model's family; none leaves those of the model's own Modelfile, which a request would replace. */
  readonly stops: readonly string[];
}

/**
 * The ways to ask a model, the best first; none where it cannot fill in the middle. A later order, such as suffix
 * first by `raw`, belongs here.
 */
export function waysToAsk(model: string, insert: Capability['value']): readonly Way[] {
  const fill = fillInTheMiddleOf(model);
  const suffix: Way = { name: 'suffix', prompt: withSuffix, stops: fill?.stops ?? [] };
  const raw: readonly Way[] = fill
    ? [
        {
          name: 'raw',
          prompt: (before, after) => ({ prompt: fill.prompt(before, after), raw: true }),
          stops: fill.stops,
        },
      ]
    : [];
  if (insert === true) return [suffix, ...raw];
  // A server that does not say what its models can refuses by itself, which is then remembered.
  return insert === 'unknown' && raw.length === 0 ? [suffix] : raw;
}

/** Without a suffix a runner would take the prompt for a question; at the end of a file one line end stands for it. */
function withSuffix(prompt: string, suffix: string) {
  return { prompt, suffix: suffix === '' ? '\n' : suffix };
}
