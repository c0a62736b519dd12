import { createHash } from 'node:crypto';
import { headings } from './headings.ts';
import { markdownLines } from './markdownLines.ts';
import { withoutScripts } from './withoutCode.ts';

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
