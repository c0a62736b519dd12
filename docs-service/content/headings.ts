import { Lexer } from 'marked';
import { inlineTokens } from './cjkRules.ts';
import { markdownLines } from './markdownLines.ts';
import { decodeEntities, plainText } from './plainText.ts';

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

export function* headings(text: string): Generator<PlacedHeading> {
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
