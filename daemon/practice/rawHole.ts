interface Hole {
  readonly prefix: string;
  readonly suffix: string;
}

const prefixFirst =
  /^(?:<\|?fim_prefix\|?>|<PRE> |<｜fim▁begin｜>)([\s\S]*?)(?:<\|?fim_suffix\|?>| <SUF>|<｜fim▁hole｜>)([\s\S]*?)(?:<\|?fim_middle\|?>| <MID>|<｜fim▁end｜>)$/;
const suffixFirst =
  /^(?:\[SUFFIX\]|<\|code_suffix\|>)([\s\S]*?)(?:\[PREFIX\]|<\|code_prefix\|>)([\s\S]*?)(?:<\|code_middle\|>)?$/;

/**
 * The texts around the hole of a raw prompt that is written with the tokens of a family. In any other prompt all text
 * is before the hole.
 */
export function holeOfRaw(prompt: string): Hole {
  const [, before, after] = prefixFirst.exec(prompt) ?? [];
  if (before !== undefined && after !== undefined) return { prefix: before, suffix: after };
  const [, suffix, prefix] = suffixFirst.exec(prompt) ?? [];
  return { prefix: prefix ?? prompt, suffix: suffix ?? '' };
}
