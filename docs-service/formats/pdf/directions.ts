import type { Document } from '../../content/document.ts';
import { type Direction, tryDirection } from '../language.ts';
import type { TextPiece } from './inlines.ts';
import { inVisualOrder, rightToLeftLetters } from './visualOrder.ts';

const letter = new RegExp(`[${rightToLeftLetters}]`);
const letters = new RegExp(letter, 'g');

/** The direction of most letters of a text. */
export function directionOf(text: string): Direction {
  const start = text.slice(0, 20_000);
  if (!letter.test(start)) return 'ltr';
  const rtl = start.match(letters)?.length ?? 0;
  return rtl > (start.match(/\p{L}/gu)?.length ?? 0) / 2 ? 'rtl' : 'ltr';
}

export function directionOfPieces(pieces: readonly TextPiece[]): Direction {
  return directionOf(pieces.map(({ text }) => text.slice(0, 2_000)).join(''));
}

/** The direction of what surrounds the text of a document: that of its language, or else of its title. */
export function directionOfDocument({ lang, title }: Pick<Document, 'lang' | 'title'>): Direction {
  return tryDirection(lang) ?? directionOf(title);
}

/**
 * Puts items that stand side by side, such as the columns of a table, in order from the left of the page to the right.
 */
export function inOrder<Item>(items: readonly Item[], direction: Direction): readonly Item[] {
  return direction === 'rtl' ? items.toReversed() : items;
}

/**
 * A text from left to right that keeps its order in any line. Without the mark, a number at its beginning would be
 * moved.
 */
export function markedLeftToRight(text: string): string {
  return directionOf(text) === 'ltr' ? `\u200e${text}` : text;
}

interface Lines {
  readonly direction: Direction;
  /** In points. */
  readonly room: number;
  readonly widthOf: (piece: TextPiece) => number;
}

/**
 * The text with its lines broken and everything in the order in which it stands on them, because the printer sets words
 * from left to right. Within a word, the font handles the direction. This follows the Unicode Bidirectional Algorithm
 * without its embeddings, and with pairs of brackets only within a line. Text that needs no other order stays as it is.
 */
export function orderedLines(pieces: readonly TextPiece[], lines: Lines): readonly TextPiece[] {
  if (lines.direction === 'ltr' && !hasAdjacentWords(pieces)) return pieces;
  return brokenLines(pieces, lines).flatMap((line, index) => [
    ...(index > 0 ? [lineEnd] : []),
    ...inVisualOrder(line, lines.direction),
  ]);
}

/** In a line from left to right, a single word stands where it should. */
function hasAdjacentWords(pieces: readonly TextPiece[]): boolean {
  const words = pieces
    .map((piece) => piece.text)
    .join('')
    .split(/\s+/);
  return words.some((word, at) => letter.test(word) && letterOrDigit.test(words[at + 1] ?? ''));
}

const letterOrDigit = new RegExp(`[${rightToLeftLetters}\\d]`);

const lineEnd: TextPiece = { kind: 'text', text: '\n', mark: {} };

/** Pieces and the spaces between them. A line ends where no further word fits. */
function brokenLines(pieces: readonly TextPiece[], { room, widthOf }: Lines): TextPiece[][] {
  const lines: TextPiece[][] = [[]];
  let used = 0;
  let space: TextPiece | undefined;
  const startLine = () => {
    lines.push([]);
    used = 0;
    space = undefined;
  };
  for (const word of wordsOf(pieces)) {
    const [first] = word;
    if (first === undefined) continue;
    if (first.text === '\n') startLine();
    else if (/^ +$/.test(first.text)) space = { ...first, text: ' ' };
    else {
      const width = word.reduce((sum, part) => sum + widthOf(part), 0);
      const before = space === undefined ? 0 : widthOf(space);
      if (used > 0 && used + before + width > room) startLine();
      const isFirst = lines.at(-1)?.length === 0;
      lines.at(-1)?.push(...(space && !isFirst ? [space] : []), ...word);
      used += (isFirst ? 0 : before) + width;
      space = undefined;
    }
  }
  return lines;
}

/** Words, spaces and line ends. A word is several pieces if its look changes in it. */
function wordsOf(pieces: readonly TextPiece[]): TextPiece[][] {
  const words: TextPiece[][] = [];
  let isOpen = false;
  for (const piece of pieces) {
    for (const text of piece.text.split(/( +|\n)/)) {
      if (text === '') continue;
      const isWord = text !== '\n' && text.trim() !== '';
      const part = { ...piece, text };
      if (isWord && isOpen) words.at(-1)?.push(part);
      else words.push([part]);
      isOpen = isWord;
    }
  }
  return words;
}
