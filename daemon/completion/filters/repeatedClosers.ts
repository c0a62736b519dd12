import type { AnswerContext } from '../answerContext.ts';
import { isClosersOrBlank, openQuote, strayClosers } from '../syntax.ts';
import type { Filter } from './filter.ts';

/** Removes an end that repeats the closers on the rest of the cursor's line. */
export const withoutRepeatedClosers: Filter = (text, context) => {
  const closing = closingAgain(text, context);
  if (!closing) return text;
  const rest = context.lineSuffix.trim();
  return rest.startsWith(text.slice(closing.at).trim()) ? text.slice(0, closing.at) : text;
};

/** How many characters after the cursor the text replaces: the closers that it repeats before it goes on. */
export function replacedLength(text: string, context: AnswerContext): number {
  return closingAgain(text, context)?.replaces ?? 0;
}

/** Where the text begins to repeat the closers on the rest of the line, and how much of that rest it repeats. */
function closingAgain(
  text: string,
  { linePrefix, lineSuffix }: AnswerContext,
): { readonly at: number; readonly replaces: number } | undefined {
  const rest = closersAtStart(lineSuffix);
  const stray = strayClosers(text, openQuote(linePrefix));
  for (let count = Math.min(rest.length, stray.length); count > 0; count -= 1) {
    const places = stray.slice(-count);
    const isSame = places.every((at, index) => text[at] === rest[index]?.character);
    if (isSame) return { at: places[0] ?? 0, replaces: (rest[count - 1]?.at ?? 0) + 1 };
  }
  return undefined;
}

/** The most closers on one line. Nobody writes more by hand. */
const maxClosers = 32;

/** The closing brackets and quotes before anything else. */
function closersAtStart(line: string): readonly { readonly character: string; readonly at: number }[] {
  const found: { character: string; at: number }[] = [];
  for (let at = 0; isClosersOrBlank(line.charAt(at)) && at < line.length; at += 1)
    if (found.length < maxClosers && /[)\]}"'`]/.test(line.charAt(at)))
      found.push({ character: line.charAt(at), at });
  return found;
}
