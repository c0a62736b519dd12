import type { Token, Tokens } from 'marked';
import { childrenOf, lexWithFootnotes } from './markdown.ts';
import { HtmlSanitiser } from './rawHtml.ts';
import { endOfLinkText, sanitisedHtml } from './sanitisedMarkdown.ts';
import { keepingLineEnds, type Leaf, tryEditTokens } from './tokenEdits.ts';

/** A valid address in place of that of a link or a picture; undefined if the written one stays. */
export type AbsoluteAddress = (href: string) => string | undefined;

/**
 * The Markdown as it was written, with absolute addresses in links, pictures, definitions and raw HTML, which is
 * sanitised on the way. Everything else stays byte for byte; so does a block in which an address is not found again.
 */
export function withAbsoluteLinks(source: string, addressOf: AbsoluteAddress): string {
  return keepingLineEnds(source, (text) => {
    const sanitiser = new HtmlSanitiser();
    const plainAddressOf = (href: string) => addressOf(href)?.replace(/[!"'()*<>]/g, escaped);
    const edit = { sanitiser, addressOf: plainAddressOf };
    const { tokens } = lexWithFootnotes(text);
    return (
      tryEditTokens(text, tokens, { leavesOf: (token) => leavesOf(token, edit), ifLost: 'keep' }) ?? text
    );
  });
}

/** In Markdown or HTML, these signs could end the address or mean something. */
function escaped(sign: string): string {
  return `%${sign.charCodeAt(0).toString(16).toUpperCase()}`;
}

interface Edit {
  readonly sanitiser: HtmlSanitiser;
  readonly addressOf: AbsoluteAddress;
}

function leavesOf(token: Token, edit: Edit): Leaf[] {
  const { raw, type } = token;
  if (type === 'html') return [{ raw, replacement: absoluteHtml(raw, edit) }];
  if (type === 'def') return [replaced(raw, definedAddress, edit.addressOf(token.href))];
  if (type === 'image') return [replaced(raw, pictureAddress, edit.addressOf(token.href))];
  if (type === 'link' && raw.startsWith('[')) {
    const { text, href, tokens } = token as Tokens.Link;
    const rest = raw.slice(endOfLinkText(raw, text));
    const inner = tokens.flatMap((child) => leavesOf(child, edit));
    return [...inner, replaced(rest, linkAddress, edit.addressOf(href))];
  }
  const children = type === 'link' ? [] : childrenOf(token);
  if (children.length === 0) return [{ raw, replacement: raw }];
  return children.flatMap((tokens) => tokens.flatMap((child) => leavesOf(child, edit)));
}

const written = '(<[^<>\\n]*>|(?:\\\\.|[^\\s\\\\()]|\\((?:\\\\.|[^\\s\\\\()])*\\))+)';
/** The end of a link's text and its address. A reference has none: its definition is edited. */
const linkAddress = new RegExp(`^(\\]\\([ \\t\\n]*)${written}`);
const pictureAddress = new RegExp(`^(!\\[(?:\\\\.|[^\\\\[\\]]|\\[[^\\]]*\\])*\\]\\([ \\t\\n]*)${written}`);
const definedAddress = /^([ \t]*\[(?:\\.|[^\\\]])*\]:[ \t\n]*)(<[^<>\n]*>|\S+)/;

function replaced(raw: string, pattern: RegExp, address: string | undefined): Leaf {
  const replacement = address === undefined ? raw : raw.replace(pattern, (_, before) => before + address);
  return { raw, replacement };
}

/** sanitize-html writes each attribute as `name="value"`. */
function absoluteHtml(raw: string, { sanitiser, addressOf }: Edit): string {
  return sanitisedHtml(raw, sanitiser, (tag) =>
    tag.replace(/ (href|src)="([^"]*)"/, (whole, name: string, href: string) => {
      const address = addressOf(href);
      return address === undefined ? whole : ` ${name}="${address}"`;
    }),
  );
}
