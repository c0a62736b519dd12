import { LruCache } from '../base/lruCache.ts';
import type { ContentFolder } from '../content/contentFolder.ts';
import type { ContentPlaces } from '../content/contentPlaces.ts';
import type { Document } from '../content/document.ts';
import type { LibraryCollection } from '../library/libraryCollections.ts';
import type { DocumentIndex } from '../search/documentIndex.ts';
import type { PictureType } from './markdown/pictureType.ts';
import { type FoundFiles, type PictureFile, ReferencedFiles } from './referencedFiles.ts';
import type { Renderer } from './renderer.ts';
import {
  type HtmlJob,
  type MarkdownJob,
  type Paper,
  type PartsJob,
  type RenderJob,
  UnrenderableError,
} from './renderJob.ts';
import { identityOf, type Rendition, RenditionMaker, type RenditionMakerOptions } from './renditionMaker.ts';

/** Formats with links to other documents. An article is part of a reading page. */
export type LinkingFormat = 'pdf' | 'html' | 'article' | 'markdown';

/** Markdown as it was written depends on nothing but its document. */
export class MarkdownRenditions {
  constructor(protected readonly texts: RenditionMaker) {}

  /** With raw HTML sanitised, for people. */
  source(document: Document): Rendition {
    return this.#alone({ kind: 'markdown', document, targets: {}, pictures: {} });
  }

  /** The same Markdown as JSON, with the places where it may be cut, for `readParts`. */
  parts(document: Document): Rendition {
    return this.#alone({ kind: 'parts', document });
  }

  #alone(job: MarkdownJob | PartsJob): Rendition {
    return this.texts.make(job, [identityOf(job.document)]);
  }
}

/** Each format looks up what it depends on besides the text, so that its entity tag changes with that. */
export class Renditions extends MarkdownRenditions {
  readonly #files: RenditionMaker;
  readonly #referenced: ReferencedFiles;
  /** The pictures that documents show, by the entity tags of their lists. */
  readonly #shown = new LruCache<ReadonlySet<string>>(maxPaths);

  constructor(
    private readonly options: Omit<RenditionMakerOptions, 'renderer'> & {
      readonly index: DocumentIndex;
      readonly folder: ContentFolder;
      /** For PDF and EPUB, which take long. */
      readonly files: Renderer;
      /** For Markdown and HTML, which never wait behind PDF and EPUB. */
      readonly texts: Renderer;
      /** The same object as long as no file of the folder has changed; undefined while nobody watches them. */
      readonly unchangedFiles?: () => object | undefined;
      readonly fonts: {
        readonly folders: readonly string[];
        /** Changes with the fonts that are found. */
        readonly fingerprint: string;
      };
      readonly addressOf: (slug: string, format: LinkingFormat) => string;
      /** Where a program gets a picture that a document shows. */
      readonly pictureAddress: (slug: string, path: string) => string;
      /** Stands before the addresses of the reading pages; empty if the service has the host to itself. */
      readonly root: string;
    },
  ) {
    super(new RenditionMaker({ ...options, renderer: options.texts }));
    const { index, folder, unchangedFiles = () => undefined } = options;
    this.#files = new RenditionMaker({ ...options, renderer: options.files });
    this.#referenced = new ReferencedFiles(index, folder, unchangedFiles);
  }

  /** The Markdown with absolute addresses of documents and pictures, for programs. */
  async markdown(document: Document): Promise<Rendition> {
    const identity = identityOf(document);
    const subject = this.texts.subject('linkedMarkdown', identity);
    const found = await this.#linked(document, 'markdown').catch(ifTooMany);
    const addressOf = ({ path }: PictureFile) => this.options.pictureAddress(document.slug, path);
    const pictures = Object.fromEntries(found.pictures.map((file) => [file.path, addressOf(file)]));
    const job: RenderJob = { kind: 'markdown', document, targets: found.targets, pictures };
    return this.texts.make(job, ['linked', identity, found.targets, pictures], subject);
  }

  html(document: Document): Promise<Rendition> {
    return this.#html(document, 'page');
  }

  /** The `<article>` of a reading page. */
  article(document: Document): Promise<Rendition> {
    return this.#html(document, 'article');
  }

  /** The same for strangers: links lead only to documents that they may read. */
  openArticle(document: Document, isPublic: (slug: string) => boolean): Promise<Rendition> {
    return this.#html(document, 'openArticle', isPublic);
  }

  /** What pages show of the document, in Markdown; empty if they cannot show it. It is not cached. */
  async shownText(document: Document): Promise<string> {
    try {
      const { bytes } = await this.options.texts.render({ kind: 'shownText', document });
      return new TextDecoder().decode(bytes);
    } catch (error) {
      if (error instanceof UnrenderableError) return '';
      throw error;
    }
  }

  /**
   * A picture that a document shows. Undefined if the document shows none at this path, or if no format could show it.
   * So no other file of the content folder has an address, even if a document names it.
   */
  async picture(document: Document, path: string): Promise<Rendition | undefined> {
    const mayShow = document.cover === path || this.#referenced.references(document).assets.includes(path);
    if (!mayShow || !(await this.#picturesIn(document)).has(path)) return undefined;
    const [file] = await this.#referenced.filesAt([path]);
    if (file?.type === undefined) return undefined;
    const mediaType = mediaTypes[file.type];
    return this.texts.make({ kind: 'picture', ...this.#places, path, mediaType }, [file.stamp]);
  }

  async pdf(document: Document, paper: Paper): Promise<Rendition> {
    const identity = identityOf(document);
    const subject = this.#files.subject('pdf', identity);
    const { targets, stamp } = await this.#linked(document, 'pdf');
    const { folders, fingerprint } = this.options.fonts;
    const job: RenderJob = { kind: 'pdf', paper, document, ...this.#places, targets, fonts: folders };
    return this.#files.make(job, [identity, stamp, fingerprint, paper], subject);
  }

  async epub(collection: LibraryCollection): Promise<Rendition> {
    const { subject, inputs, book } = await this.#book(collection, 'epub');
    return this.#files.make({ kind: 'epub', ...book }, inputs, subject);
  }

  /** All its documents in one file. */
  async collectionPdf(collection: LibraryCollection, paper: Paper): Promise<Rendition> {
    const { subject, inputs, book } = await this.#book(collection, 'pdfBook');
    const { folders, fingerprint } = this.options.fonts;
    const job: RenderJob = { kind: 'pdfBook', paper, ...book, fonts: folders };
    return this.#files.make(job, [...inputs, fingerprint, paper], subject);
  }

  get #places(): ContentPlaces {
    return this.options.folder.places;
  }

  async #html(document: Document, form: HtmlJob['form'], isPublic?: (slug: string) => boolean) {
    const { root } = this.options;
    const identity = identityOf(document);
    const subject = this.texts.subject(form, identity);
    const { targets, stamp } = await this.#linked(document, form === 'page' ? 'html' : 'article', isPublic);
    const job: RenderJob = { kind: 'html', form, document, ...this.#places, targets, root };
    return this.texts.make(job, [form, root, identity, stamp], subject);
  }

  #linked(document: Document, format: LinkingFormat, isPublic?: (slug: string) => boolean) {
    return this.#referenced.filesOf({
      document,
      format: isPublic === undefined ? format : 'openArticle',
      isLinked: isPublic,
      addressOf: (slug) => this.options.addressOf(slug, format),
      pictures: format === 'pdf' && document.cover !== null ? [document.cover] : [],
    });
  }

  /** Read by a worker, because only a parser can say what is a picture. */
  async #picturesIn(document: Document): Promise<ReadonlySet<string>> {
    const list = this.texts.make({ kind: 'pictureList', document }, [identityOf(document)]);
    const found = this.#shown.get(list.etag);
    if (found !== undefined) return found;
    const bytes = (await list.cached()) ?? (await list.render(new AbortController().signal));
    const shown = new Set<string>(JSON.parse(Buffer.from(bytes).toString()));
    this.#shown.set(list.etag, shown, shown.size + 1);
    return shown;
  }

  /** What the books of a collection have in common, in each format. */
  async #book({ definition, documents: chapters }: LibraryCollection, format: string) {
    if (chapters.length === 0)
      throw new UnrenderableError(`The collection "${definition.name}" has no documents that are published.`);
    const documents = await readAll(this.options.index, chapters);
    const identities = documents.map(identityOf);
    const subject = this.#files.subject(format, [definition, identities]);
    const pictures = new Set(documents.flatMap((document) => this.#referenced.references(document).assets));
    for (const { cover } of [definition, ...documents]) if (cover !== null) pictures.add(cover);
    const files = await this.#referenced.filesAt([...pictures]);
    const inputs = [definition, identities, files.map(({ stamp }) => stamp)];
    // Chapters link to each other; documents that are not in the book are not linked.
    return { subject, inputs, book: { collection: definition, documents, ...this.#places, targets: {} } };
  }
}

/** A document with more references than are looked up keeps its links as they were written. */
function ifTooMany(error: unknown): Pick<FoundFiles, 'targets' | 'pictures'> {
  if (error instanceof UnrenderableError) return { targets: {}, pictures: [] };
  throw error;
}

/** In bytes: the limit for the texts of a collection that become one book. */
const maxBookBytes = 100_000_000;

async function readAll(
  index: DocumentIndex,
  chapters: LibraryCollection['documents'],
): Promise<readonly Document[]> {
  const documents: Document[] = [];
  let size = 0;
  for (const { slug } of chapters) {
    const document = await index.read(slug);
    // The document may have disappeared, or become a draft, since the collection was looked up.
    if (document === undefined || document.draft) continue;
    documents.push(document);
    size += document.body.length;
    if (size > maxBookBytes)
      throw new UnrenderableError('The collection has more than 100 MB of text. Split it.');
  }
  return documents;
}

const maxPaths = 100_000;

const mediaTypes: Readonly<Record<PictureType, string>> = {
  png: 'image/png',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  svg: 'image/svg+xml; charset=utf-8',
};
