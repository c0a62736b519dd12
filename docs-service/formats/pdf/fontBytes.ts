import { metrics } from './style.ts';

/** What is changed in a font's bytes before use. Its outlines and its name stay. */
export interface FontChanges {
  /** Code must look as it was written, so `!=` and `=>` must not become one sign. */
  readonly noLigatures: boolean;
}

/**
 * Gives every font of a file the same ascent and descent. The tallest font decides the pitch of a line, so a word in
 * Chinese, or in code, would otherwise push its line down. Changes the bytes in place.
 */
export function prepareFontBytes(bytes: Buffer, changes: FontChanges): void {
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
    if (changes.noLigatures && substitutions) bytes.write('xSUB', substitutions.entry, 'latin1');
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
export function isDrawable(bytes: Buffer): boolean {
  const tables = tablesAt(bytes, directoriesOf(bytes)[0] ?? 0);
  const outlines = tables.has('glyf') || tables.has('CFF ');
  return outlines && tables.has('cmap') && !tables.has('CBDT') && !tables.has('sbix');
}
