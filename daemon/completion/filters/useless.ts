import type { Filter } from './filter.ts';

/**
 * Nothing, where the answer is blank, or where the document goes on with it anyway. Nothing also where it holds half a
 * character: the document may have the other half.
 */
export const unlessUseless: Filter = (text, { suffix, lineSuffix }) => {
  const said = text.trim();
  if (said === '' || /\p{Surrogate}/u.test(said)) return '';
  const rest = lineSuffix.trim();
  if (rest !== '') return rest.startsWith(said) ? '' : text;
  const following = suffix.trimStart().split('\n', 1)[0]?.trimEnd();
  return following === said ? '' : text;
};
