import { cutText } from '../../../protocol/base/text.ts';

export interface LineRange {
  /** The first line, from 1. */
  readonly from?: number | undefined;
  /** The last line. */
  readonly to?: number | undefined;
  /** The most characters of the lines with the note below them. */
  readonly room?: number | undefined;
}

/** Lines as they are read by a model. */
export interface ShownLines {
  readonly content: string;
  /** From 1; `last` is less than `first` if none is shown whole. */
  readonly first: number;
  readonly last: number;
  /** The lines of the text. */
  readonly count: number;
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
  const lines = text.split('\n');
  // What follows the last line end is no line.
  const count = lines.at(-1) === '' ? lines.length - 1 : lines.length;
  const only = (content: string) => ({ content, first: 1, last: count === 0 ? 0 : -1, count });
  if (count === 0) return only('[The file is empty.]');
  if (from > count) return only(`[The file has only ${linesOf(count)}.]`);
  const end = Math.min(count, to < from ? count : to, from - 1 + maxLines);
  const wanted = lines.slice(from - 1, end);
  const { shown, isCut } = fitting(wanted, Math.max(room, 2 * roomForNote) - roomForNote);
  const last = from - 1 + shown.length;
  const body = shown.join('\n');
  const read = { first: from, last: isCut ? last - 1 : last, count };
  if (!isCut && from === 1 && last === count)
    return { ...read, content: body === '' ? '[The file has only line ends.]' : body };
  const rest = last < count ? ` Read on with start_line: ${last + 1}.` : '';
  const cut = isCut ? ` Line ${last} is longer and was cut.` : '';
  return {
    ...read,
    content: `${body}\n[Lines ${from} to ${last} of ${count.toLocaleString('en-US')}.${cut}${rest}]`,
  };
}

/** As many whole lines as there is room for; of a first line that is too long, its beginning. */
function fitting(
  lines: readonly string[],
  most: number,
): { readonly shown: readonly string[]; readonly isCut: boolean } {
  let room = most;
  const tooFar = lines.findIndex((line) => {
    room -= line.length + 1;
    return room < 0;
  });
  if (tooFar === -1) return { shown: lines, isCut: false };
  const [first = ''] = lines;
  if (tooFar > 0) return { shown: lines.slice(0, tooFar), isCut: false };
  return { shown: [cutText(first, most)], isCut: true };
}

function linesOf(count: number): string {
  return count === 1 ? 'one line' : `${count.toLocaleString('en-US')} lines`;
}
