import { findSpecialToken, withoutLeadingTokens } from '../specialTokens.ts';
import type { Filter } from './filter.ts';

/** Up to the first special token, without those that it begins with. */
export const withoutSpecialTokens: Filter = (text, { stops }) => {
  const rest = withoutLeadingTokens(text);
  const token = findSpecialToken(rest, stops);
  return token === -1 ? rest : rest.slice(0, token);
};
