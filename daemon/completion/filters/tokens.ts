import { findSpecialToken, withoutLeadingTokens } from '../families.ts';
import type { Filter } from './filter.ts';

/** Removes special tokens at the beginning, and everything from the next special token on. */
export const withoutSpecialTokens: Filter = (text, { stops }) => {
  const rest = withoutLeadingTokens(text);
  const token = findSpecialToken(rest, stops);
  return token === -1 ? rest : rest.slice(0, token);
};
