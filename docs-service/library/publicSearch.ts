import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Document } from '../content/document.ts';
import type {
  DocumentIndex,
  IndexChanges,
  IndexedFile,
  IndexWriter,
  LocatedMetadata,
  SearchPage,
  SearchQuery,
} from '../search/documentIndex.ts';
import { createWholeIndex } from '../search/wholeIndex.ts';
import type { PublicLibrary } from './publicLibrary.ts';

export interface PublicSearchOptions {
  readonly index: DocumentIndex;
  readonly readPublic: () => Promise<PublicLibrary>;
  /** An index for nothing else. Called when something is public for the first time. */
  readonly open: () => DocumentIndex & IndexWriter;
  /** What pages show of a document, in Markdown; empty if it cannot be shown. */
  readonly textOf: (document: Document) => Promise<string>;
  /** Changes with what `textOf` returns for the same document. */
  readonly version: string;
  readonly onError: (error: Error) => void;
}

interface OwnIndex {
  readonly index: DocumentIndex & IndexWriter;
  readonly whole: DocumentIndex;
}

interface Content {
  readonly indexId: string;
  /** Of the indexed documents, by their slugs. */
  readonly stamps: Map<string, string>;
}

/** Documents that are indexed in one step. */
const pieceLength = 20;
/** Milliseconds for which a search waits for what has just changed. */
const patience = 10_000;

/**
 * The search of strangers: over an index of its own, which has what pages show of the public documents and nothing
 * else. So neither what is found nor its order says anything about other documents, or about what only sources have,
 * and a search does not keep the index of the library busy.
 */
export class PublicSearch {
  readonly #options: PublicSearchOptions;
  readonly #listening: { dispose(): void };
  #own: OwnIndex | undefined;
  /** What is indexed; undefined if that must be read. */
  #content: Promise<Content> | undefined;
  /** Changes are made one after another. */
  #applied: Promise<void> = Promise.resolve();
  #filling: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: PublicSearchOptions) {
    this.#options = options;
    this.#listening = options.index.onDidChange(() => void this.#follow());
    void this.#follow();
  }

  /** As the index searches. Rejects with `IndexIncompleteError` until all that is public was indexed once. */
  async search(query: Omit<SearchQuery, 'drafts' | 'near'>): Promise<SearchPage> {
    await Promise.race([this.#follow(), wait(patience, undefined, { ref: false })]);
    const { whole } = this.#open();
    await this.#withdraw(await this.#options.readPublic());
    return whole.search({ ...query, drafts: false });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#listening.dispose();
    await this.#filling;
    await this.#own?.index.close();
  }

  #open(): OwnIndex {
    if (this.#own !== undefined) return this.#own;
    const index = this.#options.open();
    this.#own = { index, whole: createWholeIndex(index) };
    return this.#own;
  }

  /** Never rejects. */
  #follow(): Promise<void> {
    this.#filling ??= this.#fill()
      .catch((error: Error) => {
        if (!this.#isClosed) this.#options.onError(error);
      })
      .finally(() => {
        this.#filling = undefined;
      });
    return this.#filling;
  }

  /** Indexes what is public and is not indexed yet. */
  async #fill(): Promise<void> {
    const { index, readPublic } = this.#options;
    while (!this.#isClosed) {
      const library = await readPublic();
      if (library.collections.length === 0 && this.#own === undefined) return;
      const { stamps } = await this.#withdraw(library);
      const missing = library.documents.filter(({ slug }) => !stamps.has(slug)).slice(0, pieceLength);
      const documents: Document[] = [];
      for (const { slug } of missing) {
        const document = await index.read(slug);
        if (document === undefined || document.draft) continue;
        documents.push({ ...document, body: await this.#options.textOf(document) });
      }
      const isNews = await this.#put(documents, missing.length === 0);
      // What is missing still has changed meanwhile, which is reported.
      if (missing.length === 0 || !isNews) return;
    }
  }

  /** Takes out what is no longer public, or is no longer as it was indexed. */
  async #withdraw({ documents }: PublicLibrary): Promise<Content> {
    const content = await this.#read();
    const current = new Map(documents.map((document) => [document.slug, this.#stampOf(document)]));
    const gone = [...content.stamps].flatMap(([slug, stamp]) => (current.get(slug) === stamp ? [] : [slug]));
    for (const slug of gone) content.stamps.delete(slug);
    if (gone.length > 0) this.#apply(content, { remove: gone, removeFiles: gone });
    await this.#applied;
    return content;
  }

  /** Whether any of them was still public, and as it was read. */
  async #put(documents: readonly Document[], isWhole: boolean): Promise<boolean> {
    const content = await this.#read();
    const { bySlug } = await this.#options.readPublic();
    const put = documents.filter((document) => {
      const current = bySlug.get(document.slug);
      return current !== undefined && this.#stampOf(current) === this.#stampOf(document);
    });
    for (const document of put) content.stamps.set(document.slug, this.#stampOf(document));
    const putFiles = put.map((document) => fileOf(document.slug, this.#stampOf(document)));
    this.#apply(content, { put, putFiles, ...(isWhole ? { isComplete: true } : {}) });
    await this.#applied;
    return put.length > 0;
  }

  #read(): Promise<Content> {
    const { index } = this.#open();
    const reading = (this.#content ??= this.#applied
      .catch(() => undefined)
      .then(() => index.files())
      .then(({ indexId, files }) => ({
        indexId,
        stamps: new Map(files.map(({ path, look }) => [path, look])),
      })));
    reading.catch(() => (this.#content = undefined));
    return reading;
  }

  /** After a failure, nobody knows what is indexed. */
  #apply({ indexId }: Content, changes: IndexChanges): void {
    const { index } = this.#open();
    this.#applied = this.#applied
      .catch(() => undefined)
      .then(() => index.apply({ indexId, ...changes }))
      .catch((error: Error) => {
        this.#content = undefined;
        throw error;
      });
    // Whoever waits for it gets the failure.
    this.#applied.catch(() => undefined);
  }

  #stampOf(document: LocatedMetadata): string {
    const { body, ...metadata }: LocatedMetadata & { readonly body?: string } = document;
    const stamp = createHash('sha256').update(JSON.stringify([this.#options.version, metadata]));
    return stamp.digest('base64url');
  }
}

/** A row for the stamp of a document. */
function fileOf(slug: string, stamp: string): IndexedFile {
  const nothing = { contentHash: '', slug: null, problem: null, warnings: [] };
  return { path: slug, look: stamp, ...nothing };
}
