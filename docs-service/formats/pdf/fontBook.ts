import { basename } from 'node:path';
import type { TFontDictionary } from 'pdfmake/interfaces';
import { type FontFace, tryFontFace } from './fontFace.ts';
import {
  type FallbackFile,
  type FontFile,
  fallbackFiles,
  listFontFiles,
  type Region,
  regionalFace,
} from './fontFiles.ts';

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
