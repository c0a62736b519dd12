import { isMultiline } from './multiline.ts';
import type { Surroundings } from './surroundings.ts';

/** What an answer is read against. Line ends are `\n`, whatever the document's are. */
export interface AnswerContext {
  readonly languageId: string;
  readonly isMultiline: boolean;
  readonly suffix: string;
  /** Of the cursor's line. */
  readonly linePrefix: string;
  readonly lineSuffix: string;
  /** The first line after the cursor's that is not blank, without blanks at its end. */
  readonly suffixLine: string;
  /** Of the model's family. */
  readonly stops: readonly string[];
}

export function answerContextOf(around: Surroundings, stops: readonly string[]): AnswerContext {
  const { languageId, linePrefix, lineSuffix } = around;
  const suffix = around.suffix.replace(/\r\n?/g, '\n');
  const following = suffix.split('\n').slice(1);
  return {
    languageId,
    isMultiline: isMultiline(around),
    suffix,
    linePrefix,
    lineSuffix,
    suffixLine: following.find((line) => line.trim() !== '')?.trimEnd() ?? '',
    stops,
  };
}
