import { isClosersOrBlank } from '../closers.ts';
import type { Filter } from './filter.ts';
import { overlapLength } from './overlap.ts';

/** Without an end that says again what follows on the cursor's line. Closers alone are another filter's. */
export const withoutRepeatedRest: Filter = (text, { lineSuffix }) => {
  const rest = lineSuffix.trimEnd();
  const length = overlapLength(text, rest);
  const repeated = rest.slice(0, length);
  if (isClosersOrBlank(repeated) || isWithinWord(text, text.length - length)) return text;
  return text.slice(0, text.length - length);
};

/** Without last lines that say again the lines after the cursor's. */
export const withoutRepeatedLines: Filter = (text, { suffix }) => {
  const lines = text.split('\n');
  const isText = (line: string) => line !== '';
  const own = lines.slice(1).map((line) => line.trimEnd());
  const following = suffix
    .split('\n')
    .slice(1)
    .map((line) => line.trimEnd())
    .filter(isText);
  const repeated = overlapLength(own.filter(isText), following);
  if (repeated === 0) return text;
  const first = own.flatMap((line, index) => (isText(line) ? [index] : [])).at(-repeated) ?? 0;
  return lines.slice(0, first + 1).join('\n');
};

function isWithinWord(text: string, at: number): boolean {
  return (
    /[\p{L}\p{M}\p{N}_$]$/u.test(text.slice(Math.max(0, at - 2), at)) &&
    /^[\p{L}\p{M}\p{N}_$]/u.test(text.slice(at, at + 2))
  );
}
