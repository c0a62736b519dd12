import type { CursorContext } from './cursorContext.ts';
import type { CompletionPoint } from './suggestions.ts';
import { commentMarks, isClosersOrBlank } from './syntax.ts';

/** The context in which an answer is read. Line ends are `\n`, whatever the document uses. */
export interface AnswerContext {
  readonly languageId: string;
  readonly isMultiline: boolean;
  /** The answer ends at a blank line. */
  readonly endsAtBlank: boolean;
  readonly suffix: string;
  /** The part of the cursor's line before the cursor. */
  readonly linePrefix: string;
  /** The part of the cursor's line after the cursor. */
  readonly lineSuffix: string;
  /** The first line after the cursor's that is not blank, without blanks at its end. */
  readonly suffixLine: string;
  /** The stops of the model's family. */
  readonly stops: readonly string[];
}

/**
 * A comment line is completed alone. If it was just accepted, the code that it describes follows. That code ends at the
 * first blank line, because nothing else shows where its block ends.
 */
export function answerContextOf(
  { around, isAfterAcceptance = false }: Pick<CompletionPoint, 'around' | 'isAfterAcceptance'>,
  stops: readonly string[],
): AnswerContext {
  const { languageId, linePrefix, lineSuffix } = around;
  const isComment = isLineComment(around);
  const suffix = around.suffix.replace(/\r\n?/g, '\n');
  const following = suffix.split('\n').slice(1);
  return {
    languageId,
    // Code that follows on the line would end up after the last of several lines.
    isMultiline: isClosersOrBlank(lineSuffix) && (isAfterAcceptance || !isComment),
    endsAtBlank: isComment,
    suffix,
    linePrefix,
    lineSuffix,
    suffixLine: following.find((line) => line.trim() !== '')?.trimEnd() ?? '',
    stops,
  };
}

function isLineComment({ linePrefix, languageId }: CursorContext): boolean {
  const line = linePrefix.trimStart();
  return commentMarks(languageId).some((mark) => line.startsWith(mark));
}
