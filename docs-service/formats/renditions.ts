import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { LruCache } from '../base/lruCache.ts';
import type { ContentFolder } from '../content/contentFolder.ts';
import type { Document } from '../content/document.ts';
import type { LibraryCollection } from '../content/libraryCollections.ts';
import type { DocumentIndex } from '../search/documentIndex.ts';
import { createDependencies } from './dependencies.ts';
import type { Renderer } from './renderer.ts';
import { type RenderJob, Unrenderable } from './renderJob.ts';
import type { RenditionCache } from './renditionCache.ts';

/** A document or a collection in one format. Its entity tag is known before anything is rendered. */
export interface Rendition {
  /** Strong, with its quotes: it changes with everything that the bytes depend on. */
  readonly etag: string;
  readonly mediaType: string;
  /** In bytes; undefined if it is not in the cache. */
  cachedSize(): number | undefined;
  /** The file in the cache, which the caller closes. */
  openCached(): Promise<FileHandle | undefined>;
  cached(): Promise<Uint8Array | undefined>;
  /** Rejects with Unrenderable or RendererBusy. */
  render(signal: AbortSignal): Promise<Uint8Array>;
}

export interface Renditions {
  pdf(document: Document): Promise<Rendition>;
  markdown(document: Document): Promise<Rendition>;
  /** The same Markdown as JSON, with the places where it may be cut, for `readParts`. */
  parts(document: Document): Promise<Rendition>;
  /** A whole page. */
  html(document: Document): Promise<Rendition>;
  /** The `<article>` of a reading page. */
  article(document: Document): Promise<Rendition>;
  epub(collection: LibraryCollection): Promise<Rendition>;
}

export interface RenditionsOptions {
  readonly index: DocumentIndex;
  readonly folder: ContentFolder;
  /** For PDF and EPUB, which take long. */
  readonly files: Renderer;
  /** For Markdown and HTML, which never wait behind PDF and EPUB. */
  readonly texts: Renderer;
  readonly cache: RenditionCache;
  /** The same object as long as no file of the folder has changed; undefined while nobody watches them. */
  readonly unchangedFiles?: () => object | undefined;
  /** Changes with every version of the code that renders. */
  readonly version: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly fonts: {
    readonly folders: readonly string[];
    /** Changes with the fonts that are found. */
    readonly fingerprint: string;
  };
  /** Where a link to another document leads, in a PDF and in HTML. */
  readonly addressOf: (slug: string, format: LinkingFormat) => string;
  /** Called with something that a reader of the rendition should know, such as a picture that was left out. */
  readonly onNote: (note: string) => void;
}

/** Formats with links to other documents. An article is part of a reading page. */
export type LinkingFormat = 'pdf' | 'html' | 'article';

/** In bytes: the limit for the texts of a collection that become one book. */
const largestBook = 100_000_000;

/** Milliseconds for which an unrenderable document is not tried again, unless it changes. */
const failureLifetime = 300_000;
const rememberedFailures = 1_000;

interface Failure {
  readonly error: Unrenderable;
  readonly until: number;
}

export function createRenditions(options: RenditionsOptions): Renditions {
  const { index, folder, files, texts, unchangedFiles = () => undefined } = options;
  const content = folder.root;
  const { references, stampsOf, dependenciesOf } = createDependencies({ index, folder, unchangedFiles });
  const { renditionOf, textOf, refuseFailed } = createRenditionMaker({
    ...options,
    rendererOf: ({ kind }) => (kind === 'pdf' || kind === 'epub' ? files : texts),
  });

  const linked = (document: Document, format: LinkingFormat) =>
    dependenciesOf({
      document,
      format,
      addressOf: (slug) => options.addressOf(slug, format),
      pictures: format === 'pdf' && document.cover !== null ? [document.cover] : [],
    });

  const htmlOf = async (document: Document, form: 'page' | 'article') => {
    const subject = subjectOf(form, identity(document));
    refuseFailed(subject);
    const { targets, stamp } = await linked(document, form === 'page' ? 'html' : form);
    const job: RenderJob = { kind: 'html', form, document, content, targets };
    return renditionOf({ job, subject }, [form, identity(document), stamp], 'text/html; charset=utf-8');
  };

  return {
    async pdf(document) {
      const subject = subjectOf('pdf', identity(document));
      refuseFailed(subject);
      const { targets, stamp } = await linked(document, 'pdf');
      const { folders, fingerprint } = options.fonts;
      const job: RenderJob = { kind: 'pdf', document, content, targets, fonts: folders };
      return renditionOf({ job, subject }, [identity(document), stamp, fingerprint], 'application/pdf');
    },
    markdown: async (document) => textOf('markdown', document, 'text/markdown; charset=utf-8'),
    parts: async (document) => textOf('parts', document, 'application/json'),
    html: (document) => htmlOf(document, 'page'),
    article: (document) => htmlOf(document, 'article'),
    async epub({ definition, documents: chapters }) {
      if (chapters.length === 0)
        throw new Unrenderable(`The collection "${definition.name}" has no documents that are published.`);
      const documents = await readAll(index, chapters);
      const subject = subjectOf('epub', [definition, documents.map(identity)]);
      refuseFailed(subject);
      const pictures = new Set(documents.flatMap((document) => references(document).assets));
      for (const { cover } of [definition, ...documents]) if (cover !== null) pictures.add(cover);
      const stamps = await stampsOf([...pictures]);
      // Chapters link to each other; documents in other books are not linked.
      const job: RenderJob = { kind: 'epub', collection: definition, documents, content, targets: {} };
      return renditionOf(
        { job, subject },
        [definition, documents.map(identity), stamps],
        'application/epub+zip',
      );
    },
  };
}

/** For agents on standard input and output: what they read, without a cache on the disk. */
export function createPartsRenditions(texts: Renderer, now: () => number): Pick<Renditions, 'parts'> {
  const { textOf } = createRenditionMaker({ rendererOf: () => texts, now });
  return { parts: async (document) => textOf('parts', document, 'application/json') };
}

interface MakerOptions
  extends Pick<RenditionsOptions, 'now'>,
    Partial<Pick<RenditionsOptions, 'cache' | 'version' | 'onNote'>> {
  readonly rendererOf: (job: RenderJob) => Renderer;
}

/** Renders each work once for all who ask at the same time, and remembers for a while what cannot be rendered. */
function createRenditionMaker({ rendererOf, cache, version, now, onNote }: MakerOptions) {
  const failures = new LruCache<Failure>(rememberedFailures);
  // The renderer shares one rendering among all callers that pass the same job object.
  const jobs = new Map<string, RenderJob>();

  const renderShared = async ({ job, subject }: Work, etag: string, signal: AbortSignal) => {
    const shared = jobs.get(etag) ?? job;
    jobs.set(etag, shared);
    try {
      return await rendererOf(job).render(shared, signal);
    } catch (error) {
      // It would fail again, after as much work.
      if (error instanceof Unrenderable) failures.set(subject, { error, until: now() + failureLifetime }, 1);
      throw error;
    } finally {
      jobs.delete(etag);
    }
  };

  /** Throws if the subject could not be rendered a short time ago, before any file is looked at. */
  const refuseFailed = (subject: string): void => {
    const failure = failures.get(subject);
    if (failure !== undefined && failure.until > now()) throw failure.error;
  };

  const renditionOf = (work: Work, inputs: readonly unknown[], mediaType: string): Rendition => {
    const etag = etagOf([work.job.kind, version, ...inputs]);
    return {
      etag,
      mediaType,
      cachedSize: () => cache?.sizeOf(etag),
      openCached: async () => cache?.open(etag),
      cached: async () => cache?.get(etag),
      async render(signal) {
        refuseFailed(work.subject);
        const { bytes, notes } = await renderShared(work, etag, signal);
        for (const note of notes) onNote?.(note);
        await cache?.put(etag, bytes);
        return bytes;
      },
    };
  };

  const textOf = (kind: 'markdown' | 'parts', document: Document, mediaType: string): Rendition => {
    const work = { job: { kind, document }, subject: subjectOf(kind, identity(document)) };
    return renditionOf(work, [identity(document)], mediaType);
  };

  return { renditionOf, textOf, refuseFailed };
}

/** A job, and what it renders: the text that fails again, whatever its pictures are. */
interface Work {
  readonly job: RenderJob;
  readonly subject: string;
}

function subjectOf(format: string, text: readonly unknown[]): string {
  return digestOf([format, ...text]);
}

/** What the bytes of a document's rendition depend on. */
function identity({ path, slug, contentHash }: Document): readonly string[] {
  return [path, slug, contentHash];
}

function etagOf(inputs: readonly unknown[]): string {
  return `"${digestOf(inputs).slice(0, 32)}"`;
}

function digestOf(inputs: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(inputs)).digest('base64url');
}

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
    if (size > largestBook)
      throw new Unrenderable(`The collection has more than ${largestBook / 1_000_000} MB of text. Split it.`);
  }
  return documents;
}
