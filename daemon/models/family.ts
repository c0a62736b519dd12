import { tryModelName } from './name.ts';

/** Names whose first part says too little. The whole name is the family. */
const wholeNames = ['gpt-oss', 'open-orca'];

/**
 * The family of a model: the model part of its name, up to the first hyphen and without the version. `llama3.2` and
 * `llama-guard` are `llama`; `qwen2.5vl` is `qwen`. A family is never a single character: `r1` stays `r1`, `x-large`
 * and `3-mini` keep their second part, and a model called `x` keeps its tag.
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

/** A single character says nothing. */
function isFamily(text: string): boolean {
  return [...text].length > 1;
}

/** A server may list a name that the grammar refuses; it gets a family all the same. */
function modelPartOf(name: string): string {
  return tryModelName(name)?.model ?? name.split('/').at(-1)?.split(':')[0] ?? name;
}
