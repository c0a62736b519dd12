import type { DocumentParts } from '../formats/markdown/partsReader.ts';

export type MarkdownPage = ReturnType<typeof pageOf>;

/** All places are in UTF-16 units. */
interface PageRequest {
  /** Where the document or section begins. */
  readonly start: number;
  readonly end: number;
  /** From `start`; at most the length of what is read. */
  readonly offset: number;
  /** At least 1. */
  readonly maxChars: number;
}

/**
 * An exact slice of the Markdown; joined, the pages are the whole. A page ends between two blocks. If one block is
 * longer than a page, the page ends before one of its lines, outside of code if possible; never inside a character.
 */
export function pageOf(parts: DocumentParts, { start, end, offset, maxChars }: PageRequest) {
  const from = start + offset;
  const limit = Math.min(end, from + maxChars);
  const to = limit === end ? end : endOfPage(parts, from, limit);
  return {
    markdown: parts.markdown.slice(from, to),
    offset,
    totalChars: end - start,
    /** Where the next page begins; undefined on the last one. */
    nextOffset: to < end ? to - start : undefined,
  };
}

/** Whether this place would separate the two halves of a character. */
export function isWithinCharacter(text: string, at: number): boolean {
  return isHalf(text.charCodeAt(at - 1), 0xd800) && isHalf(text.charCodeAt(at), 0xdc00);
}

function isHalf(unit: number, first: number): boolean {
  return unit >= first && unit < first + 0x400;
}

function endOfPage({ markdown, blocks, lines }: DocumentParts, from: number, limit: number): number {
  return (
    tryLastWithin(blocks, from, limit) ??
    tryLastWithin(lines, from, limit) ??
    tryLineBreak(markdown, from, limit) ??
    betweenCharacters(markdown, from, limit)
  );
}

/** The last of the ascending places that is after `from` and not after `limit`. */
function tryLastWithin(places: Uint32Array, from: number, limit: number): number | undefined {
  const found = places.findLast((place) => place <= limit);
  return found !== undefined && found > from ? found : undefined;
}

function tryLineBreak(text: string, from: number, limit: number): number | undefined {
  const found = text.slice(from, limit).lastIndexOf('\n');
  return found < 0 ? undefined : from + found + 1;
}

function betweenCharacters(text: string, from: number, limit: number): number {
  if (!isWithinCharacter(text, limit)) return limit;
  // A page is never empty.
  return limit - 1 > from ? limit - 1 : limit + 1;
}
