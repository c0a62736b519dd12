import { cutText, plainEnds } from '../../../protocol/base/text.ts';
import type { CallBounds } from '../../chat/daemonTools.ts';
import { FileProblemError } from './fileProblem.ts';
import { readLines } from './readLines.ts';
import { type EditPlaceError, lineAt } from './textEdits.ts';

/** Lines that are shown around the place that a model most likely means. */
const shownLines = 20;
/** A line of fewer characters, such as a brace, stands everywhere. */
const shortestLine = 4;

interface FailedEdit extends CallBounds {
  readonly name: string;
  /** The present text of the file. */
  readonly text: string;
  /** How often edits of the file have failed in a row. */
  readonly times: number;
}

/** What a model reads whose edit has failed: more each time, because it would give up or try the same again. */
export function editHelp(
  { edit, isMissing, message }: EditPlaceError,
  { name, times, replaceable, characters: room, ...file }: FailedEdit,
): string {
  if (times > 2)
    return file.text.length <= replaceable
      ? ` Read ${name} again, and use write_file with its whole new text.`
      : ' Use search_files to find the line, and then a smaller old_string that is copied from there.';
  const text = plainEnds(file.text);
  if (!isMissing && times === 1) return '';
  const wanted = edit.wanted.trim();
  const there = wanted.length >= shortestLine ? text.indexOf(wanted) : -1;
  if (isMissing && there !== -1) return ` new_string is already there, at line ${lineAt(text, there)}.`;
  const near = nearestLine(text, edit.old);
  if (near === undefined) return ' No line of it does. Read the file again, and copy the text as it is.';
  const lines = times === 1 ? shownLines : text.length;
  const from = Math.max(1, near - Math.floor(Math.min(lines, 60) / 3));
  const { content } = readLines(text, { from, to: from + lines - 1, room: room - message.length - 100 });
  return ` The text there now:\n${cutText(content, room)}`;
}

/** Where the longest line of `old` stands that occurs at all, apart from blanks at its ends; from 1. */
function nearestLine(text: string, old: string): number | undefined {
  const sought = [...new Set(old.split('\n').map((line) => line.trim()))]
    .filter((line) => line.length >= shortestLine)
    .toSorted((a, b) => b.length - a.length);
  const line = sought.slice(0, 100).find((each) => text.includes(each));
  return line === undefined ? undefined : lineAt(text, text.indexOf(line));
}

const parts = '(?:code|file|function|class|implementation|methods?|functions?|imports?|contents?|logic)';

/** What models write where they leave something out. */
const placeholders: readonly RegExp[] = [
  new RegExp(
    `(?:\\.{3}|…) ?(?:the )?(?:rest|remaining|existing|other|previous|unchanged|same)(?: of)?(?: the| your| this)? ${parts}\\b`,
    'i',
  ),
  new RegExp(
    `^\\s*(?://|#|--|/\\*|<!--|;|%) ?(?:the )?(?:rest|remainder) of (?:the |your |this )?${parts}\\b`,
    'im',
  ),
  /\[truncated\]|\[removed to save room/i,
];

/** @throws {FileProblemError} if a new text has a placeholder that the old one does not have. */
export function refusePlaceholders(text: string, before: string): void {
  for (const placeholder of placeholders) {
    const found = placeholder.exec(text)?.[0];
    if (found !== undefined && !before.includes(found))
      throw new FileProblemError(
        `${JSON.stringify(found.trim())} stands for text that is left out, so nothing was written. Write the text itself, or change less with edit_file.`,
      );
  }
}

/** Whether most of a text of some length would be gone. */
export function leavesLittle(before: string, after: string): boolean {
  const lines = (text: string) => text.trimEnd().split('\n').length;
  return lines(before) >= 20 && lines(after) < lines(before) / 2;
}

/** A note if the change makes JSON invalid. */
export function jsonNotes(name: string, before: string, after: string): readonly string[] {
  if (!/\.json$/i.test(name) || jsonProblem(before) !== undefined) return [];
  const line = jsonProblem(after);
  return line === undefined ? [] : [`[The file was valid JSON and is not any more: line ${line}.]`];
}

/** The line in which a text is no JSON. */
function jsonProblem(text: string): number | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    const at = /position (\d+)/.exec((error as Error).message)?.[1];
    return lineAt(text, at === undefined ? text.trimEnd().length : Number(at));
  }
}
