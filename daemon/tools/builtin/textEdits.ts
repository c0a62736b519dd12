import { plainEnds } from '../../../protocol/base/text.ts';
import { FileProblemError } from './workspace.ts';

/** Replaces a text that occurs exactly once. */
export interface TextEdit {
  readonly old: string;
  readonly new: string;
}

/** How many places of a text that occurs more than once are named. */
const maxNamed = 5;

/**
 * A text after edits, each of which names a different place of the text as it was. A line end in `old` matches any line
 * end of the file, and one in `new` becomes that of the file, because models write `\n` alone. Everything outside of
 * what an edit changes stays as it is, and so does what `old` and `new` have in common at their ends.
 * @throws {FileProblemError} if a place is missing or not the only one, or if edits overlap.
 */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  const lines = createLineEnds(text);
  const places = edits
    .map((edit, index) => placeOf(lines, edit, edits.length === 1 ? 'the edit' : `edit ${index + 1}`))
    .toSorted((one, other) => one.start - other.start || one.end - other.end);
  for (const [index, place] of places.entries()) {
    const before = places[index - 1];
    if (before && (place.start < before.end || place.start === before.start))
      throw new FileProblemError(
        `Two edits overlap near line ${lines.lineAt(place.start)}, so nothing was changed. Make one edit of them.`,
      );
  }
  let [changed, at] = ['', 0];
  for (const { edit, start, end } of places) {
    const { from, to, middle } = changedPart(edit, start, end);
    changed += text.slice(at, lines.offset(from)) + lines.withEnds(middle, from, to);
    at = lines.offset(to);
  }
  return changed + text.slice(at);
}

interface Place {
  readonly edit: TextEdit;
  /** In the text with plain line ends. */
  readonly start: number;
  readonly end: number;
}

function placeOf(lines: LineEnds, { old, new: wanted }: TextEdit, called: string): Place {
  const edit = { old: plainEnds(old), new: plainEnds(wanted) };
  if (edit.old === '' && lines.plain === '') return { edit, start: 0, end: 0 };
  if (edit.old === '')
    throw new FileProblemError(
      `"old" of ${called} is empty, but the file has text, so nothing was changed. An empty "old" makes a new file; to change this one, name the text that is replaced.`,
    );
  const [start, ...others] = occurrences(lines.plain, edit.old);
  if (start === undefined) throw new FileProblemError(missing(lines, edit.old, called));
  if (others.length === 0) return { edit, start, end: start + edit.old.length };
  const named = [start, ...others].slice(0, maxNamed).map(lines.lineAt).join(', ');
  const more = others.length >= maxNamed ? ' and more' : '';
  throw new FileProblemError(
    `"old" of ${called} occurs more than once (lines ${named}${more}), so nothing was changed. Add the lines around it, until it occurs once.`,
  );
}

/** Where a text occurs, also where it overlaps itself: a few more places than are named. */
function occurrences(text: string, wanted: string): readonly number[] {
  const found: number[] = [];
  for (
    let at = text.indexOf(wanted);
    at !== -1 && found.length <= maxNamed;
    at = text.indexOf(wanted, at + 1)
  )
    found.push(at);
  return found;
}

function missing(lines: LineEnds, old: string, called: string): string {
  const near = nearLine(lines.plain, old);
  const hint =
    near === undefined
      ? 'Read the file again, and copy the text as it is.'
      : `Line ${near} is the same apart from blanks: copy it as it is, with its indentation.`;
  return `"old" of ${called} does not occur in the file, so nothing was changed. ${hint}`;
}

/** Lines of `old` that are compared with the file apart from blanks. */
const maxCompared = 50;

/** The line where `old` begins, if blanks at the ends of its lines are left out. Models often indent differently. */
function nearLine(text: string, old: string): number | undefined {
  const wanted = trimmedLines(old.replace(/^\n+|\n+$/g, ''));
  if (wanted.length > maxCompared || wanted.join('') === '') return undefined;
  const lines = trimmedLines(text);
  const at = lines.findIndex((_, start) => wanted.every((line, index) => lines[start + index] === line));
  return at === -1 ? undefined : at + 1;
}

function trimmedLines(text: string): readonly string[] {
  return text.split('\n').map((line) => line.trim());
}

/** What an edit changes, without what `old` and `new` have in common at their ends. */
function changedPart({ old, new: wanted }: TextEdit, start: number, end: number) {
  const shorter = Math.min(old.length, wanted.length);
  let head = 0;
  while (head < shorter && old[head] === wanted[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && old[old.length - 1 - tail] === wanted[wanted.length - 1 - tail]) tail += 1;
  return { from: start + head, to: end - tail, middle: wanted.slice(head, wanted.length - tail) };
}

type LineEnds = ReturnType<typeof createLineEnds>;

/** A text with plain line ends, and the way back to the text as it is. */
function createLineEnds(text: string) {
  const plain = plainEnds(text);
  /** The places of the line ends in the plain text that are `\r\n`. */
  const long: number[] = [];
  for (let at = text.indexOf('\r\n'); at !== -1; at = text.indexOf('\r\n', at + 2))
    long.push(at - long.length);
  const longBefore = (at: number) => countBelow(long, at);
  return {
    /** Every `\r\n` is `\n`. */
    plain,
    /** The place in the text as it is, for a place in the plain one. */
    offset: (at: number) => at + longBefore(at),
    /** The line of a place in the plain text, from 1. */
    lineAt: (at: number) => plain.slice(0, at).split('\n').length,
    /** A text with the line ends of what it replaces, or of the text before it, or else of the first line. */
    withEnds(replacement: string, from: number, to: number): string {
      if (long.length === 0 || !replacement.includes('\n')) return replacement;
      const inside = plain.indexOf('\n', from);
      const isInside = inside !== -1 && inside < to;
      const before = isInside || from === 0 ? -1 : plain.lastIndexOf('\n', from - 1);
      const model = before === -1 ? inside : before;
      return long[longBefore(model)] === model ? replacement.replaceAll('\n', '\r\n') : replacement;
    },
  };
}

/** How many of the sorted numbers are smaller. */
function countBelow(sorted: readonly number[], limit: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
