import { createHash } from 'node:crypto';
import { count as counted, cutText, plainEnds } from '../../../protocol/base/text.ts';

interface LineRange {
  /** The first line, from 1. */
  readonly from?: number | undefined;
  /** The last line. */
  readonly to?: number | undefined;
  /** The most characters of the lines with the note below them. */
  readonly room?: number;
}

/** Lines as they are read by a model. */
interface ShownLines {
  readonly content: string;
  /** From 1; `last` is less than `first` if none is shown whole. */
  readonly first: number;
  readonly last: number;
}

const maxLines = 2_000;
/** The result of a tool has no more characters. */
const maxCharacters = 32_000;
/** Of a result, in characters: what a note on what is left out may take. */
export const roomForNote = 200;

/** Lines of a text as they are. A note below them, in brackets, says what is left out. */
export function readLines(
  text: string,
  { from = 1, to = Number.POSITIVE_INFINITY, room = maxCharacters }: LineRange,
): ShownLines {
  const lines = linesOf(text);
  const count = lines.length;
  const end = Math.min(count, to < from ? count : to, from - 1 + maxLines);
  const most = Math.max(room, 2 * roomForNote) - roomForNote;
  const whole = fitting(lines.slice(from - 1, end), most, (line) => line.length + 1);
  // Of a first line that is too long, its beginning.
  const isCut = whole.length === 0 && from <= end;
  const shown = isCut ? [cutText(lines[from - 1] ?? '', most)] : whole;
  const last = from - 1 + shown.length;
  const read = { first: from, last: isCut ? last - 1 : last };
  if (count === 0) return { ...read, content: '[The file is empty.]' };
  if (from > count)
    return { ...read, content: `[The file has only ${count === 1 ? 'one line' : counted(count, 'line')}.]` };
  const body = shown.join('\n');
  if (!isCut && from === 1 && last === count)
    return { ...read, content: body || '[The file has only line ends.]' };
  const rest = last < count ? ` Read on with start_line: ${last + 1}.` : '';
  const cut = isCut ? ` Line ${last} is longer and was cut.` : '';
  const note = `[Lines ${from} to ${last} of ${count.toLocaleString('en-US')}.${cut}${rest}]`;
  return { ...read, content: `${body}\n${note}` };
}

/** What follows the last line end is no line. */
function linesOf(text: string): readonly string[] {
  const lines = text.split('\n');
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

/** The first of a list, as many as there is room for by their sizes. */
export function fitting<T>(all: readonly T[], room: number, sizeOf: (one: T) => number): readonly T[] {
  let rest = room;
  const end = all.findIndex((one) => {
    rest -= sizeOf(one);
    return rest < 0;
  });
  return end === -1 ? all : all.slice(0, end);
}

/** With more texts, all are forgotten, and must be read again before they are replaced. */
const maxTexts = 1_000;

/** What the models of a daemon have read of files: which lines of each text that a file has, or had. */
export class ReadRecord {
  readonly #lines = new Map<string, Set<number>>();

  noteRead(path: string, text: string, first = 1, last = Number.POSITIVE_INFINITY): void {
    // A longer text is never replaced as a whole.
    if (text.length > maxCharacters) return;
    const key = keyOf(path, text);
    const read = this.#lines.get(key) ?? new Set();
    if (this.#lines.size >= maxTexts) this.#lines.clear();
    this.#lines.set(key, read);
    const end = Math.min(last, linesOf(plainEnds(text)).length);
    for (let line = first; line <= end; line += 1) read.add(line);
  }

  isWhole(path: string, text: string): boolean {
    return this.#lines.get(keyOf(path, text))?.size === linesOf(plainEnds(text)).length;
  }
}

function keyOf(path: string, text: string): string {
  return createHash('sha256').update(`${path}\0${text}`).digest('base64');
}
