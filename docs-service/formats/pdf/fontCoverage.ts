import { createFontBook } from './fontBook.ts';

/** Letters of each script that the program's own fonts lack. */
const samples = {
  Chinese: '漢',
  Japanese: 'か',
  Korean: '한',
  Arabic: 'ع',
  Hebrew: 'ש',
  Hindi: 'अ',
  Thai: 'ก',
} as const;

export interface FontCoverage {
  readonly found: readonly string[];
  readonly missing: readonly string[];
}

/** The scripts beyond Latin, Greek and Cyrillic for which a PDF has a font. It opens fonts until each has one. */
export function fontCoverage(folders: readonly string[]): FontCoverage {
  const book = createFontBook(folders, 'with others');
  const has = (letters: string) =>
    [...letters].every((letter) => book.familyFor(letter.codePointAt(0) ?? 0, 'Text', 'sc') !== undefined);
  const names = Object.entries(samples);
  return {
    found: names.filter(([, letter]) => has(letter)).map(([name]) => name),
    missing: names.filter(([, letter]) => !has(letter)).map(([name]) => name),
  };
}
