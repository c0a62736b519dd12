import type { SelectedCompletionInfo } from '../../protocol/messages/completion.ts';
import type { TextPosition } from '../../protocol/messages/messageTypes.ts';
import { commentMarks, isClosersOrBlank } from './syntax.ts';

/** The part of a document's interface that is used. All offsets count UTF-16 units. `TextDocument` has it. */
export interface TextSource {
  readonly languageId: string;
  offsetAt(position: TextPosition): number;
  positionAt(offset: number): TextPosition;
  getText(range: { readonly start: TextPosition; readonly end: TextPosition }): string;
}

/** The text around a cursor at one moment, with the line ends of the document. */
export interface CursorContext {
  /** The position of the cursor in the document. */
  readonly position: TextPosition;
  /** The same in UTF-16 units from the beginning. */
  readonly offset: number;
  readonly languageId: string;
  /** The text before the cursor, from the beginning of a line if one is near enough. */
  readonly prefix: string;
  /** The text after the cursor, to the end of a line if one is near enough. */
  readonly suffix: string;
  /** The part of the cursor's line before the cursor. */
  readonly linePrefix: string;
  /** The part of the cursor's line after the cursor. */
  readonly lineSuffix: string;
}

/** Characters before and after the cursor: about 2,000 tokens, so that a window of 4,096 has room for them. */
export const prefixBudget = 6_000;
export const suffixBudget = 1_200;

/** Reads no more of the document than the budgets allow, however long it is, and keeps nothing else of it in memory. */
export function cursorContextAt(document: TextSource, asked: TextPosition): CursorContext {
  const offset = document.offsetAt(asked);
  const position = document.positionAt(offset);
  const start = Math.max(0, offset - prefixBudget);
  const end = offset + suffixBudget;
  const before = copyOf(document.getText({ start: document.positionAt(start), end: position }));
  const after = copyOf(document.getText({ start: position, end: document.positionAt(end) }));
  return {
    position,
    offset: document.offsetAt(position),
    languageId: document.languageId,
    ...textsOf(
      start === 0 ? before : fromLineStart(before),
      after.length < suffixBudget ? after : toLineEnd(after),
    ),
  };
}

/**
 * The text around the cursor as if the item that is selected in the editor's list were already inserted, with the
 * cursor after it. Undefined if the item would not be inserted around the cursor.
 */
export function cursorContextBehind(
  { range, text }: SelectedCompletionInfo,
  document: TextSource,
  position: TextPosition,
): CursorContext | undefined {
  const [start, end] = [document.offsetAt(range.start), document.offsetAt(range.end)];
  const cursor = document.offsetAt(position);
  if (range.start.line !== range.end.line || start > cursor || cursor > end) return undefined;
  return withInserted(cursorContextAt(document, range.start), text, end - start);
}

/** The surroundings after a text is inserted that replaces `replaced` characters after the cursor. */
export function withInserted(around: CursorContext, text: string, replaced: number): CursorContext {
  return {
    position: positionAfter(around.position, text),
    offset: around.offset + text.length,
    languageId: around.languageId,
    ...textsOf(around.prefix + text, around.suffix.slice(replaced)),
  };
}

/** A third of the text, for a model whose window has no room for all of it. */
export function less(around: CursorContext): CursorContext {
  return {
    ...around,
    ...textsOf(
      fromLineStart(around.prefix.slice(-prefixBudget / 3)),
      toLineEnd(around.suffix.slice(0, suffixBudget / 3)),
    ),
  };
}

/** The position of the cursor after a text was inserted. */
export function positionAfter({ line, character }: TextPosition, text: string): TextPosition {
  const lines = text.split(/\r\n|\r|\n/);
  const last = lines.at(-1)?.length ?? 0;
  return { line: line + lines.length - 1, character: lines.length === 1 ? character + last : last };
}

function textsOf(
  prefix: string,
  suffix: string,
): Pick<CursorContext, 'prefix' | 'suffix' | 'linePrefix' | 'lineSuffix'> {
  const lineStart = Math.max(prefix.lastIndexOf('\n'), prefix.lastIndexOf('\r')) + 1;
  const lineSuffix = /^[^\r\n]*/.exec(suffix)?.[0] ?? '';
  return { prefix, suffix, linePrefix: prefix.slice(lineStart), lineSuffix };
}

/**
 * A slice of a string keeps the whole string in memory, and a place is remembered for longer than its version of the
 * document.
 */
function copyOf(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}

/**
 * Removes the partial line at the beginning, unless little else would be left. A very long line is cut inside, but not
 * inside a surrogate pair. The end at the cursor stays unchanged.
 */
function fromLineStart(text: string): string {
  const lineStart = text.indexOf('\n') + 1;
  return lineStart > 0 && lineStart <= text.length / 2
    ? text.slice(lineStart)
    : text.replace(/^[\uDC00-\uDFFF]/, '');
}

/** Removes the partial line at the end, under the same conditions. */
function toLineEnd(text: string): string {
  const lineEnd = text.lastIndexOf('\n') + 1;
  return lineEnd >= text.length / 2 ? text.slice(0, lineEnd) : text.replace(/[\uD800-\uDBFF]$/, '');
}

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
  {
    around,
    isAfterAcceptance = false,
  }: { readonly around: CursorContext; readonly isAfterAcceptance?: boolean },
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
