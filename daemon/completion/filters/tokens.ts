import { findSpecialToken, withoutLeadingTokens } from '../families.ts';
import type { Filter } from './filter.ts';

/** Without special tokens at the beginning, and up to the next one. */
export const withoutSpecialTokens: Filter = (text, { stops }) => {
  const rest = withoutLeadingTokens(text);
  const token = findSpecialToken(rest, stops);
  return token === -1 ? rest : rest.slice(0, token);
};
