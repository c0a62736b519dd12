import { withoutFences } from './fences.ts';
import type { Filter } from './filter.ts';
import { withoutDoubledBlank } from './leadingBlank.ts';
import { withoutRepeatedClosers } from './repeatedClosers.ts';
import { withoutRepeatedLines, withoutRepeatedRest } from './repeatedSuffix.ts';
import { cutToSingleLine } from './singleLine.ts';
import { withoutThinking } from './thinking.ts';
import { withoutSpecialTokens } from './tokens.ts';
import { withoutTrailingBlank } from './trailingBlank.ts';
import { unlessUseless } from './useless.ts';

/** What an answer goes through, in this order: first what is no code, then what stands there already. */
export const filters: readonly Filter[] = [
  withoutSpecialTokens,
  withoutThinking,
  withoutFences,
  withoutDoubledBlank,
  cutToSingleLine,
  withoutRepeatedRest,
  withoutRepeatedLines,
  withoutRepeatedClosers,
  withoutTrailingBlank,
  unlessUseless,
];
