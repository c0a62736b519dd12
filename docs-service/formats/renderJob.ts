import type { CollectionDefinition } from '../content/collectionFile.ts';
import type { ContentPlaces } from '../content/contentPlaces.ts';
import type { Document } from '../content/document.ts';

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

interface BookJob<Kind extends string> extends Rendering {
  readonly kind: Kind;
  readonly collection: CollectionDefinition;
  /** Its chapters, in order; never a draft. */
  readonly documents: readonly Document[];
}

/** Pictures are read only from inside these folders. */
interface Rendering extends ContentPlaces {
  /**
   * Where links to other documents lead, by their paths from the content folder. A document that is missing here is not
   * linked: only its text stays. Places in them are there, too, if they have other ids than the links say.
   */
  readonly targets: Readonly<Record<string, string>>;
}

/** The address of a document, or of a place in it that a fragment names; undefined if it has none. */
export function tryTarget(
  targets: Rendering['targets'],
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

interface Printing {
  readonly paper: Paper;
  /** Folders with the fonts of the program, and those that are searched for other scripts. */
  readonly fonts: readonly string[];
}

export type PdfJob = DocumentJob<'pdf'> & Rendering & Printing;
export type PdfBookJob = BookJob<'pdfBook'> & Printing;
export type EpubJob = BookJob<'epub'>;

export interface HtmlJob extends DocumentJob<'html'>, Rendering {
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

export interface Rendered {
  readonly bytes: Uint8Array;
  /** What a reader of the result should know, such as a picture that could not be shown. For the log. */
  readonly notes: readonly string[];
}

/** A document that cannot be rendered within its bounds, with a sentence that says which. */
export class UnrenderableError extends Error {
  override readonly name = 'UnrenderableError';
}
