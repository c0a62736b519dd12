import createBidi from 'bidi-js';
import type { Direction } from '../language.ts';
import type { TextPiece } from './inlines.ts';

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
  let placed = [...line];
  for (let least = line.reduce((most, { level }) => Math.max(most, level), 0); least > 0; least -= 1) {
    const stretches: LevelPiece[][] = [];
    for (const [at, piece] of placed.entries()) {
      const joins = at > 0 && piece.level >= least && (placed[at - 1]?.level ?? 0) >= least;
      if (joins) stretches.at(-1)?.push(piece);
      else stretches.push([piece]);
    }
    placed = stretches.flatMap((stretch) => stretch.reverse());
  }
  return placed;
}
