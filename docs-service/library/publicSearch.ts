import { setTimeout as wait } from 'node:timers/promises';
import { SerialQueue } from '../../protocol/base/keyedWork.ts';
import { piecesOf } from '../base/database.ts';
import type { Document } from '../content/document.ts';
import {
  type DocumentIndex,
  type IndexChanges,
  type IndexedFile,
  IndexIncompleteError,
  IndexUnavailableError,
  type IndexWriter,
  type LocatedMetadata,
  type SearchPage,
  type SearchQuery,
} from '../search/documentIndex.ts';
import type { PublicLibrary } from './publicLibrary.ts';
import { createWholeIndex } from './wholeIndex.ts';

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

type OwnIndex = DocumentIndex & IndexWriter;

const pieceLength = 20;
/** Milliseconds for which a search waits for what has just changed. */
const patience = 10_000;

/**
 * The search of strangers: over an index of its own, which has what pages show of the public documents and nothing
 * else. So neither what is found nor its order says anything about other documents, or about what only sources have,
 * and a search does not keep the index of the library busy.
 */
export class PublicSearch {
  readonly #listening: { dispose(): void };
  #own: OwnIndex | undefined;
  /** The stamps of what is indexed, by slugs; undefined if that must be read. */
  #content: { readonly indexId: string; readonly stamps: Map<string, string> } | undefined;
  /** What the index has all of, and nothing else; undefined if that is not known. */
  #indexed: PublicLibrary | undefined;
  /** Changes are made one after another. */
  readonly #changes = new SerialQueue();
  #filling: Promise<void> | undefined;
  #isClosed = false;

  constructor(private readonly options: PublicSearchOptions) {
    this.#listening = options.index.onDidChange(() => void this.#follow());
    void this.#follow();
  }

  /** As the index searches. Rejects with `IndexIncompleteError` until all that is public was indexed once. */
  async search(query: Omit<SearchQuery, 'drafts' | 'near'>): Promise<SearchPage> {
    await this.catchUp();
    return this.#open()
      .search({ ...query, drafts: false })
      .catch((error: Error) => {
        // Somebody may have deleted the file.
        if (error instanceof IndexIncompleteError) this.#forget();
        throw error;
      });
  }

  /** Waits a moment for what has just become public, and takes out what is public no more. */
  async catchUp(): Promise<void> {
    const { readPublic } = this.options;
    if ((await readPublic()) !== this.#indexed)
      await Promise.race([this.#follow(), wait(patience, undefined, { ref: false })]);
    const library = await readPublic();
    if (library !== this.#indexed) await this.#withdraw(library);
  }

  /** What strangers may read of a document, in Markdown. Undefined if it is not public, or not indexed yet. */
  async textOf(slug: string): Promise<string | undefined> {
    const { bySlug } = await this.options.readPublic();
    return bySlug.has(slug) ? (await this.#open().read(slug))?.body : undefined;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#listening.dispose();
    await this.#filling;
    await this.#own?.close();
  }

  #open(): OwnIndex {
    this.#own ??= createWholeIndex(this.options.open());
    return this.#own;
  }

  /** Never rejects. */
  #follow(): Promise<void> {
    this.#filling ??= this.#fill()
      .catch((error: Error) => {
        // Where the index is not whole yet, or away, its next change begins this again.
        if (!this.#isClosed && !(error instanceof IndexUnavailableError)) this.options.onError(error);
      })
      .finally(() => {
        this.#filling = undefined;
      });
    return this.#filling;
  }

  /** Indexes what is public and is not indexed yet, and begins again with whatever has changed meanwhile. */
  async #fill(): Promise<void> {
    const { readPublic } = this.options;
    for (;;) {
      const library = await readPublic();
      const isOver =
        library === this.#indexed || (this.#own === undefined && library.collections.length === 0);
      if (isOver || this.#isClosed) return;
      const missing = await this.#withdraw(library);
      const isCurrent = async () => !this.#isClosed && (await readPublic()) === library;
      for (const piece of piecesOf(missing, pieceLength))
        if (await isCurrent()) await this.#put(library, await this.#read(piece));
      if (!(await isCurrent())) continue;
      await this.#change((_stamps, apply) => apply({ isComplete: true }));
      this.#indexed = library;
    }
  }

  async #read(piece: readonly LocatedMetadata[]): Promise<readonly Document[]> {
    const documents: Document[] = [];
    for (const { slug } of piece) {
      const document = await this.options.index.read(slug);
      if (document === undefined || document.draft) continue;
      documents.push({ ...document, body: await this.options.textOf(document) });
    }
    return documents;
  }

  /** Takes out what is no longer public, or is no longer as it was indexed. Returns what is public and missing. */
  #withdraw({ bySlug, documents }: PublicLibrary): Promise<readonly LocatedMetadata[]> {
    return this.#change(async (stamps, apply) => {
      const remove = [...stamps].flatMap(([slug, stamp]) => {
        const current = bySlug.get(slug);
        return current && this.#stampOf(current) === stamp ? [] : [slug];
      });
      for (const slug of remove) stamps.delete(slug);
      if (remove.length > 0) await apply({ remove, removeFiles: remove });
      return documents.filter(({ slug }) => !stamps.has(slug));
    });
  }

  /** Takes those in that are still public, and are as they were read. */
  #put(library: PublicLibrary, documents: readonly Document[]): Promise<void> {
    return this.#change(async (stamps, apply) => {
      const isSame = (await this.options.readPublic()) === library;
      const put = documents.filter((document) => {
        const current = isSame ? library.bySlug.get(document.slug) : undefined;
        return current && this.#stampOf(current) === this.#stampOf(document);
      });
      const putFiles = put.map((document) => fileOf(document.slug, this.#stampOf(document)));
      for (const { path, look } of putFiles) stamps.set(path, look);
      if (put.length > 0) await apply({ put, putFiles });
    });
  }

  #change<Value>(
    work: (stamps: Map<string, string>, apply: (changes: IndexChanges) => Promise<void>) => Promise<Value>,
  ): Promise<Value> {
    return this.#changes.run('', async () => {
      const index = this.#open();
      try {
        if (this.#content === undefined) {
          const { indexId, files } = await index.files();
          this.#content = { indexId, stamps: new Map(files.map(({ path, look }) => [path, look])) };
        }
        const { indexId, stamps } = this.#content;
        return await work(stamps, (changes) => index.apply({ indexId, ...changes }));
      } catch (error) {
        this.#forget();
        throw error;
      }
    });
  }

  #forget(): void {
    this.#content = undefined;
    this.#indexed = undefined;
  }

  /** Changes with everything that is indexed of a document. */
  #stampOf({ path, slug, contentHash }: LocatedMetadata): string {
    return `${contentHash} ${this.options.version} ${slug} ${path}`;
  }
}

/** A row for the stamp of a document. */
function fileOf(slug: string, stamp: string): IndexedFile {
  const nothing = { contentHash: '', slug: null, problem: null, warnings: [] };
  return { path: slug, look: stamp, ...nothing };
}
