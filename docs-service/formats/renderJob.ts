import type { CollectionDefinition } from '../content/collection.ts';
import type { Document } from '../content/document.ts';

/** What a render worker is asked for. It is cloned into the worker, so it is data alone. */
export type RenderJob = PdfJob | EpubJob | HtmlJob | MarkdownJob | PartsJob;

interface Rendering {
  /** The content folder, absolute. Pictures are read from inside of it, and from nowhere else. */
  readonly content: string;
  /**
   * Where a link to another document leads, by the path of its file from the content folder. A document that is not
   * here is not linked: its text stays.
   */
  readonly targets: Readonly<Record<string, string>>;
}

export interface PdfJob extends Rendering {
  readonly kind: 'pdf';
  readonly document: Document;
  /** Folders with the fonts of the program and those that are looked through for other scripts. */
  readonly fonts: readonly string[];
}

export interface EpubJob extends Rendering {
  readonly kind: 'epub';
  readonly collection: CollectionDefinition;
  /** Its chapters, in order; never a draft. */
  readonly documents: readonly Document[];
}

export interface HtmlJob extends Rendering {
  readonly kind: 'html';
  readonly document: Document;
  /** A whole page, or the `<article>` of a reading page, whose links lead to other reading pages. */
  readonly form: 'page' | 'article';
}

/** The Markdown as it was written, with raw HTML sanitised. */
export interface MarkdownJob {
  readonly kind: 'markdown';
  readonly document: Document;
}

/** The same Markdown, with where its blocks and sections begin, so that it can be read part by part. */
export interface PartsJob {
  readonly kind: 'parts';
  readonly document: Document;
}

export interface Rendered {
  readonly bytes: Uint8Array;
  /** What a reader of the result should know, such as a picture that could not be shown. For the log. */
  readonly notes: readonly string[];
}

/** A document that cannot be rendered within its bounds, with a sentence that says which. */
export class Unrenderable extends Error {
  override readonly name = 'Unrenderable';
}
