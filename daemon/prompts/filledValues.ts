import type { PromptArgument } from '../../protocol/messages/prompts.ts';
import { readTypedArguments } from './typedArguments.ts';

export interface FilledValues {
  /** Every argument has one; an optional one that nobody named is empty. */
  readonly values: ReadonlyMap<string, string>;
  /** Required, and empty. */
  readonly missing: readonly PromptArgument[];
  /** What was typed behind the name of a prompt that has no arguments. */
  readonly rest: string;
}

/** The values of a prompt's arguments: those that are named come before what was typed. */
export function readValues(
  given: readonly PromptArgument[],
  { text, values }: { readonly text: string; readonly values: Readonly<Record<string, string>> },
): FilledValues {
  const named = new Map(Object.entries(values));
  const open = given.map(({ name }) => name).filter((name) => !named.has(name));
  const typed = readTypedArguments(text, open);
  const filled = new Map(given.map(({ name }) => [name, named.get(name) ?? typed.get(name) ?? '']));
  return {
    values: filled,
    missing: given.filter(({ name, required }) => required && filled.get(name)?.trim() === ''),
    rest: open.length === 0 ? text.trim() : '',
  };
}
