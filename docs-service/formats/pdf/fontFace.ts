import { readFileSync } from 'node:fs';
import * as fontkit from 'fontkit';
import { metrics } from './style.ts';

/** One font of a file, ready for use. */
export type FontFace = NonNullable<ReturnType<typeof tryFontFace>>;

/**
 * Undefined if the file is not a font that can be embedded.
 * @param isForCode code must look as it was written, so `!=` and `=>` must not become one sign
 * @param choose a font of a collection by its PostScript name; without an answer, the first one is used
 */
export function tryFontFace(
  path: string,
  isForCode: boolean,
  choose?: (names: readonly string[]) => string | undefined,
) {
  try {
    const bytes = readFileSync(path);
    const opened = fontkit.create(bytes);
    if (opened.type !== 'TTF' && opened.type !== 'TTC') return undefined;
    const fonts = ('fonts' in opened ? opened.fonts : [opened]) as OpenedFont[];
    const name = choose?.(fonts.map(({ postscriptName }) => postscriptName));
    const font = fonts.find(({ postscriptName }) => postscriptName === name) ?? fonts[0];
    if (!font?.postscriptName || !isDrawable(font)) return undefined;
    levelLines(bytes, font);
    if (isForCode) removeSubstitutions(bytes, font);
    const face = {
      /** Its PostScript name, which finds it in a collection and names it in the document. */
      name: font.postscriptName,
      path,
      /** The file, as PDFMake gets it. */
      bytes,
      collection: 'fonts' in opened,
      has: (codePoint: number) => font.hasGlyphForCodePoint(codePoint),
      /** In ems, before kerning. */
      advance: (codePoint: number): number =>
        font.glyphForCodePoint(codePoint).advanceWidth / font.unitsPerEm,
    };
    // A file that was cut off fails here, and not while a document is set.
    face.advance(0x20);
    return face;
  } catch {
    // An unreadable or damaged file is skipped; the search goes on with others.
    return undefined;
  }
}

interface OpenedFont extends fontkit.Font {
  /** Its tables by their tags, in the order of their entries. */
  readonly directory: { readonly tables: Readonly<Partial<Record<string, { readonly offset: number }>>> };
}

/** Fonts whose signs are coloured bitmaps have no outlines that a PDF could embed. */
function isDrawable({ directory: { tables } }: OpenedFont): boolean {
  const outlines = tables['glyf'] ?? tables['CFF '];
  return Boolean(outlines && tables['cmap'] && !tables['CBDT'] && !tables['sbix']);
}

/**
 * Gives every font the same ascent and descent. The tallest font decides the pitch of a line, so a word in Chinese, or
 * in code, would otherwise push its line down. Its outlines and its name stay.
 */
function levelLines(bytes: Buffer, { unitsPerEm, directory }: OpenedFont): void {
  const { hhea } = directory.tables;
  if (!hhea) return;
  bytes.writeInt16BE(Math.round(metrics.ascent * unitsPerEm), hhea.offset + 4);
  bytes.writeInt16BE(-Math.round(metrics.descent * unitsPerEm), hhea.offset + 6);
  bytes.writeInt16BE(0, hhea.offset + 8);
}

/** Renames the table, in a file that has one font. */
function removeSubstitutions(bytes: Buffer, { directory }: OpenedFont): void {
  const entry = Object.keys(directory.tables).indexOf('GSUB');
  if (entry >= 0) bytes.write('xSUB', 12 + 16 * entry, 'latin1');
}
