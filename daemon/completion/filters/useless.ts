import type { Filter } from './filter.ts';

/**
 * Nothing, where it would change nothing, as blanks do and what follows already; and nothing with half a character in it,
 * which is left where the document has the other half.
 */
export const unlessUseless: Filter = (text, { suffix, lineSuffix }) => {
  const said = text.trim();
  if (said === '' || /\p{Surrogate}/u.test(said)) return '';
  const rest = lineSuffix.trim();
  if (rest !== '') return rest.startsWith(said) ? '' : text;
  const following = suffix.trimStart().split('\n', 1)[0]?.trimEnd();
  return following === said ? '' : text;
};
