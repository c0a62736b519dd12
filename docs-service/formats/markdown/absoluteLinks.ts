import { lexWithFootnotes } from './markdown.ts';
import { HtmlSanitiser } from './rawHtml.ts';
import { sanitisedHtml } from './sanitisedMarkdown.ts';
import { keepingLineEnds, type TokenEdit, tryEditTokens } from './tokenEdits.ts';

/**
 * The Markdown as it was written, with absolute addresses in links, pictures, definitions and raw HTML, which is
 * sanitised on the way. Everything else stays byte for byte; so does a block in which an address is not found again.
 * @param addressOf a valid address in place of the written one, which stays if it is undefined
 */
export function withAbsoluteLinks(source: string, addressOf: (href: string) => string | undefined): string {
  const sanitiser = new HtmlSanitiser();
  const replace = (text: string, pattern: RegExp, href?: string) =>
    text.replace(pattern, (whole, before: string, written: string) => {
      const address = addressOf(href ?? written)?.replace(/[!"'()*<>]/g, escaped);
      return address === undefined ? whole : before + address;
    });
  const edit: TokenEdit = (token, raw) => {
    if (token.type === 'html') return sanitisedHtml(raw, sanitiser, (tag) => replace(tag, htmlAddress));
    const pattern = addresses.get(token.type);
    return pattern !== undefined && 'href' in token ? replace(raw, pattern, token.href) : raw;
  };
  return keepingLineEnds(
    source,
    (text) => tryEditTokens(text, lexWithFootnotes(text).tokens, { edit, ifLost: 'keep' }) ?? text,
  );
}

/** In Markdown or HTML, these signs could end the address or mean something. */
function escaped(sign: string): string {
  return `%${sign.charCodeAt(0).toString(16).toUpperCase()}`;
}

/** sanitize-html writes each attribute as `name="value"`. */
const htmlAddress = /( (?:href|src)=")([^"]*)(?=")/;

const written = '(<[^<>\\n]*>|(?:\\\\.|[^\\s\\\\()]|\\((?:\\\\.|[^\\s\\\\()])*\\))+)';
/** What is before the address, and the address. A reference has none: its definition is edited. */
const addresses: ReadonlyMap<string, RegExp> = new Map([
  ['link', new RegExp(`^(\\]\\([ \\t\\n]*)${written}`)],
  ['image', new RegExp(`^(!\\[(?:\\\\.|[^\\\\[\\]]|\\[[^\\]]*\\])*\\]\\([ \\t\\n]*)${written}`)],
  ['def', /^([ \t]*\[(?:\\.|[^\\\]])*\]:[ \t\n]*)(<[^<>\n]*>|\S+)/],
]);
