import { parseModelName } from './name.ts';

/** Names whose first part says too little: they are a family as a whole. */
const wholeNames = ['gpt-oss', 'open-orca'];

/**
 * The family that a model is grouped under: the prefix of the model part of its name, up to the first hyphen and
 * without the version (`llama3.2` and `llama-guard` are `llama`, `qwen2.5vl` is `qwen`), but never a single
 * character (`r1` stays `r1`).
 */
export function familyOf(name: string): string {
  const model = modelPartOf(name).toLowerCase();
  const whole = wholeNames.find((known) => model === known || model.startsWith(`${known}-`));
  if (whole !== undefined) return whole;
  const prefix = model.split('-', 1)[0] ?? model;
  const letters = /^[^\W\d]+/.exec(prefix)?.[0] ?? '';
  return letters.length > 1 ? letters : prefix || model;
}

/** A server may list what the grammar refuses; it is grouped all the same. */
function modelPartOf(name: string): string {
  try {
    return parseModelName(name).model;
  } catch {
    return name.split('/').at(-1)?.split(':')[0] ?? name;
  }
}
