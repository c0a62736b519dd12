import type { AnswerContext } from '../answerContext.ts';
import type { Surroundings } from '../surroundings.ts';
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

/** In this order: first they take out what is no code, then what the document says already. */
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

/** What of an answer is worth suggesting, with the document's line ends; `""` where nothing is. */
export function suggestionOf(answer: string, around: Surroundings, context: AnswerContext): string {
  const text = filters.reduce((rest, filter) => (rest === '' ? '' : filter(rest, context)), answer);
  return withLineEndsOf(around, text);
}

function withLineEndsOf({ prefix, suffix }: Surroundings, text: string): string {
  return /\r\n/.test(prefix) || /\r\n/.test(suffix) ? text.replace(/\r?\n/g, '\r\n') : text;
}
