import { withoutUndefined } from '../../../protocol/base/json.ts';
import type { Paper } from '../renderJob.ts';
import type { BaseFont, FontBook } from './fontBook.ts';
import type { Region } from './fontFiles.ts';
import type { LinePicture, Mark, TextPiece } from './pieces.ts';
import { colors, inlineCodeScale, metrics, pitch, sizes, textWidthOn } from './style.ts';

/** A stretch of text in one font and one style, in PDFMake's form. */
export interface TextRun {
  readonly text: string;
  readonly font: string;
  readonly fontSize?: number;
  readonly bold?: boolean;
  readonly italics?: boolean;
  readonly sub?: boolean;
  readonly sup?: boolean;
  readonly color?: string;
  readonly background?: string;
  readonly decoration?: 'underline' | 'lineThrough' | '';
  readonly link?: string;
  readonly linkToDestination?: string;
  readonly id?: string;
  readonly noWrap?: true;
  readonly preserveLeadingSpaces?: boolean;
  /** It stands to the right of its line, whose text ends before it. */
  readonly hangsRight?: true;
  /** The font sets it from right to left. */
  readonly isRightToLeft?: true;
  readonly picture?: RunPicture;
}

export interface RunPicture extends LinePicture {
  /** How far it reaches below the line on which letters stand. */
  readonly drop: number;
  /** The pitch of a line that it stands in. */
  readonly pitch: number;
}

/** In points. */
export interface TextWidth {
  /** Of the longest part that is not broken. */
  readonly part: number;
  /** Of the longest word. */
  readonly word: number;
  /** Of the longest line without breaks. */
  readonly whole: number;
}

/** Sets text in fonts that have its characters, and records which fonts it used and which characters it missed. */
export class Typesetter {
  readonly families = new Set<string>(['Text', 'Code']);
  readonly missing = new Set<number>();
  /** Between the margins of a page, in points. */
  readonly textWidth: number;
  /** In ems. */
  readonly #advances = { Text: new Map<string, number>(), Code: new Map<string, number>() };

  constructor(
    private readonly book: FontBook,
    private readonly region: Region,
    readonly paper: Paper = 'a4',
  ) {
    this.textWidth = textWidthOn(paper);
  }

  /**
   * Never empty, because PDFMake fails on a text without a run.
   * @param room points that a line has at least
   */
  runs(pieces: readonly TextPiece[], fontSize: number, room = Number.POSITIVE_INFINITY): TextRun[] {
    const runs = pieces.flatMap((piece) => this.#runsOf(piece, fontSize, room));
    return runs.length > 0 ? runs : [{ text: '', font: 'Text' }];
  }

  /** Text in the code font, one run for each font: for lines that are not wrapped. */
  codeRuns(line: string): TextRun[] {
    return this.split(line, 'Code').map(({ text, family }) =>
      family === undefined ? this.#substitute(text, sizes.code) : { ...plainCode, text, font: family },
    );
  }

  /** The width of code on one line, in points. */
  codeWidth(text: string): number {
    let width = 0;
    for (const character of text) width += this.#advance(character, 'Code');
    return width * sizes.code;
  }

  width(pieces: readonly TextPiece[], fontSize: number): TextWidth {
    const width = { part: 0, word: 0, whole: 0 };
    let [part, word, line] = [0, 0, 0];
    for (const { text, mark, picture } of pieces) {
      const size = fontSize * (mark.code ? inlineCodeScale : 1) * (mark.bold ? 1.03 : 1);
      for (const stretch of breakable(plainGlyphs(text), mark.code === true)) {
        if (stretch === '') part = 0;
        for (const character of stretch) {
          if (character === '\n') line = 0;
          const advance = picture?.width ?? this.#advance(character, mark.code ? 'Code' : 'Text') * size;
          line += advance;
          const ends = /[\s\u2e80-\ua4cf\uac00-\ud7a3]/.test(character);
          part = ends ? 0 : part + advance;
          word = ends ? 0 : word + advance;
          width.part = Math.max(width.part, ends ? advance : part);
          width.word = Math.max(width.word, word);
          width.whole = Math.max(width.whole, line);
        }
      }
    }
    return width;
  }

  /** The characters that no font has, for the author. */
  notes(): readonly string[] {
    const names = [...this.missing].slice(0, 20).map(hexadecimal);
    if (names.length === 0) return [];
    const more = this.missing.size > names.length ? ` and ${this.missing.size - names.length} more` : '';
    return [`No font has ${names.join(', ')}${more}. Their numbers are shown in their place.`];
  }

  #runsOf({ text, mark, id, isRightToLeft, picture }: TextPiece, fontSize: number, room: number): TextRun[] {
    if (picture) return pictureRuns(picture, mark, fontSize);
    const base = mark.code ? 'Code' : 'Text';
    const look = { ...lookOf(mark, fontSize), ...(isRightToLeft ? { isRightToLeft } : {}) };
    const runs: TextRun[] = [];
    const parts = this.split(text, base);
    for (const { text: part, family } of isRightToLeft ? parts.reverse() : parts) {
      if (family === undefined) runs.push({ ...plain, ...look, ...this.#substitute(part, fontSize) });
      else {
        // In code, each word has the space after it.
        const words = base === 'Code' ? part.split(/(?<= )(?! )/) : [part];
        const longest = room / (fontSize * 0.62);
        for (const word of words.flatMap((one) => breakable(one, base === 'Code'))) {
          const isWhole = (base === 'Code' || isRightToLeft) && word.length < longest;
          const whole = isWhole ? ({ noWrap: true } as const) : {};
          // No-break spaces that begin a line stay, as in browsers.
          const preserveLeadingSpaces = word.startsWith('\u00a0');
          runs.push({ ...plain, preserveLeadingSpaces, text: word, font: family, ...look, ...whole });
        }
      }
    }
    const [first] = runs;
    return id && first ? [{ ...first, id }, ...runs.slice(1)] : runs;
  }

  /** Cuts a text where its font changes. A part without a family is one character that no font has. */
  split(text: string, base: BaseFont): { text: string; family: string | undefined }[] {
    if (ascii.test(text)) return text ? [{ text, family: base }] : [];
    const parts: { text: string; family: string | undefined }[] = [];
    for (const glyph of plainGlyphs(text)) {
      const isBlank = glyph === '\n' || glyph === ' ';
      const codePoint = glyph.codePointAt(0) ?? 0;
      const family = isBlank ? base : this.book.familyFor(codePoint, base, this.region);
      const last = parts.at(-1);
      if (last && last.family === family && family !== undefined) last.text += glyph;
      else parts.push({ text: glyph, family });
      if (family === undefined) this.missing.add(codePoint);
      else this.families.add(family);
    }
    return parts;
  }

  #advance(character: string, base: BaseFont): number {
    const known = this.#advances[base].get(character);
    if (known !== undefined) return known;
    const codePoint = character.codePointAt(0) ?? 0;
    const family = this.book.familyFor(codePoint, base, this.region);
    const advance = family === undefined ? 1.6 : this.book.advance(codePoint, family);
    this.#advances[base].set(character, advance);
    return advance;
  }

  #substitute(glyph: string, fontSize: number): TextRun {
    const text = hexadecimal(glyph.codePointAt(0) ?? 0);
    return { text, font: 'Code', fontSize: fontSize * 0.62, background: '#e6e9ee', color: colors.quiet };
  }
}

/**
 * Otherwise PDFMake would look for these values, for each word, in everything around the word, which takes most of its
 * time. Values such as an empty colour mean that there is none.
 */
const plain = {
  bold: false,
  italics: false,
  sup: false,
  sub: false,
  opacity: 1,
  characterSpacing: 0,
  wordBreak: 'normal',
  preserveLeadingSpaces: false,
  preserveTrailingSpaces: false,
  background: '',
  decoration: '',
  decorationColor: '',
  decorationStyle: '',
  decorationThickness: false,
} as const;
const plainCode = {
  ...plain,
  preserveLeadingSpaces: true,
  preserveTrailingSpaces: true,
  noWrap: true,
} as const;

/**
 * A picture in a line is a space of its size, over which the printer draws it: its middle is that of the small letters,
 * as in browsers. No line may end between it and a letter, so two adjacent pictures need a place to break.
 */
function pictureRuns(picture: LinePicture, { link, destination }: Mark, fontSize: number): TextRun[] {
  const drop = Math.max(0, picture.height / 2 - middleOfLetters * fontSize);
  const rise = picture.height - drop;
  const below = Math.max(drop + 1.5, pitch(fontSize) - metrics.ascent * fontSize);
  const place = { drop, pitch: rise + below };
  const run = { ...plain, text: '\u00a0', font: 'Text', fontSize: rise / metrics.ascent };
  const leads = { link, linkToDestination: destination };
  return [
    withoutUndefined<TextRun>({ ...run, ...leads, picture: { ...picture, ...place } }),
    { ...plain, text: '', font: 'Text' },
  ];
}

/** In ems. */
const middleOfLetters = 0.26;

/** Composed, without what prints nothing: joiners, soft hyphens, direction marks, colours of skin, frames of keys. */
function plainGlyphs(text: string): string {
  return ascii.test(text) ? text : text.normalize('NFC').replace(unprinted, '').replace(spaces, ' ');
}

const ascii = /^[\n -~]*$/;
const unprinted = /[\p{Default_Ignorable_Code_Point}\p{Emoji_Modifier}]|\u20e3/gu;
const spaces = /[\t\u2000-\u200a\u202f\u205f\u3000]/g;

function hexadecimal(codePoint: number): string {
  return `U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}`;
}

function lookOf(mark: Mark, fontSize: number): Omit<TextRun, 'text' | 'font'> {
  // PDFMake sets these at 0.58 of the size that it gets.
  const size = mark.small ? fontSize * 1.2 : mark.code ? fontSize * inlineCodeScale : undefined;
  const leads = mark.link !== undefined || mark.destination !== undefined;
  const color = leads ? colors.link : mark.code ? colors.code : mark.quiet ? colors.quiet : undefined;
  return withoutUndefined({
    fontSize: size,
    color,
    ...(mark.bold ? { bold: true } : {}),
    ...(mark.italics ? { italics: true } : {}),
    ...(mark.small ? { [mark.small]: true } : {}),
    ...(mark.strike ? { decoration: 'lineThrough' } : mark.underline ? { decoration: 'underline' } : {}),
    ...(mark.link ? { link: mark.link } : {}),
    ...(mark.destination ? { linkToDestination: mark.destination } : {}),
  });
}

/**
 * Cuts long words where a line may break inside them: after the punctuation of names and addresses, and before a
 * capital in code. Between the parts it puts an empty one, after which PDFMake may begin a new line. Words without such
 * a place are cut into lengths that PDFMake fills lines with. Its time is proportional to their length.
 */
function breakable(text: string, code: boolean): string[] {
  if (!(code ? /[^ \n]{17}/ : /[^ \n]{25}/).test(text)) return [text];
  const parts: string[] = [];
  let start = 0;
  let word = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === ' ' || character === '\n') {
      word = 0;
      continue;
    }
    word += 1;
    const goesOn = () => text.length > at + 3 && !/\s/.test(text.slice(at + 1, at + 4));
    if (word > 3 && isBreak(text, at, code) && goesOn()) {
      parts.push(text.slice(start, at + 1), '');
      start = at + 1;
      word = 0;
    } else if (at - start >= maxPart && !/[\udc00-\udfff]/.test(character)) {
      parts.push(text.slice(start, at));
      start = at;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

const maxPart = 400;

function isBreak(text: string, at: number, code: boolean): boolean {
  const [character, next] = [text.charAt(at), text.charAt(at + 1)];
  if (breakingSigns.test(character))
    return !breakingSigns.test(next) && !(/\d/.test(next) && /\d/.test(text.charAt(at - 1)));
  return code && /[a-z0-9]/.test(character) && /[A-Z]/.test(next);
}

const breakingSigns = /[/._\-:,;=&?#@\\)\]}>|+]/;
