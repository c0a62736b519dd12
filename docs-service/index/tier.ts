import type { Query } from './query.ts';

/** The best place of a document that something of the query stands in. */
export type Tier = 'title' | 'heading' | 'text';

/** In their order. What a query of exclusions alone finds is in no tier. */
export function tiersOf({ all }: Query): readonly (Tier | undefined)[] {
  return all.length === 0 ? [undefined] : ['title', 'heading', 'text'];
}

/** Above this number of candidates nothing is counted or ranked. */
export const mostCandidates = 2_000;

/** What was found in one tier, each tier by slug. */
export interface FoundTier<Found> {
  readonly tier: Tier | undefined;
  readonly found: readonly Found[];
}

export interface Candidates<Found> {
  readonly tiers: readonly FoundTier<Found>[];
  readonly total: number;
  readonly approximate: boolean;
}

/** The candidates among what was found, where each tier was asked for as many as were missing, and one more. */
export function candidatesOf<Found>(tiers: readonly FoundTier<Found>[]): Candidates<Found> {
  let room = mostCandidates;
  const kept = tiers.map(({ tier, found }) => {
    const some = found.slice(0, room);
    room -= some.length;
    return { tier, found: some };
  });
  const count = tiers.reduce((sum, { found }) => sum + found.length, 0);
  return { tiers: kept, total: Math.min(count, mostCandidates), approximate: count > mostCandidates };
}

/** The tiers that a page reaches into, with the part of each that is on it. */
export function partsOfPage<Found>(
  tiers: readonly FoundTier<Found>[],
  { limit, offset }: { readonly limit: number; readonly offset: number },
): readonly (FoundTier<Found> & { readonly from: number; readonly to: number })[] {
  let before = 0;
  return tiers.flatMap(({ tier, found }) => {
    const [from, to] = [Math.max(0, offset - before), Math.min(found.length, offset + limit - before)];
    before += found.length;
    return from < to ? [{ tier, found, from, to }] : [];
  });
}
