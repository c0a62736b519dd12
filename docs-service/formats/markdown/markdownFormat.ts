import type { Token } from 'marked';
import { resolveLink } from '../../content/links.ts';
import { markdownLines } from '../../content/markdownLines.ts';
import { withoutIllegalCharacters } from '../../content/plainText.ts';
import type { MarkdownJob, PartsJob, Rendered } from '../renderJob.ts';
import { withAbsoluteLinks } from './absoluteLinks.ts';
import { type MarkdownDocument, parseMarkdown } from './markdown.ts';
import type { EncodedParts, MarkdownSection } from './partsReader.ts';
import { sanitiseMarkdown } from './sanitisedMarkdown.ts';
import { shownPictures } from './shownPictures.ts';

/** The Markdown as it was written, with raw HTML sanitised, and with those absolute addresses that are known. */
export function createMarkdown({ document, targets, pictures }: MarkdownJob): Rendered {
  const { body, path: from } = document;
  const shown = Object.keys(pictures).length > 0 ? shownPictures(document) : new Set<string>();
  const linked = withAbsoluteLinks(body, (href) => {
    const target = resolveLink(href, from);
    if (target.kind === 'fragment' && !href.startsWith('#')) return fragmentOf(target.fragment);
    if (target.kind !== 'inside') return undefined;
    const { path, documents, fragment } = target;
    if (shown.has(path) && Object.hasOwn(pictures, path)) return pictures[path];
    const found = documents.find((one) => Object.hasOwn(targets, one));
    return found === undefined ? undefined : `${targets[found]}${fragmentOf(fragment)}`;
  });
  // Last, so that its guarantee holds whatever was edited before.
  return { bytes: new TextEncoder().encode(sanitiseMarkdown(linked)), notes: [] };
}

function fragmentOf(fragment: string | null): string {
  return fragment === null ? '' : `#${encodeURIComponent(fragment)}`;
}

/** The Markdown with raw HTML sanitised, and where it may be cut, as JSON for `readParts`. */
export function createParts({ document }: PartsJob): Rendered {
  const markdown = sanitiseMarkdown(document.body);
  const { sections, blocks, lines } = markdownParts(markdown);
  const parts: EncodedParts = { markdown, sections, blocks: encode(blocks), lines: encode(lines) };
  return { bytes: new TextEncoder().encode(JSON.stringify(parts)), notes: [] };
}

/** A long document has a million lines: reading them as JSON text would take too long. */
function encode(places: readonly number[]): string {
  return Buffer.from(Uint32Array.from(places).buffer).toString('base64');
}

/** Where a Markdown text may be cut. All places are in UTF-16 units from its beginning. */
export interface MarkdownParts {
  readonly sections: readonly MarkdownSection[];
  /** Where the blocks begin: paragraphs, headings, tables, lists, code. Ascending. */
  readonly blocks: readonly number[];
  /** Where a line begins that does not continue a code fence. Ascending; for blocks that are too long. */
  readonly lines: readonly number[];
}

/** Its time is proportional to the length of the text. Throws `UnrenderableError` for a text that is out of bounds. */
export function markdownParts(text: string): MarkdownParts {
  const document = parseMarkdown(text);
  const placed = placeTokens(text, document.tokens);
  const blocks = placed.map(({ start }) => start);
  const sections = sectionsOf(document, placed, text.length).slice(0, maxSections);
  return { sections, blocks, lines: linesOf(text, blocks) };
}

/** In one document; further sections cannot be found by their headings. */
const maxSections = 10_000;

interface PlacedToken {
  readonly token: Token;
  readonly start: number;
}

/** How many searches for tokens may fail: each costs time. */
const maxLost = 200;

/**
 * Where the tokens of the first level begin in the text. They are searched in the text that Marked sees, and then
 * mapped by line numbers, because Marked sees other line ends and no control characters.
 */
function placeTokens(text: string, tokens: readonly Token[]): readonly PlacedToken[] {
  const seen = withoutIllegalCharacters(text).replace(/\r\n|\r/g, '\n');
  const lineStarts = [
    0,
    ...Array.from(text.matchAll(/\r\n|\r|\n/g), ({ 0: end, index }) => index + end.length),
  ];
  const placed: PlacedToken[] = [];
  let at = 0;
  let line = 0;
  let lost = 0;
  for (const token of tokens) {
    const raw = token.raw.trim();
    if (raw === '' || lost > maxLost) continue;
    const start = seen.indexOf(raw, at);
    // Some lists come back with other blanks than the author wrote.
    const isHere = start >= 0 && /^\s*$/.test(seen.slice(at, Math.min(start, at + maxGap + 1)));
    if (!isHere && (start < 0 || start - at > raw.length + maxGap)) {
      lost += 1;
      continue;
    }
    line += newlinesIn(seen, at, start);
    placed.push({ token, start: lineStarts[line] ?? 0 });
    line += newlinesIn(seen, start, start + raw.length);
    at = start + raw.length;
  }
  return placed;
}

/** Characters between two blocks that are searched. */
const maxGap = 1_000;

function newlinesIn(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

function sectionsOf(
  { headingOf }: MarkdownDocument,
  placed: readonly PlacedToken[],
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
