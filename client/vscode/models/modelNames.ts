import { isSameModel } from './modelRow.ts';

interface CopyNameOptions {
  /** The name of the model that is copied. */
  readonly from: string;
  /** The names of the models of the same server. */
  readonly taken: readonly string[];
}

/** What is wrong with the name of a copy, for the box in which it is typed. An empty name cancels. */
export function problemOfName(name: string, { from, taken }: CopyNameOptions): string | undefined {
  if (name === '') return undefined;
  if (/\s|:\/\//.test(name)) return 'A name has no spaces, and no address.';
  if (isSameModel({ model: name }, { model: from })) return `This is the name that it has. Type another one.`;
  // Nothing asks before a model is replaced.
  if (taken.some((model) => isSameModel({ model }, { model: name })))
    return `There is a model ${name} already. Type another name, or delete that model first.`;
  return undefined;
}

/** `qwen3:8b` is copied to `qwen3-copy:8b`. */
export function copyNameOf(model: string): string {
  const [, base = model, tag = ''] = /^(.*?)(:[^:/]*)?$/.exec(model) ?? [];
  return `${base}-copy${tag}`;
}
