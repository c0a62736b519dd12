import { isClosersOrBlank, isInsideWord } from '../syntax.ts';
import type { Filter } from './filter.ts';
import { overlapLength } from './overlap.ts';

/** Removes an end that repeats what follows on the cursor's line. Another filter deals with closers. */
export const withoutRepeatedRest: Filter = (text, { lineSuffix }) => {
  const rest = lineSuffix.trimEnd();
  const start = text.length - overlapLength(text, rest);
  const [kept, repeated] = [text.slice(0, start), text.slice(start)];
  return isClosersOrBlank(repeated) || isInsideWord(kept, repeated) ? text : kept;
};

/** Removes last lines that repeat the lines after the cursor's line. */
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
