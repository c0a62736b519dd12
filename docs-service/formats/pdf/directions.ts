import type { Document } from '../../content/document.ts';
import { type Direction, tryDirection } from '../language.ts';
import type { TextPiece } from './inlines.ts';
import { directionOf, inVisualOrder, type LevelPiece, withLevels } from './visualOrder.ts';

export function directionOfPieces(pieces: readonly TextPiece[]): Direction {
  return directionOf(pieces.map(({ text }) => text).join(''));
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

interface Lines {
  readonly direction: Direction;
  /** In points. */
  readonly room: number;
  readonly widthOf: (piece: TextPiece) => number;
}

/**
 * The text with its lines broken and everything in the order in which it stands on them, because the printer sets words
 * from left to right. Text that needs no other order stays as it is.
 */
export function orderedLines(pieces: readonly TextPiece[], lines: Lines): readonly TextPiece[] {
  if (lines.direction === 'ltr' && !pieces.some(({ text }) => rightToLeft.test(text))) return pieces;
  return brokenLines(withLevels(pieces, lines.direction), lines).flatMap((line, index) => [
    ...(index > 0 ? [lineEnd] : []),
    ...inVisualOrder(line),
  ]);
}

/** Letters and marks that can begin a stretch from right to left, and some others. */
const rightToLeft =
  /[\u0590-\u08ff\u200f\u202b\u202e\u2067\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

const lineEnd: TextPiece = { kind: 'text', text: '\n', mark: {} };

/** Pieces and the spaces between them. A line ends where no further word fits. */
function brokenLines(pieces: readonly LevelPiece[], { room, widthOf }: Lines): LevelPiece[][] {
  const lines: LevelPiece[][] = [[]];
  let used = 0;
  let space: LevelPiece | undefined;
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
function wordsOf(pieces: readonly LevelPiece[]): LevelPiece[][] {
  const words: LevelPiece[][] = [];
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
