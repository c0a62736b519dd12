import type { Nearness, SearchHit } from './documentIndex.ts';

/** A result of the order of the text, of that of the meaning, or of both. */
export interface Joined<Found> {
  readonly found: Found;
  readonly matched: SearchHit['matched'];
  /** The section that is nearest, if it was found by its meaning. */
  readonly place: number | undefined;
}

/**
 * Of reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009), as `docsQuality` measured them: with the damping of
 * that paper, 60, the first place of an order says too little.
 */
const [damping, nearShare] = [2, 0.7];

/**
 * Joins both orders by reciprocal ranks. Equal ones keep the order of the text, then that of the meaning.
 * @param near documents by nearness, with the place of their nearest section
 * @param isInText whether the text finds a document that is not among `byText`, of which there may be too many
 */
export function joinRanks<Found>(
  byText: readonly Found[],
  near: ReadonlyMap<Found, number>,
  isInText: (found: Found) => boolean,
): readonly Joined<Found>[] {
  const scores = new Map<Found, number>(byText.map((found, rank) => [found, 1 / (damping + rank + 1)]));
  const inText = new Set(byText);
  for (const [rank, found] of [...near.keys()].entries())
    scores.set(found, (scores.get(found) ?? 0) + nearShare / (damping + rank + 1));
  return [...scores]
    .toSorted(([, one], [, other]) => other - one)
    .map(([found]) => {
      const place = near.get(found);
      const isText = inText.has(found) || isInText(found);
      const matched = place === undefined ? 'text' : isText ? 'both' : 'meaning';
      return { found, matched, place };
    });
}

/** The documents that count, by nearness, with the place of their nearest section. */
export function nearestDocuments<Found>(
  { sections, count }: Pick<Nearness, 'sections' | 'count'> = { sections: [], count: 0 },
  passes: (slug: string) => Found | undefined,
): ReadonlyMap<Found, number> {
  const near = new Map<Found, number>();
  let counted = 0;
  for (const { slug, place } of sections) {
    const found = passes(slug);
    if (found === undefined) continue;
    if (!near.has(found)) near.set(found, place);
    counted += 1;
    if (counted === count) break;
  }
  return near;
}
