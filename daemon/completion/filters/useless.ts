import type { Filter } from './filter.ts';

/** Nothing, where it would change nothing: blanks, or what follows already. */
export const unlessUseless: Filter = (text, { suffix, lineSuffix }) => {
  const said = text.trim();
  if (said === '') return '';
  const rest = lineSuffix.trim();
  if (rest !== '') return rest.startsWith(said) ? '' : text;
  const following = suffix.trimStart().split('\n', 1)[0]?.trimEnd();
  return following === said ? '' : text;
};
