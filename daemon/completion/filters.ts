import { afterLeadingThinking, profileForModel } from '../chat/thinkingParser.ts';
import type { AnswerContext, CursorContext } from './cursorContext.ts';
import { findSpecialToken, withoutLeadingTokens } from './fillInTheMiddle.ts';
import { isClosersOrBlank, isInsideWord, openQuote, strayClosers } from './syntax.ts';

/** Returns what is left of an answer, or `''` if nothing is. It never throws, and its work is linear. */
type Filter = (text: string, context: AnswerContext) => string;

/** Removes special tokens at the beginning, and everything from the next special token on. */
const withoutSpecialTokens: Filter = (text, { stops }) => {
  const rest = withoutLeadingTokens(text);
  const token = findSpecialToken(rest, stops);
  return token === -1 ? rest : rest.slice(0, token);
};

/** Removes marks that end a turn, such as `</s>`, from the end. Where the element `<s>` is open, its tag stays. */
const withoutEnds: Filter = (text, { linePrefix }) => {
  const line = linePrefix + text;
  const marks = profileForModel('', false).ends.filter((mark) => !closesElement(mark, line));
  for (let rest = text; ; ) {
    const trimmed = rest.trimEnd();
    const mark = marks.find((end) => trimmed.endsWith(end));
    if (mark === undefined) return rest;
    rest = trimmed.slice(0, -mark.length);
  }
};

function closesElement(mark: string, text: string): boolean {
  const [, name] = /^<\/(\w+)>$/.exec(mark) ?? [];
  return name !== undefined && new RegExp(`<${name}[\\s>]`).test(text);
}

/** Removes thinking at the beginning. Some models think although they are asked not to. */
const withoutThinking: Filter = (text) => afterLeadingThinking(text);

/** Whether a line opens the code fence that a chat model puts around its answer. In Markdown a fence is text. */
export function opensFence(line: string, { languageId }: AnswerContext): boolean {
  return languageId !== 'markdown' && /^\s*```[^`]*$/.test(line);
}

/** Removes such a fence. */
const withoutFences: Filter = (text, { languageId }) => {
  if (languageId === 'markdown') return text;
  const [fence] = /^\s*```[^\n`]*(\n|$)/.exec(text) ?? [];
  const inside = fence === undefined ? text : text.slice(fence.length);
  const lines = inside.split('\n');
  const end = lines.findIndex((line) => line.trimStart().startsWith('```'));
  return end === -1 ? inside : lines.slice(0, end).join('\n');
};

/** Removes blanks at the beginning if the cursor already stands after a blank. */
export const withoutDoubledBlank: Filter = (text, { linePrefix }) =>
  /[ \t]$/.test(linePrefix) ? text.replace(/^[ \t]+/, '') : text;

/** Keeps only the first line if one line is wanted. */
const cutToSingleLine: Filter = (text, { isMultiline }) =>
  isMultiline ? text : (text.split('\n', 1)[0] ?? '');

/** Removes an end that repeats what follows on the cursor's line. Another filter deals with closers. */
const withoutRepeatedRest: Filter = (text, { lineSuffix }) => {
  const rest = lineSuffix.trimEnd();
  const start = text.length - overlapLength(text, rest);
  const [kept, repeated] = [text.slice(0, start), text.slice(start)];
  return isClosersOrBlank(repeated) || isInsideWord(kept, repeated) ? text : kept;
};

/** Removes an end that repeats the closers on the rest of the cursor's line. */
const withoutRepeatedClosers: Filter = (text, context) => {
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

/**
 * Removes blanks and empty lines at the end. Before closers on the cursor's line they stay, because they place the
 * closers.
 */
const withoutTrailingBlank: Filter = (text, { lineSuffix }) =>
  lineSuffix.trim() === '' ? text.trimEnd() : text;

/**
 * Drops an answer that is blank, or with which the document goes on anyway. It also drops an answer with half a
 * character, because the document may have the other half.
 */
const unlessUseless: Filter = (text, { suffix, lineSuffix }) => {
  const said = text.trim();
  if (said === '' || /\p{Surrogate}/u.test(said)) return '';
  const rest = lineSuffix.trim();
  if (rest !== '') return rest.startsWith(said) ? '' : text;
  const following = suffix.trimStart().split('\n', 1)[0]?.trimEnd();
  return following === said ? '' : text;
};

/** The order matters: the first ones remove what is not code, the later ones what the document already has. */
const filters: readonly Filter[] = [
  withoutSpecialTokens,
  withoutEnds,
  withoutThinking,
  withoutFences,
  withoutDoubledBlank,
  cutToSingleLine,
  withoutRepeatedRest,
  withoutRepeatedClosers,
  withoutTrailingBlank,
  unlessUseless,
];

/** The part of an answer that is worth suggesting, with the document's line ends; `""` if there is none. */
export function suggestionOf(answer: string, around: CursorContext, context: AnswerContext): string {
  const text = filters.reduce((rest, filter) => (rest === '' ? '' : filter(rest, context)), answer);
  return withLineEndsOf(around, text);
}

function withLineEndsOf({ prefix, suffix }: CursorContext, text: string): string {
  return /\r\n/.test(prefix) || /\r\n/.test(suffix) ? text.replace(/\r?\n/g, '\r\n') : text;
}

/**
 * The length of the longest end of one sequence that is also the beginning of the other, in linear time (Knuth, Morris,
 * Pratt).
 */
export function overlapLength<T>(ending: ArrayLike<T>, beginning: ArrayLike<T>): number {
  const borders = bordersOf(beginning);
  let length = 0;
  for (let at = Math.max(0, ending.length - beginning.length); at < ending.length; at += 1) {
    while (length > 0 && (length === beginning.length || ending[at] !== beginning[length]))
      length = borders[length - 1] ?? 0;
    if (ending[at] === beginning[length]) length += 1;
  }
  return length;
}

/** For each beginning of the sequence, the length of its longest proper end that is also its beginning. */
function bordersOf<T>(sequence: ArrayLike<T>): readonly number[] {
  const borders: number[] = [0];
  let length = 0;
  for (let at = 1; at < sequence.length; at += 1) {
    while (length > 0 && sequence[at] !== sequence[length]) length = borders[length - 1] ?? 0;
    if (sequence[at] === sequence[length]) length += 1;
    borders.push(length);
  }
  return borders;
}
