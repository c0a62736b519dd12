import { Lexer, type Token, type Tokens } from 'marked';
import { inlineTokens } from '../../content/cjkRules.ts';
import { plainText } from '../../content/plainText.ts';

/**
 * One of GitHub's alerts: a quote that begins with a line such as `[!NOTE]`. Its label is English, as on GitHub, or
 * what its author wrote after that; `-` or `+` before it says that readers fold the alert. Its tokens are what stands
 * below that line. Undefined for any other quote.
 */
export function tryAlert({ tokens }: Tokens.Blockquote) {
  const at = tokens.findIndex(({ type }) => type !== 'space');
  const paragraph = tokens[at];
  if (paragraph?.type !== 'paragraph') return undefined;
  const [firstLine, word, fold = '', title = ''] = pattern.exec(paragraph.raw) ?? [];
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

const pattern = /^\[!(note|tip|important|warning|caution)\]([+-]?)[ \t]*(.*?)[ \t]*(?:\n|$)/i;

/** The tokens after the first line, which has this many characters and perhaps spaces at its end. */
function withoutOpening([first, ...rest]: readonly Token[], length: number): Token[] {
  // A definition of a link could make the line something else; then it stays out as a whole.
  const text = first?.type === 'text' ? first.raw.slice(length).trimStart() : '';
  if (text !== '') return [{ type: 'text', raw: text, text }, ...rest];
  return rest[0]?.type === 'br' ? rest.slice(1) : rest;
}
