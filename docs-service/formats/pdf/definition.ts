import type { Token } from 'marked';
import type { TDocumentDefinitions } from 'pdfmake/interfaces';
import type { Document } from '../../content/document.ts';
import { resolveLink } from '../../content/links.ts';
import type { CodeColouring } from '../markdown/codeColouring.ts';
import { type Heading, isTitle, type MarkdownDocument } from '../markdown/markdown.ts';
import { UnrenderableError } from '../renderJob.ts';
import { blocksOf, notesBlocks } from './blocks.ts';
import { Bookmarks, contentsNodes } from './contents.ts';
import { directionOfDocument, markedLeftToRight } from './directions.ts';
import type { InlineContext, Mark } from './inlines.ts';
import { arrange, heightOf, type Scope } from './layout.ts';
import { directedText, type TextLook } from './paragraphs.ts';
import type { Pictures } from './pictures.ts';
import { colors, lineHeight, page, sizes, textHeight, textWidth } from './style.ts';
import type { Typesetter } from './typesetter.ts';

interface DefinitionInput {
  readonly document: Document;
  readonly markdown: MarkdownDocument;
  readonly targets: Readonly<Record<string, string>>;
  readonly type: Typesetter;
  readonly pictures: Pictures;
  readonly colouring: CodeColouring;
}

/** The definition of a document for PDFMake, without its fonts. */
export function documentDefinition(input: DefinitionInput): TDocumentDefinitions {
  const { document, markdown, type, pictures, colouring } = input;
  const bookmarks = new Bookmarks(markdown.headings);
  const inline = inlineContext(input, bookmarks);
  const scope: Scope = {
    document: markdown,
    inline,
    type,
    pictures,
    colouring,
    width: textWidth,
    indent: 0,
    look: { fontSize: sizes.body },
    placeHeading: (heading) => bookmarks.place(heading),
  };
  const { title, rest } = withoutTitle(markdown, document.title);
  const titleId = title && bookmarks.nameOf(title.id);
  const blocks = [...blocksOf(rest, scope), ...notesBlocks(markdown.footnotes, scope)];
  checkLength(heightOf(blocks));
  const body = arrange(blocks);
  const content = [
    ...coverNodes(document, pictures),
    ...titleNodes(document, type, titleId),
    ...contentsNodes(bookmarks.placed, { document, type }),
    ...body,
  ];
  const definition = {
    pageSize: 'A4',
    pageMargins: [page.margins.left, page.margins.top, page.margins.right, page.margins.bottom],
    content,
    defaultStyle: { font: 'Text', fontSize: sizes.body, lineHeight, color: colors.text },
    images: pictures.images,
    info: infoOf(document),
    language: document.lang ?? 'en',
    displayTitle: true,
    compress: true,
    version: '1.7',
    ...runningLines(document, type),
  };
  // PDFMake's types require a class for each kind of node, but our nodes are plain objects.
  return definition as unknown as TDocumentDefinitions;
}

/** Each page takes a third of a megabyte while a document is made. */
const maxPages = 3000;

function checkLength(height: number): void {
  if (height <= maxPages * textHeight) return;
  throw new UnrenderableError(
    `As a PDF the document would have more than ${maxPages.toLocaleString('en')} pages. Split it into several documents.`,
  );
}

function inlineContext(
  { document, markdown, targets }: DefinitionInput,
  bookmarks: Bookmarks,
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
      const path = target.documents.find((candidate) => Object.hasOwn(targets, candidate));
      if (path === undefined) return {};
      const fragment = target.fragment ? `#${encodeURIComponent(target.fragment.toLowerCase())}` : '';
      return { link: `${targets[path]}${fragment}` };
    },
    footnoteOf(token) {
      const mark = markdown.footnoteOf.get(token);
      if (!mark) return undefined;
      const id = mark.occurrence === 1 ? { id: `note-mark:${mark.number}` } : {};
      const destination = `note:${mark.number}`;
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

function infoOf(document: Document): TDocumentDefinitions['info'] {
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
function runningLines(document: Document, type: Typesetter) {
  const look = { fontSize: 8, color: colors.faint };
  const direction = directionOfDocument(document);
  const title = { kind: 'text', text: shortened(document.title, 90), mark: {} } as const;
  // PDFMake measures each page on its own, so each page needs its own runs.
  const header = () => directedText([title], { type, width: textWidth, look }, direction);
  header();
  const { left, right } = page.margins;
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

/** Title, description, authors and date over a rule. */
function titleNodes(document: Document, type: Typesetter, id: string | undefined): Record<string, unknown>[] {
  const direction = directionOfDocument(document);
  const text = (content: string, look: TextLook, mark: Mark = {}) => ({
    ...directedText([{ kind: 'text', text: content, mark }], { type, width: textWidth, look }, direction),
    ...look,
  });
  const { title, description } = document;
  const date = dateLine(document);
  const byline = [document.authors.join(', '), date && markedLeftToRight(date)].filter(Boolean).join('  ·  ');
  const rule = { type: 'line', x1: 0, y1: 0, x2: textWidth, y2: 0, lineWidth: 0.8, lineColor: colors.rule };
  return [
    { ...text(title, { fontSize: 25 }, { bold: true }), lineHeight: 1.06, ...(id ? { id } : {}) },
    ...(description
      ? [{ ...text(description, { fontSize: 12, color: colors.quiet }), margin: [0, 7, 0, 0] }]
      : []),
    ...(byline ? [{ ...text(byline, { fontSize: 9, color: colors.faint }), margin: [0, 9, 0, 0] }] : []),
    { canvas: [rule], margin: [0, 13, 0, 16] },
  ];
}

/** The cover picture from the front matter, above the title, which stays on the same page. */
function coverNodes({ cover }: Document, pictures: Pictures): Record<string, unknown>[] {
  const box = { width: textWidth, height: textHeight * coverShare };
  const picture = cover === null ? undefined : pictures.placeFile(cover, box);
  if (!picture) return [];
  const { node, width, height } = picture;
  return [{ ...node, width, height, margin: [0, 0, 0, 20] }];
}

/** As a share of the page's height. */
const coverShare = 0.45;

/** The date in the style of the document's language; the date of its last change if there is one. */
function dateLine({ date, updated, lang }: Document): string {
  const text = updated ?? date;
  const time = text ? new Date(text) : undefined;
  if (!text || !time || Number.isNaN(time.getTime())) return '';
  const [year, month, day] = text.slice(0, 10).split('-').map(Number);
  if (!year || !month || !day) return text.slice(0, 10);
  return inWords(Date.UTC(year, month - 1, day), lang);
}

function inWords(time: number, lang: string | null): string {
  try {
    return new Intl.DateTimeFormat(lang ?? 'en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(time);
  } catch {
    // This Node does not know the language.
    return new Date(time).toISOString().slice(0, 10);
  }
}
