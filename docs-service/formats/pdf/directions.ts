import type { Document } from '../../content/document.ts';
import { type Direction, tryDirection } from '../language.ts';
import type { TextPiece } from './pieces.ts';

/** Letters of Hebrew, Arabic and similar scripts, with their punctuation, which their fonts place by themselves. */
export const rightToLeftLetters =
  '\\u0590-\\u065f\\u066a-\\u06ef\\u06fa-\\u08ff\\ufb1d-\\ufdff\\ufe70-\\ufefc';
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

/** What stands beside each other, such as the columns of a table, from the left to the right of the page. */
export function inOrder<Item>(items: readonly Item[], direction: Direction): readonly Item[] {
  return direction === 'rtl' ? items.toReversed() : items;
}

/** A text from left to right that keeps its order in any line. Without the mark, its first number belongs elsewhere. */
export function markedLeftToRight(text: string): string {
  return directionOf(text) === 'ltr' ? `\u200e${text}` : text;
}
