import { plainEnds } from '../../../protocol/base/text.ts';
import { commonEnds, type EditMatch, findForgiving } from './editPlaces.ts';
import { FileProblemError } from './workspace.ts';

/** Replaces a text that occurs exactly once. */
export interface TextEdit {
  readonly old: string;
  readonly new: string;
}

/** How many places of a text that occurs more than once are named. */
const maxNamed = 5;

/** A text after edits, and what was forgiven in them, each as a sentence. */
export interface EditedText {
  readonly text: string;
  readonly forgiven: readonly string[];
}

/** A text that an edit names is not where it could be replaced. */
export class EditPlaceError extends FileProblemError {
  readonly edit: TextEdit;
  readonly isMissing: boolean;

  constructor(message: string, edit: TextEdit, isMissing: boolean) {
    super(message);
    this.edit = edit;
    this.isMissing = isMissing;
  }
}

/**
 * A text after edits, each of which names a different place of the text as it was. A line end in `old` matches any line
 * end of the file, and one in `new` becomes that of the file, because models write `\n` alone. Everything outside of
 * what an edit changes stays as it is, and so does what `old` and `new` have in common at their ends. `isEverywhere`
 * replaces the text wherever it occurs.
 * @throws {FileProblemError} if a place is missing or not the only one, or if edits overlap.
 */
export function applyEdits(text: string, edits: readonly TextEdit[], isEverywhere = false): EditedText {
  const lines = createLineEnds(text);
  const places = edits
    .flatMap((edit, index) =>
      isEverywhere
        ? placesOf(lines, edit)
        : [placeOf(lines, edit, edits.length === 1 ? '' : ` of edit ${index + 1}`)],
    )
    .toSorted((one, other) => one.start - other.start || one.end - other.end);
  for (const [index, place] of places.entries()) {
    const before = places[index - 1];
    if (before && (place.start < before.end || place.start === before.start))
      throw new FileProblemError(
        `Two edits overlap near line ${lines.lineAt(place.start)}, so nothing was changed. Make one edit of them.`,
      );
  }
  let [changed, at] = ['', 0];
  for (const place of places) {
    const { from, to, middle } = changedPart(lines.plain, place);
    changed += text.slice(at, lines.offset(from)) + lines.withEnds(middle, from, to);
    at = lines.offset(to);
  }
  const forgiven = places.flatMap((place) =>
    place.forgiven === undefined ? [] : [`[old_string was found ${place.forgiven}.]`],
  );
  return { text: changed + text.slice(at), forgiven: [...new Set(forgiven)] };
}

/** Places that one edit changes. */
const maxPlaces = 1_000;

/** Every place of a text that need not be the only one. */
function placesOf(lines: LineEnds, edit: TextEdit): readonly EditMatch[] {
  const [old, wanted] = [plainEnds(edit.old), plainEnds(edit.new)];
  const places: EditMatch[] = [];
  for (let at = old === '' ? -1 : lines.plain.indexOf(old); at !== -1; ) {
    places.push({ start: at, end: at + old.length, wanted });
    if (places.length > maxPlaces)
      throw new FileProblemError(
        `old_string occurs more than ${maxPlaces.toLocaleString('en-US')} times, so nothing was changed. Make it longer.`,
      );
    at = lines.plain.indexOf(old, at + old.length);
  }
  return places.length > 0 ? places : [placeOf(lines, edit, '')];
}

function placeOf(lines: LineEnds, edit: TextEdit, called: string): EditMatch {
  const [old, wanted] = [plainEnds(edit.old), plainEnds(edit.new)];
  if (old === '' && lines.plain === '') return { start: 0, end: 0, wanted };
  if (old === '')
    throw new FileProblemError(
      `old_string${called} is empty, but the file has text, so nothing was changed. Copy the text that is replaced into old_string.`,
    );
  const starts = occurrences(lines.plain, old);
  const [start] = starts;
  if (start !== undefined && starts.length === 1) return { start, end: start + old.length, wanted };
  const found = start === undefined ? findForgiving(lines.plain, { old, wanted }) : { starts };
  if (found === undefined)
    throw new EditPlaceError(
      `old_string${called} does not occur in the file, so nothing was changed.`,
      edit,
      true,
    );
  if ('place' in found) return found.place;
  const named = found.starts.slice(0, maxNamed).map(lines.lineAt).join(', ');
  const more = found.starts.length > maxNamed ? ' and more' : '';
  throw new EditPlaceError(
    `old_string${called} occurs more than once (lines ${named}${more}), so nothing was changed. Add the lines around it, until it occurs once.`,
    edit,
    false,
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

/** What a change replaces, without what both texts have in common at their ends. */
function changedPart(text: string, { start, end, wanted }: EditMatch) {
  const { head, tail } = commonEnds(text.slice(start, end), wanted);
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
