import type { Paging } from './documentIndex.ts';
import type { Query } from './query.ts';

/** A place with an index of its own. */
export type Place = 'title' | 'heading';

/** The best place of a document that contains part of the query. */
type Tier = Place | 'text';

/** At most this many candidates are counted or ranked. */
export const maxCandidates = 2_000;

/** The number that is requested: one more than is kept, which shows whether there are more. */
export const maxFound = maxCandidates + 1;

/** The documents of one tier, by slug. A query of exclusions alone finds documents in no tier. */
interface FoundTier<Found> {
  readonly tier: Tier | undefined;
  readonly found: readonly Found[];
}

interface FoundTiers<Found> {
  readonly tiers: readonly FoundTier<Found>[];
  /** How many match, at most `maxFound`; undefined if that must be counted. */
  readonly count: number | undefined;
}

/**
 * Finds one tier after another until the page is full: later tiers need not be found, only counted. `find` returns the
 * first `maxFound` by slug of all documents with part of the query in that place or, without a place, of all that
 * match. It may repeat documents of a better tier.
 */
export async function findTiers<Found>(
  { all }: Query,
  { limit, offset }: Paging,
  find: (place: Place | undefined) => Promise<readonly Found[]>,
): Promise<FoundTiers<Found>> {
  const tiers: FoundTier<Found>[] = [];
  const seen = new Set<Found>();
  const order: readonly (Tier | undefined)[] = all.length === 0 ? [undefined] : ['title', 'heading', 'text'];
  for (const tier of order) {
    const answer = await find(tier === 'text' ? undefined : tier);
    const found = answer.filter((one) => !seen.has(one)).slice(0, maxFound - seen.size);
    for (const one of found) seen.add(one);
    tiers.push({ tier, found });
    if (seen.size === maxFound) break;
    if (tier !== order.at(-1) && seen.size >= Math.min(offset + limit, maxCandidates))
      return { tiers, count: undefined };
  }
  return { tiers, count: seen.size };
}

/** The tiers on a page, with the part of each that is on it. */
export function partsOfPage<Found>(
  tiers: readonly FoundTier<Found>[],
  { limit, offset }: Paging,
): readonly (FoundTier<Found> & { readonly from: number; readonly to: number })[] {
  let before = 0;
  return tiers.flatMap(({ tier, found }) => {
    const kept = found.slice(0, maxCandidates - before);
    const [from, to] = [Math.max(0, offset - before), Math.min(kept.length, offset + limit - before)];
    before += kept.length;
    return from < to ? [{ tier, found: kept, from, to }] : [];
  });
}

/** The total of a page, for all that match. */
export function totalOf(count: number): { readonly total: number; readonly approximate: boolean } {
  return { total: Math.min(count, maxCandidates), approximate: count > maxCandidates };
}
