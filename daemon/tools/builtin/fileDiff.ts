import { structuredPatch } from 'diff';
import type { FileDiff } from '../../../protocol/messages/chat.ts';

/** In ms, since nothing else runs meanwhile. Texts that have little in common take long to compare. */
const timeLimit = 250;
const context = 3;

/** The change of a file for people. Without `before` the file is new. */
export function createFileDiff({ path, name, before, after }: Omit<FileDiff, 'unified'>): FileDiff {
  const patch = structuredPatch('', '', before ?? '', after, undefined, undefined, {
    context,
    timeout: timeLimit,
  });
  const hunks = patch?.hunks ?? [wholeHunk(before ?? '', after)];
  const unified = hunks
    .map(({ oldStart, oldLines, newStart, newLines, lines }) =>
      [`@@ -${rangeOf(oldStart, oldLines)} +${rangeOf(newStart, newLines)} @@`, ...lines, ''].join('\n'),
    )
    .join('');
  return { path, name, ...(before === undefined ? {} : { before }), after, unified };
}

/** The format names the line before an empty range. */
function rangeOf(start: number, lines: number): string {
  return `${lines === 0 ? start - 1 : start},${lines}`;
}

/** Everything between what both texts begin and end with. */
function wholeHunk(before: string, after: string) {
  const [old, now] = [linesOf(before), linesOf(after)];
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < Math.min(old.length, now.length) - head && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
  const start = Math.max(0, head - context);
  const rest = Math.max(0, tail - context);
  const lines = [
    ...old.slice(start, head).map((line) => ` ${line}`),
    ...old.slice(head, old.length - tail).map((line) => `-${line}`),
    ...now.slice(head, now.length - tail).map((line) => `+${line}`),
    ...old.slice(old.length - tail, old.length - rest).map((line) => ` ${line}`),
  ];
  const oldLines = old.length - rest - start;
  const newLines = now.length - rest - start;
  return { oldStart: start + 1, oldLines, newStart: start + 1, newLines, lines: lines.flatMap(withNote) };
}

/** The lines of a text, each with its end, so that a last line without one differs from one that has it. */
function linesOf(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** As the format marks a line that has no end. */
function withNote(line: string): readonly string[] {
  return line.endsWith('\n') ? [line.slice(0, -1)] : [line, '\\ No newline at end of file'];
}
