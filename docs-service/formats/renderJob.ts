import type { CollectionDefinition } from '../content/collectionFile.ts';
import type { ContentPlaces } from '../content/contentPlaces.ts';
import type { Document } from '../content/document.ts';
import { visibleText } from './markdown/xmlText.ts';

/** The work for a render worker. It is cloned into the worker, so it contains only data. */
export type RenderJob =
  | PdfJob
  | PdfBookJob
  | EpubJob
  | HtmlJob
  | MarkdownJob
  | PartsJob
  | ShownJob
  | PictureJob;

interface DocumentJob<Kind extends string> {
  readonly kind: Kind;
  readonly document: Document;
}

interface BookJob<Kind extends string> extends RenderOptions {
  readonly kind: Kind;
  readonly collection: CollectionDefinition;
  /** Its chapters, in order; never a draft. */
  readonly documents: readonly Document[];
}

/** Pictures are read only from inside these folders. */
interface RenderOptions extends ContentPlaces {
  /**
   * Where links to other documents lead, by their paths from the content folder. A document that is missing here is not
   * linked: only its text stays. Places in them are there, too, if they have other ids than the links say.
   */
  readonly targets: Readonly<Record<string, string>>;
}

/** The address of a document, or of a place in it that a fragment names; undefined if it has none. */
export function tryTarget(
  targets: RenderOptions['targets'],
  path: string,
  fragment: string | null,
): string | undefined {
  const address = Object.hasOwn(targets, path) ? targets[path] : undefined;
  if (address === undefined || !fragment) return address;
  const place = placeKey(path, fragment);
  if (Object.hasOwn(targets, place)) return targets[place];
  return `${address}#${encodeURIComponent(fragment.toLowerCase())}`;
}

export function placeKey(path: string, fragment: string): string {
  return `${path}#${fragment}`;
}

export type Paper = 'a4' | 'letter';

interface PrintOptions {
  readonly paper: Paper;
  /** Folders with the fonts of the program, and those that are searched for other scripts. */
  readonly fonts: readonly string[];
}

export type PdfJob = DocumentJob<'pdf'> & RenderOptions & PrintOptions;
export type PdfBookJob = BookJob<'pdfBook'> & PrintOptions;
export type EpubJob = BookJob<'epub'>;

export interface HtmlJob extends DocumentJob<'html'>, RenderOptions {
  /**
   * A whole page, or the `<article>` of a reading page, whose links lead to other reading pages. Strangers get an open
   * one, which has no other formats.
   */
  readonly form: 'page' | 'article' | 'openArticle';
  /** Stands before the addresses of pages that an article links to, such as `/library`; may be empty. */
  readonly root: string;
}

/** The Markdown as it was written, with raw HTML sanitised. */
export interface MarkdownJob extends DocumentJob<'markdown'> {
  /** The absolute addresses of other documents, by their paths. Other links stay as they were written. */
  readonly targets: Readonly<Record<string, string>>;
  /** Those of pictures, by their paths; they count only for what the document shows. */
  readonly pictures: Readonly<Record<string, string>>;
}

/** The same Markdown with the places where its blocks and sections begin, so that it can be read in parts. */
export type PartsJob = DocumentJob<'parts'>;

/**
 * What pages show of a document, in Markdown, so that strangers find it by nothing else; and the pictures that it
 * shows.
 */
export type ShownJob = DocumentJob<'shownText' | 'pictureList'>;

/** One picture of the content folder; an SVG is sanitised. */
export interface PictureJob extends ContentPlaces {
  readonly kind: 'picture';
  /** From the content folder. */
  readonly path: string;
  readonly mediaType: string;
}

export interface RenderedDocument {
  readonly bytes: Uint8Array;
  /** What a reader of the result should know, such as a picture that could not be shown. For the log. */
  readonly notes: readonly string[];
}

/** A document that cannot be rendered within its bounds, with a sentence that says which. */
export class UnrenderableError extends Error {
  override readonly name = 'UnrenderableError';
}

/** Where a Markdown text may be cut. All places are in UTF-16 units from its beginning. */
export interface MarkdownParts<Places = readonly number[]> {
  readonly sections: readonly MarkdownSection[];
  /** Where the blocks begin: paragraphs, headings, tables, lists, code. Ascending. */
  readonly blocks: Places;
  /** Where a line begins that does not continue a code fence. Ascending; for blocks that are too long. */
  readonly lines: Places;
}

/** A document that is read in parts. */
export interface DocumentParts<Places = Uint32Array> extends MarkdownParts<Places> {
  readonly markdown: string;
}

/** A heading outside of quotes and lists, with everything up to the next heading of its depth or above. */
export interface MarkdownSection {
  /** 1 to 6. */
  readonly depth: number;
  /** Without its marks. */
  readonly text: string;
  /** As GitHub makes it, unique in the document. */
  readonly id: string;
  readonly start: number;
  readonly end: number;
}

/** For `readParts`. A long document has a million lines: reading them as JSON text would take too long. */
export function encodeParts(markdown: string, { sections, blocks, lines }: MarkdownParts): Uint8Array {
  const encode = (places: readonly number[]) =>
    Buffer.from(Uint32Array.from(places).buffer).toString('base64');
  const parts: DocumentParts<string> = { markdown, sections, blocks: encode(blocks), lines: encode(lines) };
  return new TextEncoder().encode(JSON.stringify(parts));
}

/** Reads what the render worker wrote. */
export function readParts(bytes: Uint8Array): DocumentParts {
  const { blocks, lines, ...rest } = JSON.parse(new TextDecoder().decode(bytes)) as DocumentParts<string>;
  return { ...rest, blocks: decode(blocks), lines: decode(lines) };
}

function decode(places: string): Uint32Array {
  return new Uint32Array(Uint8Array.from(Buffer.from(places, 'base64')).buffer);
}

/**
 * What the contents of a book call its documents: their titles. If several have the same title, each has its file
 * behind it, with as many folders as tell them apart. Strangers see no folders, but they know the slugs.
 */
export function chapterTitles(
  documents: readonly Pick<Document, 'title' | 'path' | 'slug'>[],
  { isOpen = false }: { readonly isOpen?: boolean } = {},
): readonly string[] {
  const chapters = documents.map(({ title, path, slug }) => ({
    title: visibleText(title) || slug,
    places: isOpen ? [slug] : placesOf(path),
  }));
  const titles = counted(chapters.map(({ title }) => title));
  const names = chapters.map(({ title, places }) => places.map((place) => `${title} · ${place}`));
  const uses = counted(names.flat());
  return chapters.map(({ title }, at) => {
    if (titles.get(title) === 1) return title;
    return names[at]?.find((name) => uses.get(name) === 1) ?? names[at]?.at(-1) ?? title;
  });
}

/** The file without its ending, then the same with the folders above it, one by one. */
function placesOf(path: string): string[] {
  const steps = path.replace(/\.[^./]*$/, '').split('/');
  return steps.map((_, above) => steps.slice(-1 - above).join('/')).slice(0, maxSteps);
}

const maxSteps = 8;

function counted(texts: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

/** A collection may name a document twice. */
export function withoutRepeats(documents: readonly Document[]): readonly Document[] {
  const slugs = new Set<string>();
  return documents.filter(({ slug }) => !slugs.has(slug) && slugs.add(slug));
}
