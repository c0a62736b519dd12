import { Lexer, type Token, type TokenizerAndRendererExtension, type Tokens } from 'marked';
import { inlineTokens, plainText } from '../../content/inlineText.ts';

/**
 * One of GitHub's alerts: a quote that begins with a line such as `[!NOTE]`. Its label is English, as on GitHub, or
 * what its author wrote after that; `-` or `+` before it says that readers fold the alert. Its tokens are what stands
 * below that line. Undefined for any other quote.
 */
export function tryAlert({ tokens }: Tokens.Blockquote) {
  const at = tokens.findIndex(({ type }) => type !== 'space');
  const paragraph = tokens[at];
  if (paragraph?.type !== 'paragraph') return undefined;
  const [firstLine, word, fold = '', title = ''] = alertLine.exec(paragraph.raw) ?? [];
  if (firstLine === undefined || word === undefined) return undefined;
  const kind = word.toLowerCase();
  const label = plainText(Lexer.lexInline(title)).trim() || kind.charAt(0).toUpperCase() + kind.slice(1);
  const rest =
    title === ''
      ? withoutOpening(paragraph.tokens ?? [], kind.length + '[!]'.length + fold.length)
      : inlineTokens(paragraph.raw.slice(firstLine.length));
  const first = rest.length === 0 ? [] : [{ ...paragraph, tokens: rest }];
  return { kind, label, fold, isTitled: title !== '', tokens: [...first, ...tokens.slice(at + 1)] };
}

const alertLine = /^\[!(note|tip|important|warning|caution)\]([+-]?)[ \t]*(.*?)[ \t]*(?:\n|$)/i;

/** The tokens after the first line, which has this many characters and perhaps spaces at its end. */
function withoutOpening([first, ...rest]: readonly Token[], length: number): Token[] {
  // A definition of a link could make the line something else; then it stays out as a whole.
  const text = first?.type === 'text' ? first.raw.slice(length).trimStart() : '';
  if (text !== '') return [{ type: 'text', raw: text, text }, ...rest];
  return rest[0]?.type === 'br' ? rest.slice(1) : rest;
}

/** What `[^label]: …` says, by its label. It prints nothing in its place. */
export type FootnoteDefinitions = Map<string, readonly Token[]>;

/**
 * The extensions that collect the definitions of one document during the parse, the first of each label. A
 * `footnoteReference` is `[^label]` with a definition; without one it stays text, as on GitHub.
 */
export function footnoteExtensions(definitions: FootnoteDefinitions): TokenizerAndRendererExtension[] {
  return [
    {
      name: 'footnoteDefinition',
      level: 'block',
      start: definitionInParagraph,
      tokenizer(source) {
        const found = readDefinition(source);
        if (!found) return undefined;
        const tokens = this.lexer.blockTokens(found.text, []);
        if (!definitions.has(found.label)) definitions.set(found.label, tokens);
        return { type: 'footnoteDefinition', raw: found.raw, label: found.label, tokens };
      },
    },
    {
      name: 'footnoteReference',
      level: 'inline',
      tokenizer(source) {
        const [raw, label] = /^\[\^([^\]\s<>]{1,100})\]/.exec(source) ?? [];
        if (!raw || !label || !definitions.has(label)) return undefined;
        return { type: 'footnoteReference', raw, label };
      },
    },
  ];
}

/**
 * A definition ends the paragraph before it, even without an empty line between them. Marked asks at each paragraph, so
 * the search ends with it.
 */
function definitionInParagraph(source: string): number | undefined {
  const found = /\n(?:[ \t]*\n|( {0,3}\[\^[^\]\s<>]{1,100}\]:))/.exec(source.slice(0, maxParagraphLength));
  return found?.[1] === undefined ? undefined : found.index + 1;
}

/** In a longer paragraph a definition is found only after an empty line. */
const maxParagraphLength = 20_000;

/** Lines of a definition are indented by four, or continue its paragraph. It reads only lines that belong to it. */
function readDefinition(source: string) {
  const [mark, label] = /^ {0,3}\[\^([^\]\s<>]{1,100})\]:[ \t]*/.exec(source) ?? [];
  if (!mark || !label) return undefined;
  let end = lineEnd(source, mark.length);
  const lines = [source.slice(mark.length, end)];
  for (let next = end; next < source.length; ) {
    const stop = lineEnd(source, next + 1);
    const line = source.slice(next + 1, stop);
    if (line.trim() !== '') {
      const open = next === end && lines.at(-1)?.trim() !== '';
      if (!/^( {4}|\t)/.test(line) && !(open && !startsBlock.test(line))) break;
      for (let blank = source.slice(end, next).split('\n').length; blank > 1; blank -= 1) lines.push('');
      lines.push(line.replace(/^( {4}|\t)/, ''));
      end = stop;
    }
    next = stop;
  }
  return { label, raw: source.slice(0, end + 1), text: lines.join('\n') };
}

const startsBlock =
  /^ {0,3}(\[\^[^\]\s<>]+\]:|#{1,6}(\s|$)|[-*+](\s|$)|\d{1,9}[.)](\s|$)|>|```|~~~|<|\||[-*_=]{3})/;

function lineEnd(source: string, from: number): number {
  const at = source.indexOf('\n', from);
  return at < 0 ? source.length : at;
}

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
    const found = formulaInParagraph.exec(source.slice(0, maxFormulaLength));
    return found?.[1] === undefined ? undefined : found.index + 1;
  },
  tokenizer(source) {
    const [raw, text] = formula.exec(source.slice(0, maxFormulaLength)) ?? [];
    if (raw === undefined || text === undefined || text.trim() === '') return undefined;
    const token: Tokens.Code = { type: 'code', raw, lang: 'math', text: trimmedLines(text) };
    return token;
  },
};

/** In UTF-16 units. A longer one is a paragraph like any other. */
const maxFormulaLength = 10_000;

/** Without an empty line in it. Its end is the end of a line. */
const formulaPattern = String.raw` {0,3}\$\$((?:(?!\$\$|\n[ \t]*\n)[\s\S])+)\$\$[ \t]*(?:\n|$)`;
const formula = new RegExp(`^${formulaPattern}`);
const formulaInParagraph = new RegExp(String.raw`\n(?:[ \t]*\n|${formulaPattern})`);

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
