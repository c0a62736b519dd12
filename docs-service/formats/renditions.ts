import { LruCache } from '../base/lruCache.ts';
import type { ContentFolder } from '../content/contentFolder.ts';
import type { ContentPlaces } from '../content/contentPlaces.ts';
import type { Document } from '../content/document.ts';
import type { LibraryCollection } from '../library/libraryCollections.ts';
import type { DocumentIndex } from '../search/documentIndex.ts';
import type { PictureType } from './markdown/pictureType.ts';
import { createReferencedFiles, type ReferencedFiles } from './referencedFiles.ts';
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

export type Renditions = ReturnType<typeof createRenditions>;

interface RenditionsOptions extends Omit<RenditionMakerOptions, 'renderer'> {
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
}

/** Formats with links to other documents. An article is part of a reading page. */
export type LinkingFormat = 'pdf' | 'html' | 'article' | 'markdown';

export function createMarkdownRenditions(options: RenditionMakerOptions) {
  return markdownRenditions(new RenditionMaker(options));
}

/** Markdown as it was written depends on nothing but its document. */
function markdownRenditions(texts: RenditionMaker) {
  const alone = async (job: MarkdownJob | PartsJob) => texts.make(job, [identityOf(job.document)]);
  return {
    /** With raw HTML sanitised, for people. */
    source: (document: Document) => alone({ kind: 'markdown', document, targets: {}, pictures: {} }),
    /** The same Markdown as JSON, with the places where it may be cut, for `readParts`. */
    parts: (document: Document) => alone({ kind: 'parts', document }),
  };
}

/** Each format looks up what it depends on besides the text, so that its entity tag changes with that. */
export function createRenditions(options: RenditionsOptions) {
  const { index, folder, fonts, root, unchangedFiles = () => undefined } = options;
  const { places } = folder;
  const texts = new RenditionMaker({ ...options, renderer: options.texts });
  const files = new RenditionMaker({ ...options, renderer: options.files });
  const referenced = createReferencedFiles(index, folder, unchangedFiles);
  const { references, filesAt, filesOf } = referenced;

  const linked = (document: Document, format: LinkingFormat, isPublic?: (slug: string) => boolean) =>
    filesOf({
      document,
      format: isPublic === undefined ? format : 'openArticle',
      isLinked: isPublic,
      addressOf: (slug) => options.addressOf(slug, format),
      pictures: format === 'pdf' && document.cover !== null ? [document.cover] : [],
    });

  const htmlOf = async (document: Document, form: HtmlJob['form'], isPublic?: (slug: string) => boolean) => {
    const identity = identityOf(document);
    const subject = texts.subject(form, identity);
    const { targets, stamp } = await linked(document, form === 'page' ? 'html' : 'article', isPublic);
    const job: RenderJob = { kind: 'html', form, document, ...places, targets, root };
    return texts.make(job, [form, root, identity, stamp], subject);
  };

  const linkedMarkdown = async (document: Document): Promise<Rendition> => {
    const identity = identityOf(document);
    const subject = texts.subject('linkedMarkdown', identity);
    const found = await linked(document, 'markdown').catch(ifTooMany);
    const addresses = found.pictures.map(({ path }) => [path, options.pictureAddress(document.slug, path)]);
    const pictures = Object.fromEntries(addresses);
    const job: RenderJob = { kind: 'markdown', document, targets: found.targets, pictures };
    return texts.make(job, ['linked', identity, found.targets, pictures], subject);
  };

  /** What the books of a collection have in common, in each format. */
  const bookOf = async ({ definition, documents: chapters }: LibraryCollection, format: string) => {
    if (chapters.length === 0)
      throw new UnrenderableError(`The collection "${definition.name}" has no documents that are published.`);
    const documents = await readAll(index, chapters);
    const identities = documents.map(identityOf);
    const subject = files.subject(format, [definition, identities]);
    const pictures = new Set(documents.flatMap((document) => references(document).assets));
    for (const { cover } of [definition, ...documents]) if (cover !== null) pictures.add(cover);
    const inputs = [definition, identities, (await filesAt([...pictures])).map(({ stamp }) => stamp)];
    // Chapters link to each other; documents that are not in the book are not linked.
    return { subject, inputs, book: { collection: definition, documents, ...places, targets: {} } };
  };

  return {
    ...markdownRenditions(texts),
    /** The Markdown with absolute addresses of documents and pictures, for programs. */
    markdown: linkedMarkdown,
    picture: createDocumentPictures(referenced, texts, places),
    html: (document: Document) => htmlOf(document, 'page'),
    /** The `<article>` of a reading page. */
    article: (document: Document) => htmlOf(document, 'article'),
    /** The same for strangers: links lead only to documents that they may read. */
    openArticle: (document: Document, isPublic: (slug: string) => boolean) =>
      htmlOf(document, 'openArticle', isPublic),
    /** What pages show of the document, in Markdown; empty if they cannot show it. It is not cached. */
    async shownText(document: Document): Promise<string> {
      try {
        const { bytes } = await options.texts.render({ kind: 'shownText', document });
        return new TextDecoder().decode(bytes);
      } catch (error) {
        if (error instanceof UnrenderableError) return '';
        throw error;
      }
    },
    async pdf(document: Document, paper: Paper): Promise<Rendition> {
      const identity = identityOf(document);
      const subject = files.subject('pdf', identity);
      const { targets, stamp } = await linked(document, 'pdf');
      const job: RenderJob = { kind: 'pdf', paper, document, ...places, targets, fonts: fonts.folders };
      return files.make(job, [identity, stamp, fonts.fingerprint, paper], subject);
    },
    async epub(collection: LibraryCollection): Promise<Rendition> {
      const { subject, inputs, book } = await bookOf(collection, 'epub');
      return files.make({ kind: 'epub', ...book }, inputs, subject);
    },
    /** All its documents in one file. */
    async collectionPdf(collection: LibraryCollection, paper: Paper): Promise<Rendition> {
      const { subject, inputs, book } = await bookOf(collection, 'pdfBook');
      const job: RenderJob = { kind: 'pdfBook', paper, ...book, fonts: fonts.folders };
      return files.make(job, [...inputs, fonts.fingerprint, paper], subject);
    },
  };
}

/** A document with more references than are looked up keeps its links as they were written. */
function ifTooMany(error: unknown): Pick<ReferencedFiles, 'targets' | 'pictures'> {
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

/**
 * Finds a picture that a document shows. Undefined if the document shows none at this path, or if no format could show
 * it. So no other file of the content folder has an address, even if a document names it.
 */
function createDocumentPictures(
  { references, filesAt }: ReturnType<typeof createReferencedFiles>,
  texts: RenditionMaker,
  places: ContentPlaces,
): (document: Document, path: string) => Promise<Rendition | undefined> {
  const known = new LruCache<ReadonlySet<string>>(maxPaths);

  /** Read by a worker, because only a parser can say what is a picture. */
  const shownIn = async (document: Document): Promise<ReadonlySet<string>> => {
    const list = texts.make({ kind: 'pictureList', document }, [identityOf(document)]);
    const found = known.get(list.etag);
    if (found !== undefined) return found;
    const bytes = (await list.cached()) ?? (await list.render(new AbortController().signal));
    const shown = new Set<string>(JSON.parse(Buffer.from(bytes).toString()));
    known.set(list.etag, shown, shown.size + 1);
    return shown;
  };

  return async (document, path) => {
    const mayShow = document.cover === path || references(document).assets.includes(path);
    if (!mayShow || !(await shownIn(document)).has(path)) return undefined;
    const [file] = await filesAt([path]);
    if (file?.type === undefined) return undefined;
    const mediaType = mediaTypes[file.type];
    return texts.make({ kind: 'picture', ...places, path, mediaType }, [file.stamp]);
  };
}
