import { isLineComment, mayBeMultiline } from './multiline.ts';
import type { Place } from './suggestions.ts';

/** What an answer is read against. Line ends are `\n`, whatever the document's are. */
export interface AnswerContext {
  readonly languageId: string;
  readonly isMultiline: boolean;
  /** Of several lines those after a blank one are left out. */
  readonly endsAtBlank: boolean;
  readonly suffix: string;
  /** Of the cursor's line. */
  readonly linePrefix: string;
  readonly lineSuffix: string;
  /** The first line after the cursor's that is not blank, without blanks at its end. */
  readonly suffixLine: string;
  /** Of the model's family. */
  readonly stops: readonly string[];
}

/**
 * A line of comment is completed alone, except where it was just accepted: then what it is about follows, to the first
 * blank line, because nothing says where its block ends.
 */
export function answerContextOf(
  { around, isAfterAcceptance = false }: Pick<Place, 'around' | 'isAfterAcceptance'>,
  stops: readonly string[],
): AnswerContext {
  const { languageId, linePrefix, lineSuffix } = around;
  const isComment = isLineComment(around);
  const suffix = around.suffix.replace(/\r\n?/g, '\n');
  const following = suffix.split('\n').slice(1);
  return {
    languageId,
    isMultiline: mayBeMultiline(around) && (isAfterAcceptance || !isComment),
    endsAtBlank: isComment,
    suffix,
    linePrefix,
    lineSuffix,
    suffixLine: following.find((line) => line.trim() !== '')?.trimEnd() ?? '',
    stops,
  };
}
