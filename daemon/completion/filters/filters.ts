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

/** The order matters: the first ones remove what is not code, the later ones what the document already has. */
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

/** The part of an answer that is worth suggesting, with the document's line ends; `""` if there is none. */
export function suggestionOf(answer: string, around: Surroundings, context: AnswerContext): string {
  const text = filters.reduce((rest, filter) => (rest === '' ? '' : filter(rest, context)), answer);
  return withLineEndsOf(around, text);
}

function withLineEndsOf({ prefix, suffix }: Surroundings, text: string): string {
  return /\r\n/.test(prefix) || /\r\n/.test(suffix) ? text.replace(/\r?\n/g, '\r\n') : text;
}
