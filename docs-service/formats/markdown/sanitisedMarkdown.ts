import type { Token, Tokens } from 'marked';
import { childrenOf, lexPlain, lexWithFootnotes, withinStack } from './markdown.ts';
import { type MarkdownReader, markdownReaders } from './markdownReaders.ts';
import { escapeActiveTags, HtmlSanitiser, isHarmlessAddress, isHarmlessHtml } from './rawHtml.ts';

/**
 * The Markdown as it was written, but with raw HTML sanitised, and without the addresses of links that may run
 * something. Everything else stays byte for byte, and so does a document that was sanitised before. Throws
 * `UnrenderableError` for a document that is out of bounds.
 *
 * The text is read as Marked reads it, with footnotes and without, and edited there. Other Markdown readers then read
 * the result, and every block that is still active in one of them is disarmed. This is repeated until nothing is left
 * to change, because a tag that is removed can turn the text around it into new Markdown.
 */
export function sanitiseMarkdown(source: string): string {
  const lines = source.split(/(\r\n|\r|\n)/);
  const endings = lines.filter((_, at) => at % 2 === 1);
  const sanitised = untilStable(lines.map((part, at) => (at % 2 === 1 ? '\n' : part)).join(''));
  // No edit adds or removes a line end.
  return sanitised.split('\n').reduce((text, line, at) => text + (endings[at - 1] ?? '') + line);
}

const maxRounds = 8;

function untilStable(source: string): string {
  // A text without these two characters has no tag, no link and no picture.
  if (!/[<[]/.test(source)) return source;
  let text = source;
  for (let round = 0; round < maxRounds; round += 1) {
    const before = text;
    text = edit(text, lexWithFootnotes(text).tokens);
    text = edit(text, lexPlain(text));
    if (text === before) text = withinStack(() => markdownReaders.reduce(disarmActive, text));
    if (text === before) return text;
  }
  return disarm(text);
}

/** Escapes what a reader finds active: the tags in its block that may be the cause, or else every mark. */
function disarmActive(text: string, reader: MarkdownReader): string {
  const lines = text.split('\n');
  for (const { html, first, end } of reader(text)) {
    if (isHarmlessHtml(html)) continue;
    const block = lines.slice(first, end).join('\n');
    const escaped = escapeActiveTags(block);
    const disarmed = escaped === block ? disarm(block) : escaped;
    for (const [at, line] of disarmed.split('\n').entries()) lines[first + at] = line;
  }
  return lines.join('\n');
}

function edit(text: string, tokens: readonly Token[]): string {
  const sanitiser = new HtmlSanitiser();
  const parts: string[] = [];
  let at = 0;
  let lost = 0;
  for (const token of tokens) {
    const leaves = leavesOf(token, sanitiser);
    const isSafe = leaves.every(({ raw, replacement }) => replacement === raw);
    const raw = token.raw.trimEnd();
    const start = text.startsWith(raw, at) ? at : text.indexOf(raw, at);
    if (start < 0) lost += 1;
    if (start >= 0 && isSafe) {
      parts.push(text.slice(at, start + raw.length));
      at = start + raw.length;
      continue;
    }
    // Marked changes blanks at the ends of some lists, so their leaves are searched in the following text.
    const from = Math.max(start, at);
    const edited = editLeaves(text.slice(from, from + 2 * raw.length + 100), leaves);
    if (!edited || lost > maxLost) return disarm(text);
    parts.push(text.slice(at, from), edited.text);
    at = from + edited.end;
  }
  return parts.join('') + text.slice(at);
}

/** Each failed search for a token costs a pass through the rest of the text. */
const maxLost = 200;

/** The last resort: marks are shown as they are. */
function disarm(text: string): string {
  return text.replaceAll('<', '&lt;').replaceAll('[', '&#91;');
}

/** A part of a token in text order, and its replacement. Both have the same number of lines. */
interface Leaf {
  readonly raw: string;
  readonly replacement: string;
}

/**
 * The text up to its last leaf, and where that ends; undefined if an edited leaf is not found. Within quotes and lists,
 * the lines of a token lack the marks that begin each line there, so leaves are found line by line. The marks between
 * them contain no `<` and no `]`, so no mark is mistaken for an edited leaf.
 */
function editLeaves(text: string, leaves: readonly Leaf[]): { text: string; end: number } | undefined {
  const parts: string[] = [];
  let end = 0;
  /** Characters of lines that were not found, such as those of a cell with `\|`, since the last one that was. */
  let missed = 0;
  for (const { raw, replacement } of leaves) {
    const to = replacement.split('\n');
    for (const [number, blankLine] of raw.split('\n').entries()) {
      const line = blankLine.trim();
      const near = text.slice(end, end + 2 * (missed + line.length) + maxGap).indexOf(line);
      if (near >= 0) {
        parts.push(text.slice(end, end + near), replacement === raw ? line : (to[number] ?? '').trim());
        end += near + line.length;
        missed = 0;
      } else if (replacement === raw && missed < maxMissed) missed += line.length;
      else return undefined;
    }
  }
  return { text: parts.join(''), end };
}

/** Characters that can be between two leaves: the marks of quotes and lists, and empty lines. */
const maxGap = 2000;
const maxMissed = 100_000;

function leavesOf(token: Token, sanitiser: HtmlSanitiser): Leaf[] {
  const { raw } = token;
  switch (token.type) {
    case 'html':
      return [{ raw, replacement: sanitisedHtml(raw, sanitiser) }];
    case 'text':
      if ('tokens' in token && token.tokens) break;
      // Marked prints the text between `<kbd>` and `</kbd>` as it is.
      return [{ raw, replacement: token.escaped ? raw.replaceAll('<', '&lt;') : raw }];
    case 'image':
    case 'def':
      return [{ raw, replacement: withoutScript(raw, token.href) }];
    case 'link':
      return linkLeaves(token as Tokens.Link, sanitiser);
  }
  const children = childrenOf(token);
  if (children.length === 0) return [{ raw, replacement: raw }];
  return children.flatMap((tokens) => tokens.flatMap((child) => leavesOf(child, sanitiser)));
}

/** A part that is left out keeps its line ends. */
function sanitisedHtml(raw: string, sanitiser: HtmlSanitiser): string {
  let at = 0;
  let result = '';
  for (const { kind, start, end, text } of sanitiser.partsOf(raw)) {
    result += lineEnds(raw.slice(at, start));
    result += kind === 'text' ? text.replaceAll('<', '&lt;') : text;
    if (kind !== 'text') result += lineEnds(raw.slice(start, end)).slice(lineEnds(text).length);
    at = end;
  }
  return result + lineEnds(raw.slice(at));
}

function lineEnds(text: string): string {
  return text.replace(/[^\n]+/g, '');
}

/** The text of a link may also have raw HTML; the address follows the text. */
function linkLeaves({ raw, text, href, tokens }: Tokens.Link, sanitiser: HtmlSanitiser): Leaf[] {
  if (!raw.startsWith('['))
    return [{ raw, replacement: !isHarmlessAddress(href) ? raw.replace('<', '&lt;') : raw }];
  const rest = raw.slice(endOfText(raw, text));
  const inner = tokens.flatMap((token) => leavesOf(token, sanitiser));
  return [...inner, { raw: rest, replacement: withoutScript(rest, href) }];
}

/** Marked removes the backslash before a bracket in the text of a link. */
function endOfText(raw: string, text: string): number {
  let at = 1;
  for (const character of text.split('')) {
    at += raw[at] === '\\' && (character === '[' || character === ']') ? 2 : 1;
  }
  return at;
}

/** A reference has no address of its own: the address in its definition is edited. */
function withoutScript(raw: string, href: string): string {
  const at = !isHarmlessAddress(href) ? raw.search(/\]\(|\]:/) : -1;
  if (at < 0) return raw;
  const isDefinition = raw[at + 1] === ':';
  return `${raw.slice(0, at)}${isDefinition ? ']: #' : '](#)'}${lineEnds(raw.slice(at))}`;
}
