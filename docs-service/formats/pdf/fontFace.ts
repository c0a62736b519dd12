import { readFileSync } from 'node:fs';
import * as fontkit from 'fontkit';
import { type FontChanges, isDrawable, prepareFontBytes } from './fontBytes.ts';

/** One font of a file, ready to be set. */
export interface FontFace {
  /** Its PostScript name, by which it is found in a collection and called in the document. */
  readonly name: string;
  /** The file, by which PDFMake is told of it. */
  readonly path: string;
  readonly bytes: Buffer;
  readonly collection: boolean;
  has(codePoint: number): boolean;
  /** In ems, before kerning. */
  advance(codePoint: number): number;
}

/** Which font of a collection is meant, by its PostScript name; without an answer it is the first. */
export type FaceChoice = (names: readonly string[]) => string | undefined;

/** Undefined where the file is no font that could be embedded. */
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
    // A file that cannot be read or is damaged is no font for us; others are looked through after it.
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
