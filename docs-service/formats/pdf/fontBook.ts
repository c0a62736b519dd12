import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import * as fontkit from 'fontkit';
import type { TFontDictionary } from 'pdfmake/interfaces';
import {
  type FallbackFile,
  type FontFile,
  fallbackFiles,
  listFontFiles,
  type Region,
  regionalFace,
} from './fontFiles.ts';
import { metrics } from './style.ts';

export type BaseFont = 'Text' | 'Code';

export type FontBook = ReturnType<typeof createFontBook>;

/** The available fonts, or those of the program alone. Each is read once, when the first document needs it. */
export function createFontBook(folders: readonly string[], others: 'with others' | 'own alone') {
  const files = listFontFiles(folders);
  const families = new Map<string, Family>(ownFamilies(files));
  const fallbacks = others === 'with others' ? createFallbacks(files) : undefined;
  const found = new Map<string, Map<number, string | undefined>>();

  function search(codePoint: number, base: BaseFont, region: Region): string | undefined {
    const isSign = /[\p{Script=Common}\p{Script=Greek}]/u.test(String.fromCodePoint(codePoint));
    // The font of mathematics has single Arabic letters, which do not work for words.
    for (const name of [base, 'Text', 'Code', ...(isSign ? ['Symbols', 'Math', 'Emoji'] : [])])
      if (families.get(name)?.normal.has(codePoint)) return name;
    const family = fallbacks?.(codePoint, region);
    if (family) families.set(family.normal.name, family);
    return family?.normal.name;
  }

  return {
    /** The family that sets a sign: the base font's, or another that has the sign; undefined if none has it. */
    familyFor(codePoint: number, base: BaseFont, region: Region): string | undefined {
      const key = `${base} ${region}`;
      const known = found.get(key) ?? new Map<number, string | undefined>();
      if (known.size === 0) found.set(key, known);
      if (!known.has(codePoint)) known.set(codePoint, search(codePoint, base, region));
      return known.get(codePoint);
    },
    /** The advance of a sign in ems, in the regular style. */
    advance: (codePoint: number, family: string): number =>
      families.get(family)?.normal.advance(codePoint) ?? 1,
    /** What PDFMake must know about families, by their names. */
    describe(names: ReadonlySet<string>) {
      const files = new Map<string, Buffer>();
      const fonts: TFontDictionary = {};
      for (const name of names) {
        const faces = Object.entries(families.get(name) ?? {}).map(([style, face]) => {
          files.set(face.path, face.bytes);
          // PDFMake changes the arrays that it gets, so each document has its own.
          return [style, face.collection ? [face.path, face.name] : face.path] as const;
        });
        fonts[name] = Object.fromEntries(faces);
      }
      return { fonts, files };
    },
  };
}

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

/** The scripts beyond Latin, Greek and Cyrillic for which a PDF has a font. It opens fonts until each has one. */
export function fontCoverage(folders: readonly string[]) {
  const { familyFor } = createFontBook(folders, 'with others');
  const scripts = Object.entries(samples).map(([name, letter]) => {
    return { name, isFound: familyFor(letter.codePointAt(0) ?? 0, 'Text', 'sc') !== undefined };
  });
  const namesOf = (wanted: boolean) =>
    scripts.filter(({ isFound }) => isFound === wanted).map(({ name }) => name);
  return { found: namesOf(true), missing: namesOf(false) };
}

type Family = Readonly<Record<'normal' | 'bold' | 'italics' | 'bolditalics', FontFace>>;

const ownFiles = {
  Text: ['Roboto-Regular.ttf', 'Roboto-Medium.ttf', 'Roboto-Italic.ttf', 'Roboto-MediumItalic.ttf'],
  Code: [
    'JetBrainsMono_400Regular.ttf',
    'JetBrainsMono_700Bold.ttf',
    'JetBrainsMono_400Regular_Italic.ttf',
    'JetBrainsMono_700Bold_Italic.ttf',
  ],
  Symbols: ['NotoSansSymbols2_400Regular.ttf'],
  Math: ['NotoSansMath_400Regular.ttf'],
  Emoji: ['NotoEmoji_400Regular.ttf'],
} as const;

function ownFamilies(files: readonly FontFile[]): [string, Family][] {
  return Object.entries(ownFiles).map(([name, names]) => {
    const faces = names.map((own) => {
      const file = files.find(({ path }) => basename(path) === own);
      const face = file && tryFontFace(file.path, name === 'Code');
      if (!face) throw new Error(`The font ${own} is missing or damaged. Install Runner again.`);
      return face;
    });
    const [normal, bold = normal, italics = normal, bolditalics = bold] = faces;
    if (!normal || !bold || !italics || !bolditalics) throw new Error(`There is no font for ${name}.`);
    return [name, { normal, bold, italics, bolditalics }];
  });
}

/** Opens fonts one after another until one has the sign, within the bounds. */
function createFallbacks(files: readonly FontFile[]) {
  const opened = new Map<string, FontFace | undefined>();
  const lists = new Map<Region, readonly FallbackFile[]>();
  let bytes = 0;

  function open(file: FontFile, region: Region): FontFace | undefined {
    const key = `${file.path} ${region}`;
    if (!opened.has(key)) {
      if (opened.size >= maxFallbacks || bytes + file.size > maxFallbackBytes) return undefined;
      bytes += file.size;
      opened.set(
        key,
        tryFontFace(file.path, false, (names) => regionalFace(names, region)),
      );
    }
    return opened.get(key);
  }

  return (codePoint: number, region: Region): Family | undefined => {
    const list = lists.get(region) ?? fallbackFiles(files, region);
    lists.set(region, list);
    for (const { regular, bold } of list) {
      const normal = open(regular, region);
      if (!normal?.has(codePoint)) continue;
      const strong = (bold && open(bold, region)) ?? normal;
      return { normal, bold: strong, italics: normal, bolditalics: strong };
    }
    return undefined;
  };
}

const maxFallbacks = 80;
const maxFallbackBytes = 320 * 1024 * 1024;

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
