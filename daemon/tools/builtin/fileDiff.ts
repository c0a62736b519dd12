import { formatPatch, OMIT_HEADERS, type StructuredPatch, structuredPatch } from 'diff';
import type { FileDiff } from '../../../protocol/messages/chat.ts';
import { commonEnds } from './editPlaces.ts';

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
