import { isClosersOrBlank } from './closers.ts';
import { commentMarks } from './commentMarks.ts';
import type { Surroundings } from './surroundings.ts';

/** Several lines only where nothing but closers follows on the line: what does would stand behind the last of them. */
export function mayBeMultiline({ lineSuffix }: Surroundings): boolean {
  return isClosersOrBlank(lineSuffix);
}

/** Where one is at a comment, what it says is wanted, and not yet what it is about. */
export function isLineComment({ linePrefix, languageId }: Surroundings): boolean {
  const line = linePrefix.trimStart();
  return commentMarks(languageId).some((mark) => line.startsWith(mark));
}
