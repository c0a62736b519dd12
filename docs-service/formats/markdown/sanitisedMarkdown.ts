import { HtmlRenderer, Parser } from 'commonmark';
import MarkdownIt from 'markdown-it';
import { Marked, type MarkedExtension, type Token } from 'marked';
import { childrenOf, lexPlain, lexWithFootnotes, withinStack } from './markdown.ts';
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
  return keepingLineEnds(source, untilStable);
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
  return (
    tryEditTokens(text, tokens, (token, raw) => sanitised(token, raw, sanitiser), 'fail') ?? disarm(text)
  );
}

/** The last resort: marks are shown as they are. */
function disarm(text: string): string {
  return text.replaceAll('<', '&lt;').replaceAll('[', '&#91;');
}

function sanitised(token: Token, raw: string, sanitiser: HtmlSanitiser): string {
  switch (token.type) {
    case 'html':
      return sanitisedHtml(raw, sanitiser);
    case 'text':
      // Marked prints the text between `<kbd>` and `</kbd>` as it is.
      return token.escaped ? raw.replaceAll('<', '&lt;') : raw;
    case 'image':
    case 'def':
      return withoutScript(raw, token.href);
    case 'link':
      if (token.raw.startsWith('[')) return withoutScript(raw, token.href);
      return isHarmlessAddress(token.href) ? raw : raw.replace('<', '&lt;');
  }
  return raw;
}

/**
 * A part that is left out keeps its line ends.
 * @param edit of a tag that stays
 */
export function sanitisedHtml(
  raw: string,
  sanitiser: HtmlSanitiser,
  edit: (tag: string) => string = (tag) => tag,
): string {
  let at = 0;
  let result = '';
  for (const { kind, start, end, text } of sanitiser.partsOf(raw)) {
    result += lineEndsOf(raw.slice(at, start));
    result += kind === 'text' ? text.replaceAll('<', '&lt;') : edit(text);
    if (kind !== 'text') result += lineEndsOf(raw.slice(start, end)).slice(lineEndsOf(text).length);
    at = end;
  }
  return result + lineEndsOf(raw.slice(at));
}

/** A reference has no address of its own: the address in its definition is edited. */
function withoutScript(raw: string, href: string): string {
  const at = !isHarmlessAddress(href) ? raw.search(/\]\(|\]:/) : -1;
  if (at < 0) return raw;
  const isDefinition = raw[at + 1] === ':';
  return `${raw.slice(0, at)}${isDefinition ? ']: #' : '](#)'}${lineEndsOf(raw.slice(at))}`;
}

/** What a reader prints for a block of the first level, and its lines, counted from 0; `end` is behind the last. */
interface PrintedBlock {
  readonly html: string;
  readonly first: number;
  readonly end: number;
}

type MarkdownReader = (text: string) => Iterable<PrintedBlock>;

/**
 * Markdown readers that other programs use, exactly as they are published; all of them print raw HTML as it is. Marked
 * has three modes: as on GitHub, as in chats, and without tables.
 */
const markdownReaders: readonly MarkdownReader[] = [
  (text) => readByMarked(text, {}),
  (text) => readByMarked(text, { breaks: true }),
  (text) => readByMarked(text, { gfm: false }),
  readByMarkdownIt,
  (text) => readByCommonMark(text.length > maxWithEmphasis ? withoutEmphasis(text) : text),
];

function* readByMarked(text: string, options: MarkedExtension): Generator<PrintedBlock> {
  // Its own instance, because anyone can change the one that Marked exports.
  const reader = new Marked(options);
  let end = 0;
  for (const token of reader.lexer(text)) {
    const first = end;
    end += token.raw.split('\n').length - 1;
    yield { html: reader.parser([token]), first, end: end + 1 };
  }
}

function* readByMarkdownIt(text: string): Generator<PrintedBlock> {
  const reader = new MarkdownIt({ html: true });
  const environment = {};
  let block: ReturnType<typeof reader.parse> = [];
  for (const token of reader.parse(text, environment)) {
    block.push(token);
    if (token.level > 0 || token.nesting > 0) continue;
    const [first, end] = block[0]?.map ?? [0, Number.POSITIVE_INFINITY];
    yield { html: reader.renderer.render(block, reader.options, environment), first, end };
    block = [];
  }
}

function* readByCommonMark(text: string): Generator<PrintedBlock> {
  const renderer = new HtmlRenderer();
  for (let node = new Parser().parse(text).firstChild; node; node = node.next) {
    const [[first], [end]] = node.sourcepos;
    yield { html: renderer.render(node), first: first - 1, end };
  }
}

/** In UTF-16 units. For each link of a paragraph, commonmark.js looks at all marks of emphasis before it. */
const maxWithEmphasis = 100_000;

/** Emphasis never decides what is a tag or a link. The marks of lists and rules at the beginnings of lines stay. */
function withoutEmphasis(text: string): string {
  return text.replace(/^[\s>*_+\-\d.)]+|\*|(?<!\w)_|_(?!\w)/gm, (mark) =>
    mark === '*' ? ',' : mark === '_' ? 'x' : mark,
  );
}

/** What a part of a token becomes, with the same number of lines. The part of a link is what follows its text. */
export type TokenEdit = (token: Token, raw: string) => string;

/**
 * The text with the leaves of its tokens replaced, and everything else byte for byte. Undefined if that is not
 * possible.
 * @param tokens of the first level, as Marked read them in the text
 * @param ifLost what happens to a token whose edited leaves are not found: it stays, or there is no result
 */
export function tryEditTokens(
  text: string,
  tokens: readonly Token[],
  edit: TokenEdit,
  ifLost: 'keep' | 'fail',
): string | undefined {
  const parts: string[] = [];
  let at = 0;
  let lost = 0;
  for (const token of tokens) {
    const leaves = leavesOf(token, edit);
    const raw = token.raw.trimEnd();
    const start = text.startsWith(raw, at) ? at : text.indexOf(raw, at);
    if (start < 0) lost += 1;
    const from = Math.max(start, at);
    const unchanged = start < 0 ? undefined : { text: raw, end: raw.length };
    const isUnchanged = leaves.every((leaf) => leaf.replacement === leaf.raw);
    // Marked changes blanks at the ends of some lists, so their leaves are searched in the following text.
    const edited =
      (isUnchanged ? unchanged : undefined) ??
      editLeaves(text.slice(from, from + 2 * raw.length + 100), leaves);
    if (ifLost === 'fail' && (edited === undefined || lost > maxLost)) return undefined;
    if (lost > maxLost) break;
    const found = edited ?? unchanged;
    if (found === undefined) continue;
    parts.push(text.slice(at, from), found.text);
    at = from + found.end;
  }
  return parts.join('') + text.slice(at);
}

interface Leaf {
  readonly raw: string;
  readonly replacement: string;
}

function leavesOf(token: Token, edit: TokenEdit): Leaf[] {
  const { raw, type } = token;
  const leafOf = (part: string) => ({ raw: part, replacement: edit(token, part) });
  if (type === 'link' && !raw.startsWith('[')) return [leafOf(raw)];
  const children = childrenOf(token);
  if (children.length === 0) return [leafOf(raw)];
  const inner = children.flatMap((tokens) => tokens.flatMap((child) => leavesOf(child, edit)));
  return type === 'link' ? [...inner, leafOf(raw.slice(endOfLinkText(raw, token.text)))] : inner;
}

/** Marked removes the backslash before a bracket in the text of a link. */
function endOfLinkText(raw: string, text: string): number {
  let at = 1;
  for (const character of text.split('')) {
    at += raw[at] === '\\' && (character === '[' || character === ']') ? 2 : 1;
  }
  return at;
}

/** Each failed search for a token costs a pass through the rest of the text. */
const maxLost = 200;

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

/** Edits a text as if all its lines ended with `\n`; no edit may add or remove a line end. */
export function keepingLineEnds(source: string, edit: (text: string) => string): string {
  const lines = source.split(/(\r\n|\r|\n)/);
  const endings = lines.filter((_, at) => at % 2 === 1);
  const edited = edit(lines.map((part, at) => (at % 2 === 1 ? '\n' : part)).join(''));
  return edited.split('\n').reduce((text, line, at) => text + (endings[at - 1] ?? '') + line);
}

function lineEndsOf(text: string): string {
  return text.replace(/[^\n]+/g, '');
}
