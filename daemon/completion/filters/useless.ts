import type { Filter } from './filter.ts';

/**
 * Drops an answer that is blank, or with which the document goes on anyway. It also drops an answer with half a
 * character, because the document may have the other half.
 */
export const unlessUseless: Filter = (text, { suffix, lineSuffix }) => {
  const said = text.trim();
  if (said === '' || /\p{Surrogate}/u.test(said)) return '';
  const rest = lineSuffix.trim();
  if (rest !== '') return rest.startsWith(said) ? '' : text;
  const following = suffix.trimStart().split('\n', 1)[0]?.trimEnd();
  return following === said ? '' : text;
};
