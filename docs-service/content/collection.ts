/** The order of a collection's documents. `listed` is the order of `docs`, and for a query the same as `-date`. */
export type CollectionOrder = 'date' | '-date' | 'title' | 'listed';

/** The content of `collections/*.yaml`, checked. The documents are looked up when they are needed. */
export interface CollectionDefinition {
  /** Names the collection in addresses: `isSlug` holds for it, and it is unique in the library. */
  readonly name: string;
  readonly title: string;
  /** Slugs in order, or a query for the documents. */
  readonly docs: readonly string[] | CollectionQuery;
  readonly order: CollectionOrder;
  readonly author: string | null;
  readonly lang: string | null;
  /** A picture, as a path from the content folder. */
  readonly cover: string | null;
  readonly description: string | null;
}

export interface CollectionQuery {
  readonly type?: string;
  /** The slug of a tag. */
  readonly tag?: string;
}
