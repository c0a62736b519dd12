import { slug } from 'github-slugger';
import { Type } from 'typebox';
import { withoutUndefined } from '../../protocol/base/json.ts';
import type { DocumentParts, MarkdownSection } from '../formats/renderJob.ts';
import { nearestSlugs } from '../search/nearSlugs.ts';
import { maxReference, unknownDocument } from './mcpLibrary.ts';
import { defineTool, ToolError } from './tool.ts';

const usualPage = 20_000;

export const getDocMarkdown = defineTool({
  name: 'get_doc_markdown',
  title: 'Read a document',
  description:
    'Returns a document of this library as Markdown: all of it, one section, or page by page. ' +
    'A long text comes in pages that end between blocks: if the answer has nextOffset, call again with it as offset.',
  input: {
    slug: Type.String({
      minLength: 1,
      maxLength: maxReference,
      description:
        'The slug of the document, as search_docs returns it. Its address or the path of its file works as well.',
    }),
    section: Type.Optional(
      Type.String({
        maxLength: 500,
        description:
          'A heading, by its text or its id, such as the section of a result: only this section, with its subsections.',
      }),
    ),
    offset: Type.Optional(
      Type.Integer({
        minimum: 0,
        default: 0,
        description: 'Where the page begins, in characters (UTF-16) of the document or the section.',
      }),
    ),
    maxChars: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100_000,
        default: usualPage,
        description: 'How many characters (UTF-16) the page may have, at most 100,000.',
      }),
    ),
  },
  output: {
    slug: Type.String(),
    title: Type.String(),
    address: Type.String({ description: 'Where the document or the section is: cite it.' }),
    markdown: Type.String({ description: 'The document, or a page of it, without front matter.' }),
    offset: Type.Integer({ description: 'Where the page begins.' }),
    totalChars: Type.Integer({ description: 'Characters of all pages together.' }),
    nextOffset: Type.Optional(Type.Integer({ description: 'The offset of the next page, if there is one.' })),
  },
  async call({ slug: name, section, offset = 0, maxChars = usualPage }, library, signal) {
    const document = await library.read(name);
    if (document === undefined) throw new ToolError(await unknownDocument(library, name));
    const parts = await library.parts(document, signal);
    const found = section === undefined ? undefined : findSection(parts, section);
    const { start, end } = found ?? { start: 0, end: parts.markdown.length };
    if (offset > end - start)
      throw new ToolError(`"offset" is past the end: there are ${end - start} characters in all.`);
    if (offset > 0 && offset < end - start && isWithinCharacter(parts.markdown, start + offset))
      throw new ToolError('"offset" is in the middle of a character. Use nextOffset of the previous page.');
    const { nextOffset, ...page } = pageOf(parts, { start, end, offset, maxChars });
    const { slug, title } = document;
    const address = library.addressOf(slug, found?.id);
    return withoutUndefined({ slug, title, address, ...page, nextOffset });
  },
});

function findSection({ sections }: DocumentParts, wanted: string): MarkdownSection {
  const found = tryFindSection(sections, wanted);
  if (found !== undefined) return found;
  const headings = nearHeadings(sections, wanted, 5).map((one) => `"${one}"`);
  const hint =
    headings.length === 0
      ? 'It has none: leave "section" out.'
      : `There is ${headings.join(', ')}${sections.length > headings.length ? ' and more' : ''}.`;
  throw new ToolError(`The document has no section "${wanted.slice(0, 100)}". ${hint}`);
}

/** The section that a reader means: by its id, its heading, or a heading that differs only in case and signs. */
export function tryFindSection(
  sections: readonly MarkdownSection[],
  wanted: string,
): MarkdownSection | undefined {
  const plain = plainHeading(wanted);
  const id = plain.replace(/^#/, '');
  const likeness = slug(plain);
  return (
    sections.find((section) => section.id === id) ??
    sections.find(({ text }) => plainHeading(text) === plain) ??
    (likeness === '' ? undefined : sections.find(({ text }) => slug(text) === likeness))
  );
}

/** Headings that resemble a wrong one, or else the first ones. */
export function nearHeadings(
  sections: readonly MarkdownSection[],
  wanted: string,
  limit: number,
): readonly string[] {
  const compared = sections.slice(0, maxCompared);
  const ids = nearestSlugs(
    slug(wanted),
    compared.map(({ id }) => id.slice(0, 100)),
    limit,
  );
  const near = ids.flatMap((id) => compared.find((section) => section.id.slice(0, 100) === id) ?? []);
  return (near.length > 0 ? near : compared.slice(0, limit)).map(({ text }) => text.slice(0, 100));
}

const maxCompared = 500;

/** Without the marks that begin a heading, and with single blanks. */
function plainHeading(text: string): string {
  return text
    .replace(/^\s{0,3}#{1,6}\s/, '')
    .replace(/\s+/g, ' ')
    .trim();
}

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
  for (const places of [blocks, lines]) {
    const last = places.findLast((place) => place <= limit);
    if (last !== undefined && last > from) return last;
  }
  const lineEnd = markdown.slice(from, limit).lastIndexOf('\n');
  if (lineEnd >= 0) return from + lineEnd + 1;
  if (!isWithinCharacter(markdown, limit)) return limit;
  // A page is never empty.
  return limit - 1 > from ? limit - 1 : limit + 1;
}
