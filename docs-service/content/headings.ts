import { createHash } from 'node:crypto';
import GithubSlugger from 'github-slugger';
import { Lexer } from 'marked';
import { decodeEntities, inlineTokens, plainText } from './inlineText.ts';
import { markdownLines, withoutCode, withoutScripts } from './markdownLines.ts';

export function headingsOf(text: string): readonly string[] {
  return Array.from(headings(text), ({ heading }) => heading);
}

/**
 * The first heading of the first level in a Markdown text, without its marks, for a document without a title in its
 * front matter, and the heading of any level after it, for when many documents have the first one. Raw HTML counts only
 * at the beginning.
 */
export function titlesIn(text: string): readonly string[] {
  const [, picture = ''] = pictureHeading.exec(text.slice(0, 2_000)) ?? [];
  const found = picture === '' ? [] : [onOneLine(decodeEntities(picture))];
  for (const { heading, depth } of headings(text)) {
    if (found.length === 0 && depth !== 1) continue;
    const plain = onOneLine(plainText(inlineTokens(heading)));
    if (plain !== '') found.push(plain);
    if (found.length === 2) break;
  }
  return found;
}

/** A heading of HTML at the beginning of a text with the description of its picture. */
const pictureHeading =
  /^(?:\s|<(?!h1)[^<>]*>)*<h1(?:\s[^<>]*)?>(?:\s|<a\s[^<>]*>)*<img\s[^<>]*?\balt="([^"<>]+)"/i;

/** A title from front matter on one line, without its marks and tags. Names such as `__init__` and `Map<T>` stay. */
export function plainTitle(written: string, longest = 2_000): string {
  const text = written
    .slice(0, longest)
    .replace(/\s*\{:?\s*#[^{}]*\}[\s#]*$/, '')
    .replace(/\{\{[<%][^{}]*[>%]\}\}/g, '')
    .replace(/<\w[^<>]*\/>|<(\w+)(?:\s[^<>]*)?>([^<>]*)<\/\1>/g, '$2');
  const masked = text.replaceAll('<', '\ue000').replaceAll('_', '\ue001');
  const plain = plainText(Lexer.lexInline(masked)).replaceAll('\ue000', '<').replaceAll('\ue001', '_');
  return onOneLine(plain) || onOneLine(written);
}

/** Whether a heading repeats the title of its document. */
export function isTitle(heading: string, title: string): boolean {
  return folded(heading) === folded(title);
}

function folded(text: string): string {
  return text.normalize('NFKC').replace(/\s+/g, ' ').trim().toLowerCase();
}

function onOneLine(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/\p{Surrogate}/gu, '\ufffd');
}

/** A heading is cut off here, in UTF-16 units. */
const maxHeadingLength = 500;

interface PlacedHeading {
  readonly heading: string;
  /** 1 to 6. */
  readonly depth: number;
  /** Where its first line begins, and where the last one ends. */
  readonly start: number;
  readonly end: number;
}

function* headings(text: string): Generator<PlacedHeading> {
  // The lines of the paragraph so far: an underline makes all of them a heading.
  let paragraph = '';
  let paragraphStart = 0;
  for (const { start, end, fence } of markdownLines(text)) {
    const line = text.slice(start, Math.min(end, start + maxHeadingLength)).trimEnd();
    const atx = fence === undefined ? tryAtxHeading(line) : undefined;
    const isUnderline = fence === undefined && /^ {0,3}(?:=+|-+)$/.test(line);
    if (atx !== undefined) yield { ...atx, start, end };
    else if (isUnderline && paragraph !== '')
      yield {
        heading: withoutAnchors(paragraph),
        depth: line.includes('=') ? 1 : 2,
        start: paragraphStart,
        end,
      };
    if (paragraph === '') paragraphStart = start;
    const goesOn = fence === undefined && !isUnderline && line !== '' && !notProse.test(line);
    paragraph = goesOn ? `${paragraph} ${line.trim()}`.trim().slice(0, maxHeadingLength) : '';
  }
}

function tryAtxHeading(line: string): Pick<PlacedHeading, 'heading' | 'depth'> | undefined {
  const [mark] = /^ {0,3}#{1,6}(?:[ \t]|$)/.exec(line) ?? [];
  if (mark === undefined) return undefined;
  const heading = withoutAnchors(withoutClosingMarks(line.slice(mark.length).trim()));
  return { heading, depth: mark.trim().length };
}

/** An empty `<a id="x"></a>` is the id of a heading, and no text of it. */
function withoutAnchors(heading: string): string {
  return heading.includes('<a ')
    ? heading.replace(/\s*<a\s(?:id|name)="[^"<>]*"><\/a>/g, '').trim()
    : heading;
}

function withoutClosingMarks(text: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === '#') end--;
  return end === 0 || /[ \t]/.test(text[end - 1] ?? '') ? text.slice(0, end).trimEnd() : text;
}

const notProse = /^(?: {0,3}(?:#{1,6}(?:[ \t]|$)|>|[-*+][ \t]|\d{1,9}[.)][ \t]|\|)| {4}|\t)/;

/** A heading with the id that a link to it names. */
export interface HeadingAnchor {
  readonly id: string;
  readonly text: string;
  readonly line: number;
  /** Whether it is in a quote or a list. */
  readonly isInside: boolean;
  /** Whether its author wrote the id. */
  readonly isNamed: boolean;
}

/**
 * The headings of a Markdown text with their ids, those of GitHub, in linear time and without a parser.
 * @param prose the text without its code, if it is there already
 */
export function* headingAnchors(text: string, prose: string = withoutCode(text)): Generator<HeadingAnchor> {
  const slugger = createSlugger(writtenIds(prose));
  for (const { own, ...heading } of writtenHeadings(text, prose))
    yield {
      ...heading,
      isNamed: own !== undefined,
      id: own ?? (slugger.slug(heading.text) || slugger.slug('section')),
    };
}

/** The ids and names in the raw HTML of a text, each once. Code in it must be blank. */
export function writtenIds(prose: string): ReadonlySet<string> {
  const ids = new Set<string>();
  if (!/\s(?:id|name)\s*=/i.test(prose)) return ids;
  for (const [, attributes = ''] of prose.matchAll(/<[a-z]\w*\s([^<>]{1,2048})>/gi)) {
    for (const name of ['id', 'name'] as const) {
      const id = attributeIn(attributes, name);
      if (id !== undefined) ids.add(cleanId(id));
    }
    if (ids.size > maxIds) break;
  }
  return ids;
}

const maxIds = 10_000;

/** Gives automatic ids, none of which an author has written. */
export function createSlugger(written: Iterable<string>): GithubSlugger {
  const slugger = new GithubSlugger();
  for (const id of written) slugger.occurrences[id] = 0;
  return slugger;
}

/** The id that a tag of raw HTML gives to its place; undefined if it is no opening tag with an id. */
export function tryIdOf(html: string): string | undefined {
  const [, attributes] = /^<[a-z]\w*\s([^<>]{1,2048})>/i.exec(html) ?? [];
  const id = attributes && (attributeIn(attributes, 'id') ?? attributeIn(attributes, 'name'));
  return id ? cleanId(id) : undefined;
}

/** An id as it may be in a page: letters, digits, `-`, `_` and `.`. */
export function cleanId(written: string): string {
  return decodeEntities(written)
    .replace(/[^\p{L}\p{M}\p{N}._-]+/gu, '-')
    .slice(0, 200);
}

export function attributeIn(attributes: string, name: string): string | undefined {
  const found = new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"']+))`, 'i').exec(
    attributes,
  );
  return found?.[1] ?? found?.[2] ?? found?.[3];
}

function* writtenHeadings(text: string, prose: string) {
  const [lines, proseLines] = [text.split('\n'), prose.split('\n')];
  let paragraph = '';
  let begin = 0;
  for (const [line, written] of lines.entries()) {
    const [prefix = ''] = /^[ \t]*(?:(?:>|[-*+]|\d{1,9}[.)])[ \t]+|>)*/.exec(written) ?? [];
    const rest = written.slice(prefix.length, prefix.length + maxHeadingLength).trim();
    const isProse = (proseLines[line] ?? '').trim() !== '';
    const [mark] = /^#{1,6}(?:[ \t]+|$)/.exec(rest) ?? [];
    if (isProse && mark !== undefined)
      yield {
        ...shownText(rest.slice(mark.length).replace(/(?:^|[ \t]+)#+$/, '')),
        line,
        isInside: prefix.trim() !== '' || /^(?: {4}|\t)/.test(prefix),
      };
    else if (isProse && paragraph !== '' && /^ {0,3}(?:=+|-+)[ \t\r]*$/.test(written))
      yield { ...shownText(paragraph), line: begin, isInside: false };
    const goesOn =
      isProse && mark === undefined && !/[-*+.)][ \t]+$/.test(prefix) && !/^(?:\||[-=]+$)/.test(rest);
    if (paragraph === '') begin = line;
    paragraph = goesOn ? `${paragraph} ${rest}`.trim().slice(0, maxHeadingLength) : '';
  }
}

/** With the id that its author wrote, if there is one. */
function shownText(heading: string): { readonly text: string; readonly own?: string | undefined } {
  if (!/[\\`*_~[\]<>&!]|:\/\//.test(heading)) return { text: heading.trim() };
  const own = heading.includes('<')
    ? tryIdOf(heading.slice(heading.search(/<[a-z]\w*\s[^<>]*\b(?:id|name)\s*=/i)))
    : undefined;
  // Footnotes and addresses that are defined elsewhere are unknown here.
  const plain = heading.replace(/\[\^[^\]]*\]/g, '').replace(/\[([^\]]*)\]\[[^\]]*\]/g, '$1');
  return { text: plainText(inlineTokens(plain)).trim(), own };
}

/** A part of a document that is about one thing: what is below a heading, or a piece of that. */
export interface Section {
  /** Empty before the first heading. */
  readonly heading: string;
  /** Markdown, without the heading. */
  readonly text: string;
  /** Where it begins in the document, in UTF-16 units of its text without scripts. */
  readonly start: number;
}

/** In UTF-16 units, about 300 tokens: the smallest usual models hold 512. */
const maxLength = 1_200;
/** Longer documents have a meaning as far as this. */
const maxSections = 1_000;

/** The sections of a Markdown text, in their order. Those without text are left out. */
export function sectionsOf(body: string): readonly Section[] {
  const text = withoutScripts(body);
  const sections: Section[] = [];
  const add = (heading: string, from: number, to: number) => {
    for (const { start, text: piece } of piecesOf(text.slice(from, to)))
      if (sections.length < maxSections) sections.push({ heading, text: piece, start: from + start });
  };
  let open = { heading: '', end: 0 };
  for (const { heading, start, end } of headings(text)) {
    add(open.heading, open.end, start);
    open = { heading, end };
  }
  add(open.heading, open.end, text.length);
  return sections;
}

/** What is embedded: a section says little without the names of what it is about. */
export function embeddedText(title: string, { heading, text }: Section): string {
  return `${heading === '' || heading === title ? title : `${title}: ${heading}`}\n${text}`;
}

export function sectionHash(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

/** Pieces of at most `maxLength`, cut between paragraphs if possible, or else between lines, words or characters. */
function* piecesOf(text: string): Generator<Pick<Section, 'text' | 'start'>> {
  let piece = '';
  let start = 0;
  const take = (length: number) => {
    const [taken, from] = [piece.slice(0, length), start];
    piece = piece.slice(length);
    start += length;
    const kept = taken.trim();
    return kept === '' ? [] : [{ text: kept, start: from + taken.indexOf(kept) }];
  };
  for (const paragraph of paragraphsOf(text)) {
    if (piece !== '' && piece.length + paragraph.length > maxLength) yield* take(piece.length);
    for (piece += paragraph; piece.length > maxLength; ) yield* take(endOfPiece(piece));
  }
  yield* take(piece.length);
}

/** With the blank lines after each. A code fence is one. */
function* paragraphsOf(text: string): Generator<string> {
  let from = 0;
  let isAfterBlank = false;
  for (const { start, end, fence } of markdownLines(text)) {
    const isBlank = fence === undefined && text.slice(start, end).trim() === '';
    if (isAfterBlank && !isBlank) {
      yield text.slice(from, start);
      from = start;
    }
    isAfterBlank = isBlank;
  }
  yield text.slice(from);
}

function endOfPiece(text: string): number {
  const head = text.slice(0, maxLength);
  for (const cut of ['\n', ' ']) {
    const at = head.lastIndexOf(cut);
    if (at > maxLength / 2) return at + 1;
  }
  const isHalf = /[\ud800-\udbff]$/.test(head);
  return isHalf ? maxLength - 1 : maxLength;
}
