import { readFileSync } from 'node:fs';
import * as fontkit from 'fontkit';
import { metrics } from './style.ts';

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

interface FaceOptions {
  /** Code must look as it was written, so `!=` and `=>` must not become one sign. */
  readonly noLigatures?: boolean;
  /** Chooses a font of a collection by its PostScript name; without an answer, the first one is used. */
  readonly choose?: (names: readonly string[]) => string | undefined;
}

/** Undefined if the file is not a font that can be embedded. */
export function tryFontFace(
  path: string,
  { noLigatures = false, choose }: FaceOptions,
): FontFace | undefined {
  try {
    const bytes = readFileSync(path);
    if (!isDrawable(bytes)) return undefined;
    prepareFontBytes(bytes, noLigatures);
    const opened = fontkit.create(bytes);
    const fonts = 'fonts' in opened ? opened.fonts : [opened];
    const name = choose?.(fonts.map(({ postscriptName }) => postscriptName));
    const font = fonts.find(({ postscriptName }) => postscriptName === name) ?? fonts[0];
    if (!font?.postscriptName) return undefined;
    const face: FontFace = {
      name: font.postscriptName,
      path,
      bytes,
      collection: 'fonts' in opened,
      has: (codePoint) => font.hasGlyphForCodePoint(codePoint),
      advance: (codePoint) => font.glyphForCodePoint(codePoint).advanceWidth / font.unitsPerEm,
    };
    // A file that was cut off fails here, and not while a document is set.
    face.advance(0x20);
    return face;
  } catch {
    // An unreadable or damaged file is skipped; the search goes on with others.
    return undefined;
  }
}

/**
 * Gives every font of a file the same ascent and descent. The tallest font decides the pitch of a line, so a word in
 * Chinese, or in code, would otherwise push its line down. Changes the bytes in place.
 */
function prepareFontBytes(bytes: Buffer, noLigatures: boolean): void {
  for (const directory of directoriesOf(bytes)) {
    const tables = tablesAt(bytes, directory);
    const unitsPerEm = readAt(bytes, tables.get('head'), 18);
    const hhea = tables.get('hhea');
    if (unitsPerEm && hhea && hhea.offset + 10 <= bytes.length) {
      bytes.writeInt16BE(Math.round(metrics.ascent * unitsPerEm), hhea.offset + 4);
      bytes.writeInt16BE(-Math.round(metrics.descent * unitsPerEm), hhea.offset + 6);
      bytes.writeInt16BE(0, hhea.offset + 8);
    }
    const substitutions = tables.get('GSUB');
    if (noLigatures && substitutions) bytes.write('xSUB', substitutions.entry, 'latin1');
  }
}

interface Table {
  /** Where its entry in the directory begins. */
  readonly entry: number;
  readonly offset: number;
}

/** A collection (`ttcf`) has one directory of tables for each font in it. */
function directoriesOf(bytes: Buffer): number[] {
  if (bytes.length < 16 || bytes.toString('latin1', 0, 4) !== 'ttcf') return [0];
  const count = Math.min(bytes.readUInt32BE(8), (bytes.length - 12) >> 2, 64);
  return Array.from({ length: count }, (_, index) => bytes.readUInt32BE(12 + index * 4));
}

function tablesAt(bytes: Buffer, directory: number): ReadonlyMap<string, Table> {
  const tables = new Map<string, Table>();
  if (directory + 12 > bytes.length) return tables;
  const count = bytes.readUInt16BE(directory + 4);
  for (let index = 0; index < count; index++) {
    const entry = directory + 12 + index * 16;
    if (entry + 16 > bytes.length) break;
    tables.set(bytes.toString('latin1', entry, entry + 4), { entry, offset: bytes.readUInt32BE(entry + 8) });
  }
  return tables;
}

function readAt(bytes: Buffer, table: Table | undefined, offset: number): number | undefined {
  if (!table || table.offset + offset + 2 > bytes.length) return undefined;
  return bytes.readUInt16BE(table.offset + offset);
}

/** Fonts whose signs are coloured bitmaps have no outlines that a PDF could embed. */
function isDrawable(bytes: Buffer): boolean {
  const tables = tablesAt(bytes, directoriesOf(bytes)[0] ?? 0);
  const outlines = tables.has('glyf') || tables.has('CFF ');
  return outlines && tables.has('cmap') && !tables.has('CBDT') && !tables.has('sbix');
}
