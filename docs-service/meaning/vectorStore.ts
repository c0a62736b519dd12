import type { CompactVector } from './compactVector.ts';

/** A document whose sections have vectors, or will have. */
export interface StoredDocument {
  readonly slug: string;
  readonly contentHash: string;
  readonly isDraft: boolean;
  /** Of the texts of its sections, in their order. */
  readonly hashes: readonly string[];
}

/**
 * What has been embedded, which outlives the index. Several processes may read it while one writes. Calls reject while
 * the database is down.
 */
export interface VectorStore {
  /** Grows with each change. */
  changes(): Promise<number>;
  documents(): Promise<readonly StoredDocument[]>;
  /** Those that are there, by their hashes. */
  vectors(model: string, hashes: readonly string[]): Promise<ReadonlyMap<string, CompactVector>>;
  putVectors(model: string, vectors: ReadonlyMap<string, CompactVector>): Promise<void>;
  /** Deletes all vectors of a model. */
  forget(model: string): Promise<void>;
  putDocuments(documents: readonly StoredDocument[]): Promise<void>;
  removeDocuments(slugs: readonly string[]): Promise<void>;
  /** The model whose vectors answer questions. */
  serving(): Promise<string | undefined>;
  /** From now on it is this one. Vectors of other models, and of sections that are gone, are deleted. */
  serve(model: string): Promise<void>;
  close(): Promise<void>;
}
