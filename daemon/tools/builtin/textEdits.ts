import { formatPatch, OMIT_HEADERS, type StructuredPatch, structuredPatch } from 'diff';
import { plainEnds } from '../../../protocol/base/text.ts';
import type { FileDiff } from '../../../protocol/messages/chat.ts';
import { commonEnds, type EditPlace, findPlaces, type TextEdit } from './editPlaces.ts';
import { FileProblemError } from './fileProblem.ts';

/** A text after edits, and what was forgiven in them, each as a sentence. */
export interface EditedText {
  readonly text: string;
  readonly forgiven: readonly string[];
}

/** A text that an edit names, with plain line ends, is not where it could be replaced. */
export class EditPlaceError extends FileProblemError {
  readonly edit: TextEdit;
  readonly isMissing: boolean;

  constructor(message: string, edit: TextEdit, isMissing: boolean) {
    super(message);
    this.edit = edit;
    this.isMissing = isMissing;
  }
}

/** How many places of a text that occurs more than once are named. */
const maxNamed = 5;
/** Places that one edit changes. */
const maxPlaces = 1_000;

/**
 * A text after edits, one after another. A line end in `old` matches any line end of the file, and one in `wanted`
 * becomes that of the file, because models write `\n` alone. Everything outside of what an edit changes stays as it is,
 * and so does what both have in common at their ends. `isEverywhere` replaces the text wherever it occurs.
 * @throws {FileProblemError} if a place is missing or not the only one.
 */
export function applyEdits(text: string, edits: readonly TextEdit[], isEverywhere = false): EditedText {
  const forgiven = new Set<string>();
  let changed = text;
  for (const [index, given] of edits.entries()) {
    const plain = plainEnds(changed);
    const edit = { old: plainEnds(given.old), wanted: plainEnds(given.wanted) };
    const called = edits.length === 1 ? 'old_string' : `old_string of edit ${index + 1}`;
    const all = isEverywhere ? everywhere(plain, edit) : [];
    const places = all.length > 0 ? all : [placeOf(plain, edit, called)];
    for (const place of places)
      if (place.forgiven !== undefined) forgiven.add(`[old_string was found ${place.forgiven}.]`);
    changed = withPlaces(changed, places);
  }
  return { text: changed, forgiven: [...forgiven] };
}

/** The line of a place in a text with plain line ends, from 1. */
export function lineAt(plain: string, at: number): number {
  return plain.slice(0, at).split('\n').length;
}

/** All places of a text that need not be the only one. */
function everywhere(plain: string, { old, wanted }: TextEdit): readonly EditPlace[] {
  const between = old === '' ? [] : plain.split(old).slice(0, -1);
  if (between.length > maxPlaces)
    throw new FileProblemError(
      `old_string occurs more than ${maxPlaces.toLocaleString('en-US')} times, so nothing was changed. Make it longer.`,
    );
  let end = 0;
  return between.map((text) => {
    const start = end + text.length;
    end = start + old.length;
    return { start, end, wanted };
  });
}

function placeOf(plain: string, edit: TextEdit, called: string): EditPlace {
  if (edit.old === '' && plain === '') return { start: 0, end: 0, wanted: edit.wanted };
  if (edit.old === '')
    throw new FileProblemError(
      `${called} is empty, but the file has text, so nothing was changed. Copy the text that is replaced into old_string.`,
    );
  const places = findPlaces(plain, edit, maxNamed + 1);
  const [place, ...others] = places;
  if (place === undefined)
    throw new EditPlaceError(`${called} does not occur in the file, so nothing was changed.`, edit, true);
  if (others.length === 0) return place;
  const named = places.slice(0, maxNamed).map(({ start }) => lineAt(plain, start));
  const more = places.length > maxNamed ? ' and more' : '';
  throw new EditPlaceError(
    `${called} occurs more than once (lines ${named.join(', ')}${more}), so nothing was changed. Add the lines around it, until it occurs once.`,
    edit,
    false,
  );
}

/**
 * Puts into each place what comes there. What stays keeps its line ends. New ones are as the first that they replace,
 * or else as the one before them, or else as the first of the text.
 */
function withPlaces(text: string, places: readonly EditPlace[]): string {
  const plain = plainEnds(text);
  const ends: readonly string[] = text.match(/\r?\n/g) ?? [];
  let [changed, at, passed] = ['', 0, 0];
  const keepUntil = (to: number) => {
    changed += plain.slice(at, to).replaceAll('\n', () => ends[passed++] ?? '');
    at = to;
  };
  for (const { start, end, wanted } of places) {
    const { head, tail } = commonEnds(plain.slice(start, end), wanted);
    keepUntil(start + head);
    const removed = plain.slice(at, end - tail).split('\n').length - 1;
    const lineEnd = ends[removed > 0 ? passed : Math.max(0, passed - 1)] ?? '\n';
    changed += wanted.slice(head, wanted.length - tail).replaceAll('\n', lineEnd);
    passed += removed;
    at = end - tail;
  }
  keepUntil(plain.length);
  return changed;
}

/** In ms, since nothing else runs meanwhile. Texts that have little in common take long to compare. */
const timeout = 250;
const context = 3;

/** The change of a file for people. Without `before` the file is new. */
export function createFileDiff({ path, name, before, after }: Omit<FileDiff, 'unified'>): FileDiff {
  const compared = structuredPatch('', '', before ?? '', after, undefined, undefined, { context, timeout });
  const patch = compared ?? wholePatch(before ?? '', after);
  const unified = patch.hunks.length > 0 ? formatPatch(patch, OMIT_HEADERS) : '';
  return { path, name, ...(before === undefined ? {} : { before }), after, unified };
}

/** All of the one text in place of all of the other. */
function wholePatch(before: string, after: string): StructuredPatch {
  const [removal, addition] = [structuredPatch('', '', before, ''), structuredPatch('', '', '', after)];
  const [[removed], [added]] = [removal.hunks, addition.hunks];
  if (!removed || !added) return removed ? removal : addition;
  const lines = [...removed.lines, ...added.lines];
  return { ...removal, hunks: [{ ...removed, newStart: 1, newLines: added.newLines, lines }] };
}

/** Such as `Changed src/a.ts, lines 12 to 15 (+3 -1).` Where lines were only removed, the next one is named. */
export function describeDiff({ name, unified, before, after }: FileDiff): string {
  const lines = unified.split('\n');
  const count = (mark: string) => lines.filter((line) => line.startsWith(mark)).length;
  const counts = `(+${count('+')} -${count('-')})`;
  if (before === undefined) return `Created ${name} ${counts}.`;
  const now = after.split('\n');
  const { head, tail } = commonEnds(before.split('\n'), now);
  const [first, last] = [head + 1, Math.max(head + 1, now.length - tail)];
  return `Changed ${name}, ${first === last ? `line ${first}` : `lines ${first} to ${last}`} ${counts}.`;
}
