import { count as counted, cutText } from '../../../protocol/base/text.ts';

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
const roomForNote = 200;

/** Lines of a text as they are. A note below them, in brackets, says what is left out. */
export function readLines(
  text: string,
  { from = 1, to = Number.POSITIVE_INFINITY, room = maxCharacters }: LineRange,
): ShownLines {
  const lines = linesOf(text);
  const count = lines.length;
  const end = Math.min(count, to < from ? count : to, from - 1 + maxLines);
  const most = Math.max(room, 2 * roomForNote) - roomForNote;
  const shown = fitting(lines.slice(from - 1, end), most);
  const last = from - 1 + shown.length;
  const [line = ''] = shown;
  const isCut = line.length >= most && shown.length === 1;
  const read = { first: from, last: isCut ? last - 1 : last };
  if (count === 0) return { ...read, content: '[The file is empty.]' };
  if (from > count)
    return { ...read, content: `[The file has only ${count === 1 ? 'one line' : counted(count, 'line')}.]` };
  const body = isCut ? cutText(line, most) : shown.join('\n');
  if (!isCut && from === 1 && last === count)
    return { ...read, content: body || '[The file has only line ends.]' };
  const rest = last < count ? ` Read on with start_line: ${last + 1}.` : '';
  const cut = isCut ? ` Line ${last} is longer and was cut.` : '';
  const note = `[Lines ${from} to ${last} of ${count.toLocaleString('en-US')}.${cut}${rest}]`;
  return { ...read, content: `${body}\n${note}` };
}

/** What follows the last line end is no line. */
export function linesOf(text: string): readonly string[] {
  const lines = text.split('\n');
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

/** As many whole lines as there is room for, but the first in any case. */
function fitting(lines: readonly string[], most: number): readonly string[] {
  let room = most;
  const tooFar = lines.findIndex((line) => {
    room -= line.length + 1;
    return room < 0;
  });
  return tooFar === -1 ? lines : lines.slice(0, Math.max(1, tooFar));
}
