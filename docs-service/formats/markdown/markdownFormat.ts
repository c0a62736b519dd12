import type { Token } from 'marked';
import { resolveLink } from '../../content/links.ts';
import { markdownLines } from '../../content/markdownLines.ts';
import {
  encodeParts,
  type MarkdownJob,
  type MarkdownParts,
  type MarkdownSection,
  type PartsJob,
  type RenderedDocument,
  tryTarget,
} from '../renderJob.ts';
import { lexWithFootnotes, type MarkdownDocument, parseMarkdown } from './markdown.ts';
import { HtmlSanitiser } from './rawHtml.ts';
import {
  keepingLineEnds,
  sanitisedHtml,
  sanitiseMarkdown,
  type TokenEdit,
  tryEditTokens,
} from './sanitisedMarkdown.ts';
import { shownPictures } from './shownParts.ts';

/** The Markdown as it was written, with raw HTML sanitised, and with those absolute addresses that are known. */
export function createMarkdown({ document, targets, pictures }: MarkdownJob): RenderedDocument {
  const { body, path: from } = document;
  const shown = Object.keys(pictures).length > 0 ? shownPictures(document) : new Set<string>();
  const linked = withAbsoluteLinks(body, (href) => {
    const target = resolveLink(href, from);
    if (target.kind === 'fragment' && !href.startsWith('#')) return `#${encodeURIComponent(target.fragment)}`;
    if (target.kind !== 'inside') return undefined;
    const { path, documents, fragment } = target;
    if (shown.has(path) && Object.hasOwn(pictures, path)) return pictures[path];
    const found = documents.find((one) => Object.hasOwn(targets, one));
    return found === undefined ? undefined : tryTarget(targets, found, fragment);
  });
  // Last, so that its guarantee holds whatever was edited before.
  return { bytes: new TextEncoder().encode(sanitiseMarkdown(linked)), notes: [] };
}

/** The Markdown with raw HTML sanitised, and where it may be cut, for `readParts`. */
export function createParts({ document }: PartsJob): RenderedDocument {
  const markdown = sanitiseMarkdown(document.body);
  return { bytes: encodeParts(markdown, markdownParts(markdown)), notes: [] };
}

/** Its time is proportional to the length of the text. Throws `UnrenderableError` for a text that is out of bounds. */
export function markdownParts(text: string): MarkdownParts {
  const document = parseMarkdown(text);
  const placed = placeTokens(text, document.tokens);
  const blocks = placed.map(({ start }) => start);
  const sections = sectionsOf(document, placed, text.length).slice(0, maxSections);
  return { sections, blocks, lines: linesOf(text, blocks) };
}

const maxSections = 10_000;

/**
 * Where the tokens of the first level begin in the text. Lines are counted, because Marked sees other line ends, no
 * control characters, and in some lists other blanks.
 */
function placeTokens(text: string, tokens: readonly Token[]) {
  const lineStarts = [
    0,
    ...Array.from(text.matchAll(/\r\n|\r|\n/g), ({ 0: end, index }) => index + end.length),
  ];
  const placed: { readonly token: Token; readonly start: number }[] = [];
  let line = 0;
  for (const token of tokens) {
    const [blank = ''] = /^\s*/.exec(token.raw) ?? [];
    if (blank.length < token.raw.length)
      placed.push({ token, start: lineStarts[line + newlinesIn(blank)] ?? 0 });
    line += newlinesIn(token.raw);
  }
  return placed;
}

function newlinesIn(text: string): number {
  return text.split('\n').length - 1;
}

function sectionsOf(
  { headingOf }: MarkdownDocument,
  placed: ReturnType<typeof placeTokens>,
  length: number,
): readonly MarkdownSection[] {
  const sections: MarkdownSection[] = [];
  // From the last heading to the first: where the next one of each depth begins.
  const next = new Array<number>(7).fill(length);
  for (const { token, start } of placed.toReversed()) {
    const heading = headingOf.get(token);
    if (heading === undefined) continue;
    const { depth, text, id } = heading;
    sections.push({ depth, text, id, start, end: next[depth] ?? length });
    next.fill(start, depth);
  }
  return sections.reverse();
}

/** Each block is read alone, so that a fence that is never closed ends with its block. */
function linesOf(text: string, blocks: readonly number[]): readonly number[] {
  const lines: number[] = [];
  const starts = blocks[0] === 0 ? blocks : [0, ...blocks];
  for (const [at, from] of starts.entries()) {
    let last: number | undefined;
    const block = text.slice(from, starts[at + 1] ?? text.length);
    for (const { start, fence } of markdownLines(block)) {
      const isWithin = fence !== undefined && fence === last;
      last = fence;
      if (!isWithin && start > 0 && start < block.length) lines.push(from + start);
    }
  }
  return lines;
}

/**
 * The Markdown as it was written, with absolute addresses in links, pictures, definitions and raw HTML, which is
 * sanitised on the way. Everything else stays byte for byte; so does a block in which an address is not found again.
 * @param addressOf a valid address in place of the written one, which stays if it is undefined
 */
function withAbsoluteLinks(source: string, addressOf: (href: string) => string | undefined): string {
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
    (text) => tryEditTokens(text, lexWithFootnotes(text).tokens, edit, 'keep') ?? text,
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
