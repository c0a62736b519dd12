import { parseModelName } from './name.ts';

/** Names whose first part says too little: they are a family as a whole. */
const wholeNames = ['gpt-oss', 'open-orca'];

/**
 * The family that a model is grouped under: the prefix of the model part of its name, up to the first hyphen and
 * without the version (`llama3.2` and `llama-guard` are `llama`, `qwen2.5vl` is `qwen`), but never a single
 * character: `r1` stays `r1`, `x-large` and `3-mini` take their second part along, and a model that is called `x` its
 * tag.
 */
export function familyOf(name: string): string {
  const model = modelPartOf(name).toLowerCase();
  const whole = wholeNames.find((known) => model === known || model.startsWith(`${known}-`));
  if (whole !== undefined) return whole;
  const [prefix = model] = /^[^-]+/.exec(model) ?? [];
  const letters = /^[^\W\d]+/.exec(prefix)?.[0] ?? '';
  const [longer = ''] = /^[^-]+-+[^-]+/.exec(model) ?? [];
  const candidates = [letters, prefix, longer, model, name.split('/').at(-1) ?? ''];
  return candidates.find(isFamily) ?? `${model}:latest`;
}

/** One character says nothing, whichever it is. */
function isFamily(text: string): boolean {
  return [...text].length > 1;
}

/** A server may list what the grammar refuses; it is grouped all the same. */
function modelPartOf(name: string): string {
  try {
    return parseModelName(name).model;
  } catch {
    return name.split('/').at(-1)?.split(':')[0] ?? name;
  }
}
