import createBidi from 'bidi-js';
import type { Document } from '../../content/document.ts';
import { type Direction, tryDirection } from '../markdown/xmlText.ts';
import { type TextPiece, textPiece } from './pieces.ts';

const bidi = createBidi();

/** The direction of the first letter of a text (rules P2 and P3 of UAX 9), as with `dir="auto"` in browsers. */
export function directionOf(text: string): Direction {
  let isolates = 0;
  for (const character of text) {
    const type = bidi.getBidiCharTypeName(character);
    if (type === 'LRI' || type === 'RLI' || type === 'FSI') isolates += 1;
    else if (type === 'PDI') isolates = Math.max(0, isolates - 1);
    else if (isolates === 0 && type === 'L') return 'ltr';
    else if (isolates === 0 && (type === 'R' || type === 'AL')) return 'rtl';
  }
  return 'ltr';
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

const lineEnd = textPiece('\n');

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

/** A text whose order does not depend on what is around it. */
export function isolated(text: string): string {
  return `\u2068${text}\u2069`;
}

/** A piece with its level: at an odd one, text runs from right to left. */
export interface LevelPiece extends TextPiece {
  readonly level: number;
}

/**
 * Cuts a paragraph where its level changes, by the Unicode Bidirectional Algorithm (UAX 9). Code is isolated. A font
 * decides by the script in which order it sets a piece, so what must run the other way is cut into characters.
 */
export function withLevels(pieces: readonly TextPiece[], base: Direction): LevelPiece[] {
  const texts = pieces.map(({ text, mark }) => (mark.code ? isolated(text) : text));
  const { levels } = bidi.getEmbeddingLevels(withoutSurrogates(texts.join('')), base);
  let end = 0;
  return pieces.flatMap((piece, index) => {
    const start = end + (piece.mark.code ? 1 : 0);
    end += texts[index]?.length ?? 0;
    return cutByLevel(piece, levels.subarray(start));
  });
}

function cutByLevel(piece: TextPiece, levels: Uint8Array): LevelPiece[] {
  const parts: LevelPiece[] = [];
  let isOpen = false;
  let at = 0;
  for (const character of piece.text) {
    const level = levels[at] ?? 0;
    const isOdd = level % 2 === 1;
    const isRightToLeft = setFromTheRight.test(character) || (isOdd && /\p{M}/u.test(character));
    const text = (isOdd && bidi.getMirroredCharacter(character)) || character;
    const last = parts.at(-1);
    const isWhole = isRightToLeft === isOdd;
    if (last?.level === level && isOpen && isWhole) parts.splice(-1, 1, { ...last, text: last.text + text });
    else parts.push({ ...piece, text, level, ...(isRightToLeft ? { isRightToLeft } : {}) });
    isOpen = isWhole;
    at += character.length;
  }
  return parts;
}

/** The scripts that fontkit sets from right to left, also where they are digits. */
const setFromTheRight =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Samaritan}]/u;

/** The library reads UTF-16, and would take both halves of a character for letters from left to right. */
function withoutSurrogates(text: string): string {
  return text.replace(/[\u{10000}-\u{10ffff}]/gu, (character) =>
    (standIns[bidi.getBidiCharTypeName(character)] ?? 'a').repeat(2),
  );
}

const standIns: Readonly<Partial<Record<string, string>>> = {
  R: '\u05d0',
  AL: '\u0627',
  ON: '\u2603',
  EN: '1',
  AN: '\u0661',
  NSM: '\u0300',
};

/** The pieces of a line in the order in which they stand on it, from the left of the page to the right (rule L2). */
export function inVisualOrder(line: readonly LevelPiece[]): LevelPiece[] {
  const levels = Uint8Array.from(line, ({ level }) => level);
  const paragraphs = [{ start: 0, end: line.length - 1, level: 0 }];
  // Only levels count here, so any letter stands for a piece.
  const order = bidi.getReorderedIndices('a'.repeat(line.length), { levels, paragraphs });
  return order.flatMap((at) => line[at] ?? []);
}
