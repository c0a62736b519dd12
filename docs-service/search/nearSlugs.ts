import { editDistance } from '../../protocol/base/editDistance.ts';
import { analyse } from './analyser.ts';

/** The slugs of a few candidates that resemble a wrong one, the nearest first. */
export function nearestSlugs(wrong: string, candidates: readonly string[], limit: number): readonly string[] {
  if (wrong.length > maxSlugLength) return [];
  const near = [...new Set(candidates)]
    .map((slug) => ({ slug, distance: distance(wrong, slug) }))
    .filter(({ distance }) => distance <= farthest);
  near.sort((one, other) => one.distance - other.distance || (one.slug < other.slug ? -1 : 1));
  return near.slice(0, limit).map(({ slug }) => slug);
}

/** The words by which slugs similar to a wrong one are searched. */
export function slugParts(wrong: string): readonly string[] {
  return [...new Set(analyse(wrong.slice(0, maxSlugLength)))].slice(0, maxParts);
}

/** Reversed by code points, because documents are also found by the end of their slug. */
export function reversed(slug: string): string {
  return [...slug].reverse().join('');
}

/** At most this many slugs of each kind are compared with the wrong one. */
export const maxNeighbours = 50;

const maxSlugLength = 100;
const maxParts = 6;
/** As a share of the longer slug's length. */
const farthest = 0.5;

/** From 0, for the same slug or the same words in another order. Signs between the words make nothing similar. */
function distance(one: string, other: string): number {
  const inWordOrder = (slug: string) => analyse(slug).sort().join('-');
  const share = (a: string, b: string, more: number) =>
    (editDistance(a, b) + more) / Math.max(a.length, b.length, 1);
  // The same words in another order are near, but not as near as a typing mistake.
  return Math.min(share(one, other, 0), share(inWordOrder(one), inWordOrder(other), 1));
}
