import { cutText } from '../../../protocol/base/text.ts';

export interface LineRange {
  /** The first line, from 1. */
  readonly from?: number | undefined;
  /** The last line. */
  readonly to?: number | undefined;
}

const maxLines = 2_000;
/** Of the lines with the note below them, in characters; the result of a tool has no more. */
const maxCharacters = 32_000;
const roomForNote = 200;

/** Lines of a text as they are. A note below them, in brackets, says what is left out. */
export function readLines(text: string, { from = 1, to = Number.POSITIVE_INFINITY }: LineRange): string {
  const lines = text.split('\n');
  // What follows the last line end is no line.
  const count = lines.at(-1) === '' ? lines.length - 1 : lines.length;
  if (count === 0) return '[The file is empty.]';
  if (to < from) return `[Nothing was read: "to" is less than "from".]`;
  if (from > count) return `[The file has only ${linesOf(count)}.]`;
  const end = Math.min(count, to, from - 1 + maxLines);
  const wanted = lines.slice(from - 1, end);
  const { shown, isCut } = fitting(wanted);
  const last = from - 1 + shown.length;
  const body = shown.join('\n');
  if (!isCut && from === 1 && last === count) return body === '' ? '[The file has only line ends.]' : body;
  const rest = last < count ? ` Read on with from: ${last + 1}.` : '';
  const cut = isCut ? ` Line ${last} is longer and was cut.` : '';
  return `${body}\n[Lines ${from} to ${last} of ${count.toLocaleString('en-US')}.${cut}${rest}]`;
}

/** As many whole lines as there is room for; of a first line that is too long, its beginning. */
function fitting(lines: readonly string[]): { readonly shown: readonly string[]; readonly isCut: boolean } {
  let room = maxCharacters - roomForNote;
  const tooFar = lines.findIndex((line) => {
    room -= line.length + 1;
    return room < 0;
  });
  if (tooFar === -1) return { shown: lines, isCut: false };
  const [first = ''] = lines;
  if (tooFar > 0) return { shown: lines.slice(0, tooFar), isCut: false };
  return { shown: [cutText(first, maxCharacters - roomForNote)], isCut: true };
}

function linesOf(count: number): string {
  return count === 1 ? 'one line' : `${count.toLocaleString('en-US')} lines`;
}
