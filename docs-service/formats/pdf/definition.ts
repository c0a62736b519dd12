import type { Token } from 'marked';
import type { TDocumentDefinitions } from 'pdfmake/interfaces';
import type { CollectionDefinition } from '../../content/collectionFile.ts';
import type { Document } from '../../content/document.ts';
import { isTitle } from '../../content/headings.ts';
import type { CodeColouring } from '../markdown/codeColouring.ts';
import type { Heading, MarkdownDocument } from '../markdown/markdown.ts';
import { chapterTitles, tryTarget, UnrenderableError } from '../renderJob.ts';
import { blocksOf, notesBlocks } from './blocks.ts';
import { Bookmarks } from './bookmarks.ts';
import { directionOfDocument } from './directions.ts';
import { arrange, heightOf, type LayoutScope } from './layout.ts';
import { contentsNodes, coverNodes, type TitledText, titleNodes } from './openingPages.ts';
import { directedText } from './paragraphs.ts';
import type { Pictures } from './pictures.ts';
import { textPiece } from './pieces.ts';
import { colors, lineHeight, margins, papers, sizes, textHeight } from './style.ts';
import type { Typesetter } from './typesetter.ts';

/** A document, and what sets it. */
export interface DefinitionParts {
  readonly document: Document;
  readonly markdown: MarkdownDocument;
  readonly type: Typesetter;
  readonly pictures: Pictures;
  readonly colouring: CodeColouring;
}

/** The definition of a document for PDFMake, without its fonts. */
export function documentDefinition(
  parts: DefinitionParts,
  targets: Readonly<Record<string, string>>,
): TDocumentDefinitions {
  const { document, markdown, type } = parts;
  const bookmarks = new Bookmarks(document, markdown, (path, fragment) => {
    const link = tryTarget(targets, path, fragment);
    return link === undefined ? undefined : { link };
  });
  const body = setBody(parts, bookmarks);
  checkLength(body.height);
  const content = [
    ...coverNodes(document, parts),
    ...titleNodes(document, type, body.title ? { id: bookmarks.nameOf(body.title.id) } : {}),
    ...(document.body.length < minLength ? [] : contentsNodes(bookmarks.placed, document, type)),
    ...body.nodes,
  ];
  return framed(content, document, parts);
}

/** In characters, about four pages: a document that is shorter needs no contents. */
const minLength = 9000;

/**
 * The definition of a collection as one file: a title page, the contents with page numbers, and each document on a new
 * page, as a bookmark that has those of its headings below it. Links between its documents stay in the file.
 */
export function bookDefinition(
  collection: CollectionDefinition,
  [first, ...others]: readonly [DefinitionParts, ...DefinitionParts[]],
): TDocumentDefinitions {
  const { type } = first;
  const documents = [first, ...others].map(({ document }) => document);
  const titles = chapterTitles(documents);
  const chapters = [first, ...others].map((parts, at) => {
    const { document, markdown } = parts;
    const bookmarks: Bookmarks = new Bookmarks(document, markdown, leadTo, `chapter-${at + 1}:`);
    return { parts, bookmarks, heading: { depth: 1, text: titles[at] ?? '', id: '' } };
  });
  /** A place that the chapter does not have is its beginning. */
  function leadTo(path: string, fragment: string | null) {
    const bookmarks = chapters.find(({ parts }) => parts.document.path === path)?.bookmarks;
    const found = fragment === null ? undefined : bookmarks?.find(fragment);
    return bookmarks && { destination: found ?? bookmarks.nameOf('') };
  }
  let height = 0;
  const bodies = chapters.map(({ parts, bookmarks, heading }) => {
    const place = bookmarks.place(heading);
    const body = setBody(parts, bookmarks);
    height += body.height;
    checkLength(height);
    return [{ text: '', pageBreak: 'after' }, ...titleNodes(parts.document, type, place), ...body.nodes];
  });
  const about = descriptionOf(collection, documents);
  const headings = chapters.flatMap(({ bookmarks }) => bookmarks.placed);
  const content = [
    ...coverNodes(collection, first),
    ...titleNodes(about, type),
    ...contentsNodes(headings, about, type, true),
    ...bodies.flat(),
  ];
  return framed(content, about, first);
}

function descriptionOf(
  { title, author, description, lang }: CollectionDefinition,
  documents: readonly Document[],
): TitledText {
  const authors = author ? [author] : [...new Set(documents.flatMap((document) => document.authors))];
  const dates = documents.flatMap(({ updated, date }) => [updated, date].filter((one) => one !== null));
  const newest = dates.sort((a, b) => Date.parse(a) - Date.parse(b)).at(-1) ?? null;
  return {
    ...{ title, description, authors: authors.slice(0, maxAuthors), date: newest, updated: null },
    ...{ lang: lang ?? documents[0]?.lang ?? null, type: null, tags: [] },
  };
}

const maxAuthors = 50;

/** What is around the content: the format of the page, the properties of the file, and what runs over all pages. */
function framed(
  content: readonly Record<string, unknown>[],
  about: TitledText,
  { type, pictures }: DefinitionParts,
): TDocumentDefinitions {
  const definition = {
    pageSize: papers[type.paper].name,
    pageMargins: [margins.left, margins.top, margins.right, margins.bottom],
    content,
    defaultStyle: { font: 'Text', fontSize: sizes.body, lineHeight, color: colors.text },
    images: pictures.images,
    info: infoOf(about),
    language: about.lang ?? 'en',
    displayTitle: true,
    compress: true,
    version: '1.7',
    ...runningLines(about, type),
  };
  // PDFMake's types require a class for each kind of node, but our nodes are plain objects.
  return definition as unknown as TDocumentDefinitions;
}

/** Each page takes a third of a megabyte while a document is made. */
const maxPages = 3000;

/** @param height of all text, in points */
function checkLength(height: number): void {
  if (height <= maxPages * textHeight) return;
  throw new UnrenderableError(
    `A PDF would have more than ${maxPages.toLocaleString('en')} pages. Split the document or the collection.`,
  );
}

/** The text of a document below its title. `title` is the heading that became the title. */
function setBody({ document, markdown, type, pictures, colouring }: DefinitionParts, bookmarks: Bookmarks) {
  const scope: LayoutScope = {
    ...{ markdown, bookmarks, type, pictures, colouring },
    ...{ width: type.textWidth, indent: 0, look: { fontSize: sizes.body } },
  };
  pictures.turnTo(document.path);
  const { title, rest } = withoutTitle(markdown, document.title);
  const blocks = [...blocksOf(rest, scope), ...notesBlocks(markdown.footnotes, scope)];
  return { nodes: arrange(blocks), height: heightOf(blocks), title };
}

/** Leaves the first heading out if it is the title. */
function withoutTitle(
  { tokens, headingOf }: MarkdownDocument,
  title: string,
): { title?: Heading; rest: readonly Token[] } {
  const [first, ...rest] = tokens;
  const heading = first && headingOf.get(first);
  return heading?.depth === 1 && isTitle(heading.text, title) ? { title: heading, rest } : { rest: tokens };
}

function infoOf(document: TitledText): TDocumentDefinitions['info'] {
  const modified = dateOf(document.updated) ?? dateOf(document.date) ?? new Date(0);
  return {
    title: document.title,
    ...(document.authors.length > 0 ? { author: document.authors.join(', ') } : {}),
    ...(document.description ? { subject: document.description } : {}),
    ...(document.tags.length > 0 ? { keywords: document.tags.map(({ title }) => title).join(', ') } : {}),
    creator: 'Runner',
    producer: 'Runner',
    creationDate: dateOf(document.date) ?? modified,
    modDate: modified,
  };
}

/** A date without a time is midnight UTC, on every machine. */
function dateOf(text: string | null): Date | undefined {
  const date = text ? new Date(/T.*(Z|[+-]\d\d:?\d\d)$|^[^T]*$/i.test(text) ? text : `${text}Z`) : undefined;
  return date && !Number.isNaN(date.getTime()) ? date : undefined;
}

/** The title at the head of each page except the first, and the page number on the other side of its foot. */
function runningLines(document: TitledText, type: Typesetter) {
  const look = { fontSize: 8, color: colors.faint };
  const direction = directionOfDocument(document);
  const title = textPiece(shortened(document.title, 90));
  // PDFMake measures each page on its own, so each page needs its own runs.
  const header = () => directedText([title], { type, width: type.textWidth, look }, direction);
  header();
  const { left, right } = margins;
  return {
    header: (number: number) =>
      number === 1 ? undefined : { ...header(), ...look, margin: [left, 38, right, 0] },
    footer: (number: number, count: number) => ({
      text: type.runs([textPiece(`${number} / ${count}`)], look.fontSize),
      ...look,
      alignment: direction === 'rtl' ? 'left' : 'right',
      margin: [left, 30, right, 0],
    }),
  };
}

function shortened(text: string, length: number): string {
  const signs = [...text];
  return signs.length <= length ? text : `${signs.slice(0, length - 1).join('')}…`;
}
