import { isClosersOrBlank } from './closers.ts';
import { commentMarks } from './commentMarks.ts';
import type { Surroundings } from './surroundings.ts';

/** Several lines only where nothing but closers follows on the line, and the line is no comment. */
export function isMultiline({ linePrefix, lineSuffix, languageId }: Surroundings): boolean {
  return isClosersOrBlank(lineSuffix) && !isLineComment(linePrefix, languageId);
}

function isLineComment(linePrefix: string, languageId: string): boolean {
  const line = linePrefix.trimStart();
  return commentMarks(languageId).some((mark) => line.startsWith(mark));
}
