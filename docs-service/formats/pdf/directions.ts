import type { Document } from '../../content/document.ts';
import { type Direction, tryDirection } from '../language.ts';
import type { TextPiece } from './inlines.ts';

/** Letters of Hebrew, Arabic and similar scripts, with their punctuation, which their fonts place by themselves. */
const rightToLeftLetters = '\\u0590-\\u065f\\u066a-\\u06ef\\u06fa-\\u08ff\\ufb1d-\\ufdff\\ufe70-\\ufefc';
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
 * without its embeddings and without pairs of brackets. Text that needs no other order stays as it is.
 */
export function orderedLines(pieces: readonly TextPiece[], lines: Lines): readonly TextPiece[] {
  if (lines.direction === 'ltr' && !hasAdjacentWords(pieces)) return pieces;
  return brokenLines(pieces, lines).flatMap((line, index) => [
    ...(index > 0 ? [lineEnd] : []),
    ...inVisualOrder(line.flatMap(segmentsOf), lines.direction),
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

/** A stretch of one direction. `number` follows the text before it; `neutral` follows what is around it. */
interface Segment {
  readonly piece: TextPiece;
  readonly kind: Direction | 'number' | 'neutral';
}

const parts = new RegExp(
  `([${rightToLeftLetters}]+)|(\\p{Nd}+(?:[.,:/]\\p{Nd}+)*%?)|(\\u200e|[^${rightToLeftLetters}\\P{L}][^${rightToLeftLetters}\\s\\p{P}\\p{S}]*)|[^]`,
  'gu',
);

function segmentsOf(piece: TextPiece): Segment[] {
  if (piece.mark.code && !letter.test(piece.text) && piece.text.trim()) return [{ piece, kind: 'ltr' }];
  return Array.from(piece.text.matchAll(parts), ([text, rtl, number, ltr]) => ({
    piece: { ...piece, text, ...(rtl ? { isRightToLeft: true } : {}) },
    kind: rtl ? 'rtl' : number ? 'number' : ltr ? 'ltr' : 'neutral',
  }));
}

function inVisualOrder(segments: readonly Segment[], base: Direction): TextPiece[] {
  const levels = levelsOf(segments, base);
  let placed = segments.map(({ piece, kind }, at) => {
    const level = levels[at] ?? 0;
    return { level, piece: level === 1 && kind === 'neutral' ? mirrored(piece) : piece };
  });
  for (const least of [2, 1]) placed = withReversed(placed, ({ level }) => level >= least);
  return placed.map(({ piece }) => piece);
}

/** 1 is right to left, 2 is left to right within that. */
function levelsOf(segments: readonly Segment[], base: Direction): number[] {
  const kinds = directions(segments, base);
  const outside = base === 'rtl' ? 2 : 0;
  return kinds.map((kind) => (kind === 'rtl' ? 1 : kind === 'number' ? 2 : outside));
}

function directions(segments: readonly Segment[], base: Direction): (Direction | 'number')[] {
  let strong = base;
  const kinds = segments.map(({ kind }) => {
    if (kind === 'ltr' || kind === 'rtl') strong = kind;
    return kind === 'number' && strong === 'ltr' ? 'ltr' : kind;
  });
  // Beside a neutral sign, a number counts as the text that it stands in.
  const sideOf = (kind: Direction | 'number') => (kind === 'number' ? 'rtl' : kind);
  const after: Direction[] = [];
  let next = base;
  for (const kind of kinds.toReversed()) {
    if (kind !== 'neutral') next = sideOf(kind);
    after.push(next);
  }
  after.reverse();
  let before = base;
  return kinds.map((kind, at) => {
    if (kind === 'neutral') return before === after[at] ? before : base;
    before = sideOf(kind);
    return kind;
  });
}

/** Each stretch of items that match is reversed. */
function withReversed<Item>(items: readonly Item[], matches: (item: Item) => boolean): Item[] {
  const result: Item[] = [];
  let stretch: Item[] = [];
  for (const item of items) {
    if (matches(item)) stretch.push(item);
    else {
      result.push(...stretch.reverse(), item);
      stretch = [];
    }
  }
  return [...result, ...stretch.reverse()];
}

function mirrored(piece: TextPiece): TextPiece {
  return { ...piece, text: pairs.get(piece.text) ?? piece.text };
}

const pairs: ReadonlyMap<string, string> = new Map(
  ['()', '[]', '{}', '<>', '«»', '‹›'].flatMap(([open = '', close = '']) => [
    [open, close],
    [close, open],
  ]),
);
