/** In which order a collection has its documents; `listed` is the order of `docs`, and for a query that of `-date`. */
export type CollectionOrder = 'date' | '-date' | 'title' | 'listed';

/** What `collections/*.yaml` says, checked. The documents are found when they are asked for. */
export interface CollectionDefinition {
  /** Names the collection in addresses: `isSlug` holds for it, and it is unique in the library. */
  readonly name: string;
  readonly title: string;
  /** Slugs in their order, or what the documents have in common. */
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
