import type { TextPiece } from './pieces.ts';

const letters = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** Whether most letters of a text are Hebrew, Arabic or similar. */
export function isRightToLeft(pieces: readonly TextPiece[]): boolean {
  const text = pieces.map((piece) => piece.text.slice(0, 2000)).join('');
  if (!letters.test(text)) return false;
  const rtl = text.match(/[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/g)?.length ?? 0;
  return rtl > (text.match(/\p{L}/gu)?.length ?? 0) / 2;
}

/**
 * The text with its lines broken and their words from right to left, because the printer sets words from left to right.
 * Within a word, the font handles the direction. Latin words and numbers keep their order among themselves; the finer
 * rules of mixed text are not followed.
 */
export function rightToLeftLines(
  pieces: readonly TextPiece[],
  room: number,
  widthOf: (piece: TextPiece) => number,
): TextPiece[] {
  const lines: TextPiece[][] = [[]];
  let used = 0;
  for (const word of pieces.flatMap(wordsOf)) {
    const width = widthOf({ ...word, text: `${word.text} ` });
    if (word.text === '\n' || used + width > room) {
      lines.push([]);
      used = 0;
    }
    if (word.text === '\n') continue;
    lines.at(-1)?.push(word);
    used += width;
  }
  return lines.flatMap((line, index) => [
    ...(index > 0 ? [{ kind: 'text', text: '\n', mark: {} } as const] : []),
    ...reversed(line).map((word, at) => (at + 1 < line.length ? { ...word, text: `${word.text} ` } : word)),
  ]);
}

function wordsOf(piece: TextPiece): TextPiece[] {
  return piece.text
    .split(/( +|\n)/)
    .flatMap((text) => (text === '\n' || text.trim() ? [{ ...piece, text }] : []));
}

/** From the last word to the first, except that stretches of left-to-right words keep their order. */
function reversed(words: readonly TextPiece[]): TextPiece[] {
  const groups: TextPiece[][] = [];
  for (const word of words) {
    const last = groups.at(-1)?.at(-1);
    if (last && !letters.test(last.text) && !letters.test(word.text)) groups.at(-1)?.push(word);
    else groups.push([word]);
  }
  return groups.reverse().flatMap((group) => group.map(mirrored));
}

/** The marks around a word change sides. */
function mirrored(word: TextPiece): TextPiece {
  if (!letters.test(word.text)) return word;
  const [, before = '', middle = '', after = ''] =
    /^([("«[]*)(.*?)([)".,:;!?»\]،؛؟]*)$/s.exec(word.text) ?? [];
  const swap = (text: string) =>
    [...text]
      .reverse()
      .map((sign) => pairs.get(sign) ?? sign)
      .join('');
  return { ...word, text: swap(after) + middle + swap(before) };
}

const pairs: ReadonlyMap<string, string> = new Map([
  ['(', ')'],
  [')', '('],
  ['[', ']'],
  [']', '['],
  ['«', '»'],
  ['»', '«'],
]);
