import type { CollectionDefinition } from '../content/collection.ts';
import type { ContentProblem, Document, DocumentMetadata } from '../content/document.ts';

/**
 * What is known of the library, for reading. One interface for both engines, SQLite and PostgreSQL: the same calls
 * give the same documents, totals and tiers of relevance on both. Each call sees one state of the library.
 * Calls reject with `IndexUnavailable` while the store is away.
 */
export interface DocumentIndex {
  /** Grows whenever something that readers can see has changed. Answers may be kept for as long as it is the same. */
  readonly generation: number;
  /** Newest `date` first, documents without one last, then by slug. */
  list(query: ListQuery): Promise<DocumentPage>;
  /** In order of relevance. Finds nothing where the query has no word; rejects with `QueryError` where it is too long. */
  search(query: SearchQuery): Promise<SearchPage>;
  /** The document with its text, a draft too: who may see drafts is the caller's business. */
  read(slug: string): Promise<Document | undefined>;
  /** Without their texts, drafts too, in the order asked for; what is not there is left out. */
  metadataOf(slugs: readonly string[]): Promise<readonly LocatedMetadata[]>;
  /** All that match, drafts too, in the given order: the documents of a collection by query. */
  select(selection: Selection): Promise<readonly LocatedMetadata[]>;
  /** The slugs of documents by the paths of their files, as far as there are such documents that are no drafts. */
  slugsOf(paths: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Slugs that resemble a wrong one, the nearest first; drafts are left out. */
  nearSlugs(slug: string, limit: number): Promise<readonly string[]>;
  /** Slugs that begin so, in their order; drafts are left out. */
  slugsFrom(prefix: string, limit: number): Promise<readonly string[]>;
  /** In the order of their names. */
  collections(): Promise<readonly CollectionDefinition[]>;
  summary(): Promise<IndexSummary>;
  /** Called after each change that readers can see, also one that another process made. */
  onDidChange(listener: () => void): { dispose(): void };
  close(): Promise<void>;
}

/** The one that keeps the index as the files are. */
export interface IndexWriter {
  /** What the index was made from, so that only files that changed are read again. */
  files(): Promise<IndexedFiles>;
  /** Which index this is. One that was deleted and made anew is another one, and empty. */
  birth(): Promise<string>;
  /**
   * All of it or nothing, in one transaction; readers see the state before or the state after. Many documents are given
   * in pieces of about 500, so that the next change does not wait for long.
   */
  apply(changes: IndexChanges): Promise<void>;
}

/** The right to index, which one instance of all that share the database has. */
export interface WriterLease {
  /** Aborts when the lease is lost, because the connection that holds it has broken. */
  readonly lost: AbortSignal;
  dispose(): Promise<void>;
}

export interface DocumentFilter {
  readonly type?: string;
  /** The slug of a tag. */
  readonly tag?: string;
  /** Whether drafts are seen too. */
  readonly drafts: boolean;
}

export interface Paging {
  readonly limit: number;
  readonly offset: number;
}

export type ListQuery = DocumentFilter & Paging;

export type SearchQuery = ListQuery & {
  /** As the reader wrote it; `index/query.ts` has its grammar. */
  readonly text: string;
};

export interface Selection {
  readonly type?: string;
  readonly tag?: string;
  readonly order: 'date' | '-date' | 'title';
}

export interface LocatedMetadata extends DocumentMetadata {
  readonly path: string;
}

export interface DocumentPage {
  readonly items: readonly DocumentMetadata[];
  /** How many there are on all pages. */
  readonly total: number;
}

export interface SearchPage {
  readonly items: readonly SearchHit[];
  /** At most 2,000. */
  readonly total: number;
  /** More matched than were ranked. */
  readonly approximate: boolean;
}

export interface SearchHit {
  readonly document: DocumentMetadata;
  /** An excerpt of the text around the words that were found, in Markdown; a code fence in it is whole. */
  readonly snippet: string;
}

export interface IndexSummary {
  /** What a reader without drafts sees. */
  readonly documents: number;
  readonly problems: readonly ContentProblem[];
  /** Whether all files were read at least once since the index was made. */
  readonly whole: boolean;
}

/** What the index was made from, in one state of it. */
export interface IndexedFiles {
  readonly birth: string;
  readonly whole: boolean;
  /** In the order of their paths. */
  readonly files: readonly IndexedFile[];
}

/** A file as it was when it was indexed. */
export interface IndexedFile {
  readonly path: string;
  readonly size: number;
  /** Milliseconds since 1970, whole. */
  readonly modified: number;
  readonly contentHash: string;
  /** What the file claims, also where another file with the same slug is the one that is served. */
  readonly slug: string | null;
  /** What is wrong with it, also where it is served all the same. */
  readonly problem: string | null;
}

export interface IndexChanges {
  /** Which index the changes are for. Rejects with `IndexUnavailable`, and changes nothing, where it is another one. */
  readonly birth?: string;
  /** New or changed documents; the slug says which one is replaced. */
  readonly put?: readonly Document[];
  /** Slugs of documents that are gone. Applied before `put`. */
  readonly remove?: readonly string[];
  readonly putFiles?: readonly IndexedFile[];
  readonly removeFiles?: readonly string[];
  /** All collections, in place of those before. */
  readonly collections?: readonly CollectionDefinition[];
  /** Problems that are not those of one file in `files`: of collections, and slugs that they name in vain. */
  readonly collectionProblems?: readonly ContentProblem[];
  /** From now on the index is whole. */
  readonly whole?: true;
}

/** The database does not answer. The caller may try again. */
export class IndexUnavailable extends Error {
  override readonly name = 'IndexUnavailable';
}

/** What `apply` rejects with where the index is not the one that the changes are for. */
export function indexIsAnother(): IndexUnavailable {
  return new IndexUnavailable('The index was deleted, and is made anew from the files.');
}

/** A search that is too much to ask, with a sentence for who wrote it. */
export class QueryError extends Error {
  override readonly name = 'QueryError';
}
