import type { LocatedMetadata, Selection } from './documentIndex.ts';
import { listRank, undatedRank } from './documentRecord.ts';

/** Orders documents. Those without a date are last in either order of dates, and equal ones are ordered by slug. */
export function inOrder(
  documents: readonly LocatedMetadata[],
  order: Selection['order'],
): readonly LocatedMetadata[] {
  if (order === '-date')
    return bySlug(documents).sort((one, other) => listRank(one.date) - listRank(other.date));
  if (order === 'title') {
    const { compare } = new Intl.Collator('en', { numeric: true });
    return bySlug(documents).sort((one, other) => compare(one.title, other.title));
  }
  return bySlug(documents).sort((one, other) => oldestFirst(one) - oldestFirst(other));
}

function oldestFirst({ date }: LocatedMetadata): number {
  const rank = listRank(date);
  return rank === undatedRank ? undatedRank : -rank;
}

function bySlug(documents: readonly LocatedMetadata[]): LocatedMetadata[] {
  const keyed = documents.map((document) => ({ document, key: Buffer.from(document.slug) }));
  return keyed.sort((one, other) => Buffer.compare(one.key, other.key)).map(({ document }) => document);
}
