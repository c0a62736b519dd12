import type { TextPosition } from '../../protocol/completion.ts';

/** What of a document is read, in UTF-16 units throughout: `TextDocument` is one. */
export interface TextSource {
  readonly languageId: string;
  offsetAt(position: TextPosition): number;
  positionAt(offset: number): TextPosition;
  getText(range: { readonly start: TextPosition; readonly end: TextPosition }): string;
}

/** The text around a cursor as it was at one moment, line ends as they are in the document. */
export interface Surroundings {
  /** Where the cursor is, within the document. */
  readonly position: TextPosition;
  /** The same in UTF-16 units from the beginning. */
  readonly offset: number;
  readonly languageId: string;
  /** Before the cursor, from the beginning of a line where one is near enough. */
  readonly prefix: string;
  /** After the cursor, to the end of a line where one is near enough. */
  readonly suffix: string;
  /** Of the cursor's line. */
  readonly linePrefix: string;
  readonly lineSuffix: string;
}

/** Characters before and after the cursor: about 2,000 tokens, so that a window of 4,096 has room for them. */
export const prefixBudget = 6_000;
export const suffixBudget = 1_200;

/** Reads no more of the document than the budgets, however long it is, and holds nothing else of it. */
export function surroundingsAt(document: TextSource, asked: TextPosition): Surroundings {
  const offset = document.offsetAt(asked);
  const position = document.positionAt(offset);
  const start = Math.max(0, offset - prefixBudget);
  const end = offset + suffixBudget;
  const before = copyOf(document.getText({ start: document.positionAt(start), end: position }));
  const after = copyOf(document.getText({ start: position, end: document.positionAt(end) }));
  const prefix = start === 0 ? before : fromLineStart(before);
  const suffix = after.length < suffixBudget ? after : toLineEnd(after);
  return {
    position,
    offset: document.offsetAt(position),
    languageId: document.languageId,
    prefix,
    suffix,
    linePrefix: prefix.slice(lastLineStart(prefix)),
    lineSuffix: /^[^\r\n]*/.exec(suffix)?.[0] ?? '',
  };
}

/** What is cut from a string keeps all of that in memory; a place is kept for longer than a version of its document. */
function copyOf(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}

/** A third of it, for a window that has no room for all. */
export function less(around: Surroundings): Surroundings {
  const prefix = fromLineStart(around.prefix.slice(-prefixBudget / 3));
  const suffix = toLineEnd(around.suffix.slice(0, suffixBudget / 3));
  return {
    ...around,
    prefix,
    suffix,
    linePrefix: prefix.slice(lastLineStart(prefix)),
    lineSuffix: /^[^\r\n]*/.exec(suffix)?.[0] ?? '',
  };
}

/**
 * Without the part of a line that it begins with, unless little else would be left: a very long line is cut inside, but
 * no surrogate pair. At the cursor all stays as it is.
 */
function fromLineStart(text: string): string {
  const lineStart = text.indexOf('\n') + 1;
  return lineStart > 0 && lineStart <= text.length / 2
    ? text.slice(lineStart)
    : text.replace(/^[\uDC00-\uDFFF]/, '');
}

/** Without the part of a line that it ends with, on the same terms. */
function toLineEnd(text: string): string {
  const lineEnd = text.lastIndexOf('\n') + 1;
  return lineEnd >= text.length / 2 ? text.slice(0, lineEnd) : text.replace(/[\uD800-\uDBFF]$/, '');
}

function lastLineStart(text: string): number {
  return Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1;
}
