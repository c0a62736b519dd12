import type { Direction } from '../language.ts';
import type { TextPiece } from './inlines.ts';

/** Letters of Hebrew, Arabic and similar scripts, with their punctuation, which their fonts place by themselves. */
export const rightToLeftLetters =
  '\\u0590-\\u065f\\u066a-\\u06ef\\u06fa-\\u08ff\\ufb1d-\\ufdff\\ufe70-\\ufefc';
const rightToLeft = new RegExp(`[${rightToLeftLetters}]`);

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
  if (piece.mark.code && !rightToLeft.test(piece.text) && piece.text.trim()) return [{ piece, kind: 'ltr' }];
  return Array.from(piece.text.matchAll(parts), ([text, rtl, number, ltr]) => ({
    piece: { ...piece, text, ...(rtl ? { isRightToLeft: true } : {}) },
    kind: rtl ? 'rtl' : number ? 'number' : ltr ? 'ltr' : 'neutral',
  }));
}

/** The pieces of a line in the order in which they stand on it, from the left of the page to the right. */
export function inVisualOrder(pieces: readonly TextPiece[], base: Direction): TextPiece[] {
  const segments = pieces.flatMap(segmentsOf);
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

interface Line {
  readonly segments: readonly Segment[];
  readonly base: Direction;
}

function directions(segments: readonly Segment[], base: Direction): (Direction | 'number')[] {
  let strong = base;
  const kinds = segments.map(({ kind }) => {
    if (kind === 'ltr' || kind === 'rtl') strong = kind;
    return kind === 'number' && strong === 'ltr' ? 'ltr' : kind;
  });
  placePairs(kinds, { segments, base });
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

/** Beside a neutral sign, a number counts as the text that it stands in. */
function sideOf(kind: Direction | 'number'): Direction {
  return kind === 'number' ? 'rtl' : kind;
}

/**
 * A pair of brackets has the direction of the line if anything in it has, and otherwise that of what is in it, if the
 * text before it has that too (rule N0).
 */
function placePairs(kinds: Segment['kind'][], { segments, base }: Line): void {
  for (const [open, close] of bracketPairs(segments)) {
    const sides = kinds.map((kind) => (kind === 'neutral' ? undefined : sideOf(kind)));
    const inside = sides.slice(open + 1, close).filter((side) => side !== undefined);
    const before = sides.slice(0, open).findLast((side) => side !== undefined) ?? base;
    if (inside.length > 0) kinds[open] = kinds[close] = inside.includes(base) ? base : before;
  }
}

/** No line that people write has more of them, open or closed. The algorithm has this limit for open ones. */
const maxBrackets = 63;

/** The places of brackets that belong together, in the order in which they open. */
function bracketPairs(segments: readonly Segment[]): (readonly [open: number, close: number])[] {
  const found: [number, number][] = [];
  let opened: { readonly at: number; readonly close: string }[] = [];
  for (const [at, { piece }] of segments.entries()) {
    if (Math.max(opened.length, found.length) === maxBrackets) break;
    const close = brackets.get(piece.text);
    if (close !== undefined) opened.push({ at, close });
    const index = opened.findLastIndex((bracket) => bracket.close === piece.text);
    const match = opened[index];
    if (!match) continue;
    found.push([match.at, at]);
    opened = opened.slice(0, index);
  }
  return found.sort(([one], [other]) => one - other);
}

const brackets: ReadonlyMap<string, string> = new Map([
  ['(', ')'],
  ['[', ']'],
  ['{', '}'],
]);

/** Each stretch of items that match is reversed. */
function withReversed<Item>(items: readonly Item[], matches: (item: Item) => boolean): Item[] {
  const stretches: Item[][] = [];
  let isOpen = false;
  for (const item of items) {
    const isIn = matches(item);
    if (isIn && isOpen) stretches.at(-1)?.push(item);
    else stretches.push([item]);
    isOpen = isIn;
  }
  return stretches.flatMap((stretch) => stretch.reverse());
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
