import type { CodeKind, CodeToken } from '../../../protocol/base/codeTokens.ts';

/** What the lines of a code block consist of. A block that is not coloured has one token a line. */
export type CodeColouring = (code: string, label: string | undefined) => readonly (readonly CodeToken[])[];

/**
 * The colouring of the documents of one job. The parsers of languages are a bundle of their own, which is loaded if a
 * document has a fence with a label.
 */
export async function codeColouringOf(bodies: readonly string[]): Promise<CodeColouring> {
  if (!bodies.some((body) => labelledFence.test(body))) return plainLinesOf;
  const { createCodeReader } = await import('../../../protocol/base/codeTokens.ts');
  let budget = maxCost;
  return (code, label) => {
    const reader = label === undefined ? undefined : createCodeReader(label);
    // The worst of the parsers take time in proportion to the cube of a line's length. Time itself would vary.
    const cost = code.split('\n').reduce((sum, { length }) => sum + 1 + length ** 3, 0);
    if (reader === undefined || code.length > maxBlock || cost > budget) return plainLinesOf(code, label);
    budget -= cost;
    return code.split('\n').map((line) => reader.line(line));
  };
}

/** In UTF-16 units. A longer block is data rather than an example. */
const maxBlock = 50_000;
/** For a job: some seconds of hostile code, or a million characters of ordinary code. */
const maxCost = 4_000_000_000;

const labelledFence = /(?:```|~~~)[ \t]*[a-z]/i;

export const plainLinesOf: CodeColouring = (code) =>
  code.split('\n').map((line) => [{ text: line, kind: undefined }]);

type Palette = Readonly<Record<CodeKind, string>>;

export const lightPalette: Palette = {
  keyword: '#8a2a7d',
  string: '#1f6b2c',
  number: '#8a4600',
  name: '#1b5a96',
  comment: '#636872',
  inserted: '#1f6b2c',
  deleted: '#a5252c',
};

export const darkPalette: Palette = {
  keyword: '#dba0e0',
  string: '#9bcf96',
  number: '#e3b27c',
  name: '#8dc0ee',
  comment: '#9aa3a7',
  inserted: '#9bcf96',
  deleted: '#f1a09c',
};

/** Readable both on white and on black, because a book does not know the paper that its reader chooses. */
export const bookPalette: Palette = {
  keyword: '#a45a9e',
  string: '#3d8446',
  number: '#a4682d',
  name: '#3a79b6',
  comment: '#767676',
  inserted: '#3d8446',
  deleted: '#bf534c',
};

export function codeRules(colourOf: (kind: CodeKind) => string): string {
  return kinds.map((kind) => `.tok-${kind} { color: ${colourOf(kind)};${shapes[kind] ?? ''} }`).join('\n');
}

export function codeVariables(palette: Palette): string {
  return kinds.map((kind) => `--tok-${kind}: ${palette[kind]};`).join(' ');
}

const kinds = Object.keys(lightPalette) as CodeKind[];

/** Paper without colours still shows these. */
const shapes: Readonly<Partial<Record<CodeKind, string>>> = {
  keyword: ' font-weight: 600;',
  comment: ' font-style: italic;',
};
