import type { TokenizerAndRendererExtension, Tokens } from 'marked';

/**
 * `$$ … $$` as a block of its own, as on GitHub. It becomes code in the language `math`, so that no `_`, `*` or `\` of
 * it is read as Markdown, and the reader sees the source of the formula.
 */
export const formulaExtension: TokenizerAndRendererExtension = {
  name: 'formula',
  level: 'block',
  // It may follow the line of a paragraph. Marked asks at each paragraph, so the search ends with it. Marked reads the
  // rest of the paragraph again where it is divided, so only a whole formula divides it.
  start: (source) => {
    const found = formulaInParagraph.exec(source.slice(0, maxLength));
    return found?.[1] === undefined ? undefined : found.index + 1;
  },
  tokenizer(source) {
    const [raw, text] = formula.exec(source.slice(0, maxLength)) ?? [];
    if (raw === undefined || text === undefined || text.trim() === '') return undefined;
    const token: Tokens.Code = { type: 'code', raw, lang: 'math', text: trimmedLines(text) };
    return token;
  },
};

/** In UTF-16 units. A longer one is a paragraph like any other. */
const maxLength = 10_000;

/** Without an empty line in it. Its end is the end of a line. */
const pattern = String.raw` {0,3}\$\$((?:(?!\$\$|\n[ \t]*\n)[\s\S])+)\$\$[ \t]*(?:\n|$)`;
const formula = new RegExp(`^${pattern}`);
const formulaInParagraph = new RegExp(String.raw`\n(?:[ \t]*\n|${pattern})`);

/** Without empty lines around it, and without the indentation that all of its lines share. */
function trimmedLines(text: string): string {
  const lines = text.replace(/^[ \t]*\n|\s+$/g, '').split('\n');
  const indents = lines.filter((line) => line.trim() !== '').map((line) => /^ */.exec(line)?.[0].length ?? 0);
  const shared = Math.min(...indents);
  return lines.map((line) => line.slice(shared).trimEnd()).join('\n');
}

/** What stands above code whose source is shown in place of a picture. */
export function tryCodeCaption({ lang }: Tokens.Code): string | undefined {
  const [language = ''] = /^\S+/.exec(lang ?? '') ?? [];
  return captions.get(language.toLowerCase());
}

const captions: ReadonlyMap<string, string> = new Map([
  ['math', 'Formula'],
  ['mermaid', 'Diagram source (Mermaid)'],
]);
