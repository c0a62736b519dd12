import type { DocumentFilter } from './documentIndex.ts';

/** The lists that a document is in: all of them, those of its type, of its tags, and of its type with each tag. */
export function scopeNames({ type, tags }: ScopedDocument): string[] {
  const types = type === null ? [{}] : [{}, { type }];
  return types.flatMap((typed) => [scopeName(typed), ...tags.map((tag) => scopeName({ ...typed, tag }))]);
}

interface ScopedDocument {
  readonly type: string | null;
  readonly tags: readonly string[];
}

/** The list that a filter asks for. Drafts are in it too. */
export function scopeName({ type, tag }: Pick<DocumentFilter, 'type' | 'tag'>): string {
  return JSON.stringify([type ?? null, tag ?? null]);
}
