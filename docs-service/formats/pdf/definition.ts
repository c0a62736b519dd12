import type { Token } from 'marked';
import type { TDocumentDefinitions } from 'pdfmake/interfaces';
import type { Document } from '../../content/document.ts';
import { isTitle } from '../../content/headings.ts';
import { resolveLink } from '../../content/links.ts';
import type { CodeColouring } from '../markdown/codeColouring.ts';
import type { Heading, MarkdownDocument } from '../markdown/markdown.ts';
import { tryTarget, UnrenderableError } from '../renderJob.ts';
import { blocksOf, notesBlocks } from './blocks.ts';
import { directionOfDocument } from './directions.ts';
import type { InlineContext, Mark } from './inlines.ts';
import { arrange, heightOf, type LayoutScope } from './layout.ts';
import { Bookmarks, contentsNodes, coverNodes, type TitledText, titleNodes } from './openingPages.ts';
import { directedText } from './paragraphs.ts';
import type { Pictures } from './pictures.ts';
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
  const bookmarks = new Bookmarks(markdown);
  const body = setBody(parts, {
    bookmarks,
    places: '',
    documentLink(path, fragment) {
      const link = tryTarget(targets, path, fragment);
      return link === undefined ? undefined : { link };
    },
  });
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

/** What is around the content: the format of the page, the properties of the file, and what runs over all pages. */
export function framed(
  content: readonly Record<string, unknown>[],
  about: TitledText,
  { type, pictures }: Pick<DefinitionParts, 'type' | 'pictures'>,
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
export function checkLength(height: number): void {
  if (height <= maxPages * textHeight) return;
  throw new UnrenderableError(
    `A PDF would have more than ${maxPages.toLocaleString('en')} pages. Split the document or the collection.`,
  );
}

interface Surroundings {
  readonly bookmarks: Bookmarks;
  /** Begins the names of places, so that no two documents of a book have one in common. */
  readonly places: string;
  /** Where a link to another document leads; undefined if it leads nowhere. */
  readonly documentLink: (
    path: string,
    fragment: string | null,
  ) => Pick<Mark, 'link' | 'destination'> | undefined;
}

/** The text of a document below its title. `title` is the heading that became the title. */
export function setBody(
  { document, markdown, type, pictures, colouring }: DefinitionParts,
  around: Surroundings,
): { readonly nodes: Record<string, unknown>[]; readonly height: number; readonly title?: Heading } {
  const scope: LayoutScope = {
    document: markdown,
    inline: inlineContext({ document, markdown }, around),
    places: around.places,
    type,
    pictures,
    colouring,
    width: type.textWidth,
    indent: 0,
    look: { fontSize: sizes.body },
    placeHeading: (heading) => around.bookmarks.place(heading),
  };
  const { title, rest } = withoutTitle(markdown, document.title);
  const blocks = [...blocksOf(rest, scope), ...notesBlocks(markdown.footnotes, scope)];
  return { nodes: arrange(blocks), height: heightOf(blocks), ...(title ? { title } : {}) };
}

function inlineContext(
  { document, markdown }: Pick<DefinitionParts, 'document' | 'markdown'>,
  { bookmarks, places, documentLink }: Surroundings,
): InlineContext {
  return {
    linkOf(href): Pick<Mark, 'link' | 'destination'> {
      const target = resolveLink(href, document.path);
      if (target.kind === 'external') return { link: target.href };
      if (target.kind === 'fragment') {
        const destination = bookmarks.find(target.fragment);
        return destination ? { destination } : {};
      }
      if (target.kind === 'none') return {};
      const links = target.documents.map((path) => documentLink(path, target.fragment));
      return links.find((one) => one !== undefined) ?? {};
    },
    places: [],
    placeOf: (id) => bookmarks.tryNew(id),
    footnoteOf(token) {
      const mark = markdown.footnoteOf.get(token);
      if (!mark) return undefined;
      const id = mark.occurrence === 1 ? { id: `${places}note-mark:${mark.number}` } : {};
      const destination = `${places}note:${mark.number}`;
      return { kind: 'text', text: String(mark.number), mark: { small: 'sup', destination }, ...id };
    },
  };
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
  const title = { kind: 'text', text: shortened(document.title, 90), mark: {} } as const;
  // PDFMake measures each page on its own, so each page needs its own runs.
  const header = () => directedText([title], { type, width: type.textWidth, look }, direction);
  header();
  const { left, right } = margins;
  return {
    header: (number: number) =>
      number === 1 ? undefined : { ...header(), ...look, margin: [left, 38, right, 0] },
    footer: (number: number, count: number) => ({
      text: type.runs([{ kind: 'text', text: `${number} / ${count}`, mark: {} }], look.fontSize),
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
