import { UnavailableError } from '../base/database.ts';
import type { CollectionDefinition } from '../content/collectionFile.ts';
import type {
  ContentProblem,
  ContentWarning,
  Document,
  DocumentMetadata,
  FileDetails,
  FileWarning,
} from '../content/document.ts';

/**
 * The indexed library, for reading: the same on SQLite and PostgreSQL. Each call sees one state of the library. Calls
 * reject with `IndexUnavailableError` while the database is down.
 */
export interface DocumentIndex {
  /** Grows whenever something that readers can see has changed. Answers may be cached while it stays the same. */
  readonly generation: number;
  /** Newest `date` first, equal ones by slug; then those without a date, by title and slug. */
  list(query: ListQuery): Promise<DocumentPage>;
  /** By relevance. Finds nothing if the query has no word; rejects with `QueryError` if the query is too long. */
  search(query: SearchQuery): Promise<SearchPage>;
  /** The document with its text, even a draft: the caller decides who may see drafts. */
  read(slug: string): Promise<Document | undefined>;
  /** Without their texts, with drafts, in the given order; missing documents are left out. */
  metadataOf(slugs: readonly string[]): Promise<readonly LocatedMetadata[]>;
  /** All that match, with drafts, in the given order: the documents of a collection by query. */
  select(selection: Selection): Promise<readonly LocatedMetadata[]>;
  /** The slugs of the documents at these paths; without drafts and missing documents. */
  slugsOf(paths: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /**
   * The slugs of the documents to which these other names lead (see `content/slug.ts`): for each name the document
   * that has it as its long form, or else the one nearest to the content folder that has it as its short form, or else
   * the first by path whose file has this name.
   */
  slugsNamed(
    names: readonly string[],
    reader: { readonly drafts: boolean },
  ): Promise<ReadonlyMap<string, string>>;
  /** When the texts of these documents were found to be other ones, in milliseconds since 1970. */
  changedAt(slugs: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Slugs that resemble a wrong one, the nearest first; drafts are left out. */
  nearSlugs(slug: string, limit: number): Promise<readonly string[]>;
  /** Slugs with this beginning, in order; drafts are left out. */
  slugsFrom(prefix: string, limit: number): Promise<readonly string[]>;
  /** The tags or types of documents, the most used first. */
  terms(kind: 'tag' | 'type', reader: { readonly drafts: boolean }): Promise<readonly Term[]>;
  collections(): Promise<readonly CollectionDefinition[]>;
  summary(): Promise<IndexSummary>;
  /**
   * The paths of the files that have a slug and no problem, but whose document is missing, or was made from another
   * content: none, unless the index is damaged.
   */
  lostFiles(): Promise<readonly string[]>;
  /** Called after each change that readers can see, even one from another process. */
  onDidChange(listener: () => void): { dispose(): void };
  close(): Promise<void>;
}

export type Queries = Omit<DocumentIndex, 'generation' | 'onDidChange' | 'close'>;

const readings = [
  ...(['list', 'search', 'read', 'metadataOf', 'select', 'slugsOf', 'slugsNamed', 'changedAt'] as const),
  ...(['nearSlugs', 'slugsFrom', 'terms', 'collections', 'summary', 'lostFiles'] as const),
] satisfies readonly (keyof Queries)[];

export function passOn(ask: (name: keyof Queries, asked: readonly unknown[]) => Promise<unknown>): Queries {
  const methods = readings.map((name) => [name, (...asked: readonly unknown[]) => ask(name, asked)]);
  return Object.fromEntries(methods) as Queries;
}

/** Keeps the index in step with the files. */
export interface IndexWriter {
  /** The files that the index was built from, so that only changed files are read again. */
  files(): Promise<IndexedFiles>;
  /** Identifies this index. A rebuilt index has another id, and is empty. */
  indexId(): Promise<string>;
  /**
   * All or nothing, in one transaction; readers see the state before or after it. Many documents are passed in pieces
   * of about 500, so that the next change does not wait long.
   */
  apply(changes: IndexChanges): Promise<void>;
}

/** The right to index, which only one of the instances that share the database has. */
export interface WriterLease {
  /** Aborts when the lease is lost because its connection has broken. */
  readonly lost: AbortSignal;
  dispose(): Promise<void>;
}

export interface DocumentFilter {
  readonly type?: string;
  /** The slug of a tag. */
  readonly tag?: string;
  /** The folder of the document or one above it, from the content folder, with a final slash. */
  readonly folder?: string;
  /** Only documents whose text has changed in this index since then; milliseconds since 1970. */
  readonly changedSince?: number;
  /** Whether drafts are included. */
  readonly drafts: boolean;
}

export interface Term {
  readonly slug: string;
  readonly title: string;
  readonly count: number;
}

export interface Paging {
  readonly limit: number;
  readonly offset: number;
}

export type ListQuery = DocumentFilter & Paging;

export type SearchQuery = ListQuery & {
  /** As the reader wrote it; `query.ts` has its grammar. */
  readonly text: string;
  /** What is near in meaning, which joins what the text finds. */
  readonly near?: Nearness;
};

export interface Nearness {
  /** The nearest first. Of a document the first one counts; `place` is that of `headings.ts`. */
  readonly sections: readonly { readonly slug: string; readonly place: number }[];
  /** So many of them count, of those whose documents pass the filters, the exclusions and the quoted phrases. */
  readonly count: number;
  /** Whether documents that only the text finds are left out. */
  readonly isAlone: boolean;
}

export interface Selection {
  readonly type?: string;
  readonly tag?: string;
  readonly order: 'date' | '-date' | 'title';
}

export interface LocatedMetadata extends DocumentMetadata {
  readonly path: string;
}

export interface DocumentPage {
  readonly items: readonly LocatedMetadata[];
  readonly total: number;
}

export interface SearchPage {
  readonly items: readonly SearchHit[];
  /** The number of documents that have at least one of the words, or were found by their meaning. */
  readonly total: number;
  /** How many of them have all of the words. */
  readonly allWords: number;
  /** Words that no document has, each with the nearest one, by which it was searched. */
  readonly corrected: readonly Correction[];
  /** The commonest words of the query were not looked up, because there are too many of them. */
  readonly approximate: boolean;
  /** The parts of the query with the words by which they were searched, for the marks in excerpts. */
  readonly clauses: readonly Clause[];
}

export interface Correction {
  readonly written: string;
  readonly meant: string;
}

/** A part of a query: a word, or adjacent words. */
export interface Clause {
  /** As the reader wrote it. */
  readonly written: string;
  /** The words in their order, at least one. */
  readonly tokens: readonly string[];
  /** One word that stands for all of them, such as `ebook` for `e-book`. */
  readonly joined?: string;
  /** It must occur, exactly as it is. */
  readonly isQuoted: boolean;
  /** Whether the last token is the beginning of a word. */
  readonly isBeginning: boolean;
  /** How often it is in the query. */
  readonly count: number;
  /** Words of the index that stand for it. That of a stem stands for all words with this stem in these languages. */
  readonly forms?: readonly string[];
  readonly languages?: readonly string[];
  /** How much it says where it occurs. */
  readonly weight?: number;
}

export interface SearchHit {
  readonly document: LocatedMetadata;
  /**
   * An excerpt of the text around the matching words, or else of what is near in meaning, in Markdown; a code fence in
   * it is whole.
   */
  readonly snippet: string;
  /** The section that has the excerpt, by its id and its heading; null if there is none but the whole document. */
  readonly section: { readonly id: string; readonly title: string } | null;
  /** The parts of the query that the document has in none of their forms, as the reader wrote them. */
  readonly missing: readonly string[];
  readonly matched: 'text' | 'meaning' | 'both';
}

export interface IndexSummary {
  readonly documents: number;
  readonly problems: readonly ContentProblem[];
  readonly warnings: readonly ContentWarning[];
  /** Whether all files were read at least once since the index was created. */
  readonly isComplete: boolean;
}

/** The files that the index was built from, in one state of it. */
export interface IndexedFiles {
  readonly indexId: string;
  readonly isComplete: boolean;
  /** How the files were read; empty if nobody has said so. */
  readonly reading: string;
  /** In the order of their paths. */
  readonly files: readonly IndexedFile[];
}

export interface IndexedFile extends FileDetails {
  readonly path: string;
  /** Of the version that was read; empty if the file must be read again. */
  readonly look: string;
  readonly contentHash: string;
  /** The slug that no other file has; null if the file is no document. */
  readonly slug: string | null;
  /** What is wrong with the file, even if it is served anyway. */
  readonly problem: string | null;
  readonly warnings: readonly FileWarning[];
}

export interface IndexChanges {
  /**
   * The index that the changes are for. If it is another one, `apply` rejects with `IndexUnavailableError` and changes
   * nothing.
   */
  readonly indexId?: string;
  /** When the documents were read, in milliseconds since 1970; the present time if it is left out. */
  readonly at?: number;
  /** New or changed documents; each replaces the one with its slug. */
  readonly put?: readonly Document[];
  /** Slugs of documents that are gone. They are removed first. */
  readonly remove?: readonly string[];
  readonly putFiles?: readonly IndexedFile[];
  readonly removeFiles?: readonly string[];
  /** All collections; they replace the previous ones. */
  readonly collections?: readonly CollectionDefinition[];
  /** Problems that belong to no file in `files`: of collections, and of missing slugs in them. */
  readonly collectionProblems?: readonly ContentProblem[];
  /** All warnings that depend on other files, such as links that lead nowhere; they replace the previous ones. */
  readonly linkWarnings?: readonly ContentWarning[];
  /** How the files were read: whoever reads them in another way must read all of them again. */
  readonly reading?: string;
  readonly isComplete?: true;
}

/** The index cannot be used right now. The caller may try again. */
export class IndexUnavailableError extends UnavailableError {
  override readonly name = 'IndexUnavailableError';
}

/** Not all files have been read since the index was created. */
export class IndexIncompleteError extends IndexUnavailableError {
  constructor() {
    super('The library is being read for the first time. Try again in a moment.');
  }
}

export function indexIsAnother(): IndexUnavailableError {
  return new IndexUnavailableError('The index was deleted, and is being rebuilt from the files.');
}

/** A search that is too large, with a sentence for its author. */
export class QueryError extends Error {
  override readonly name = 'QueryError';
}
