import { readFileSync } from 'node:fs';
import * as fontkit from 'fontkit';
import { type FontChanges, isDrawable, prepareFontBytes } from './fontBytes.ts';

/** One font of a file, ready for use. */
export interface FontFace {
  /** Its PostScript name, which finds it in a collection and names it in the document. */
  readonly name: string;
  /** The file, as PDFMake gets it. */
  readonly path: string;
  readonly bytes: Buffer;
  readonly collection: boolean;
  has(codePoint: number): boolean;
  /** In ems, before kerning. */
  advance(codePoint: number): number;
}

/** Chooses a font of a collection by its PostScript name; without an answer, the first one is used. */
export type FaceChoice = (names: readonly string[]) => string | undefined;

/** Undefined if the file is not a font that can be embedded. */
export function tryFontFace(path: string, changes: FontChanges, choose: FaceChoice): FontFace | undefined {
  try {
    const bytes = readFileSync(path);
    if (!isDrawable(bytes)) return undefined;
    prepareFontBytes(bytes, changes);
    const opened = fontkit.create(bytes);
    const fonts = 'fonts' in opened ? opened.fonts : [opened];
    const name = choose(fonts.map(({ postscriptName }) => postscriptName));
    const font = fonts.find(({ postscriptName }) => postscriptName === name) ?? fonts[0];
    return font && faceOf(font, { path, bytes, collection: 'fonts' in opened });
  } catch {
    // An unreadable or damaged file is skipped; the search goes on with others.
    return undefined;
  }
}

function faceOf(font: fontkit.Font, file: Pick<FontFace, 'path' | 'bytes' | 'collection'>): FontFace {
  const advances = new Map<number, number>();
  return {
    name: font.postscriptName,
    ...file,
    has: (codePoint) => font.hasGlyphForCodePoint(codePoint),
    advance: (codePoint) => {
      const known = advances.get(codePoint);
      if (known !== undefined) return known;
      const advance = font.glyphForCodePoint(codePoint).advanceWidth / font.unitsPerEm;
      advances.set(codePoint, advance);
      return advance;
    },
  };
}
