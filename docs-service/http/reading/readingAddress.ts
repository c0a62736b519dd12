/** A page of the library, and what it is narrowed to. */
export interface LibraryPlace {
  readonly q?: string | undefined;
  readonly type?: string | undefined;
  /** The slug of a tag. */
  readonly tag?: string | undefined;
  /** Counted from 1. */
  readonly page?: number | undefined;
}

/** The address of a page of the library, from the root of the service. */
export function libraryAddress({ q, type, tag, page }: LibraryPlace): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries({ q, type, tag }))
    if (value !== undefined) search.set(name, value);
  if (page !== undefined && page > 1) search.set('page', String(page));
  return search.size === 0 ? '/read' : `/read?${search}`;
}
