import type {
  Clause,
  DocumentFilter,
  Nearness,
  SearchHit,
  SearchPage,
  SearchQuery,
} from './documentIndex.ts';
import { parseMetadata } from './documentRecord.ts';
import { filterWords, slugWord } from './documentWords.ts';
import { maxNeighbours, slugParts } from './nearSlugs.ts';
import type { Postings } from './postings.ts';
import { parseQuery } from './query.ts';
import { type RankedDocument, rank } from './ranking.ts';
import type { SearchStore } from './searchStore.ts';
import { excerptOf } from './snippet.ts';
import { findWords, type KnownClause, wordClause } from './vocabulary.ts';

/** Documents beyond this place of the order cannot be read. */
const maxRanked = 2_000;
/** A longer question is about its rare words, wherever the others are. */
const maxWhole = 3;
/** The documents of all words of a query together. */
const maxPostings = 2_000_000;

/** Scores every document that has a word of the query. Its time is bounded by `maxPostings`. */
export async function searchWith(store: SearchStore, asked: SearchQuery): Promise<SearchPage> {
  const query = parseQuery(asked.text);
  if (query.some.length + query.none.length === 0)
    return { items: [], total: 0, allWords: 0, corrected: [], approximate: false, clauses: [] };
  const statistics = await store.statistics();
  const { corrected, none, ...known } = await findWords(query, store, statistics.languages);
  const some = withinBudget(known.some);
  const filters = await filterNumbers(store, asked);
  const blocks = await readBlocks(store, statistics.visible.length, [...some, ...none], filters);
  const { near, limit, offset } = asked;
  const nearKeys = await store.keysOf([...new Set(near?.sections.map(({ slug }) => slug))]);
  const { best, total, allWords, passing, weights, missing } = await rank(blocks, statistics, {
    ...{ some, none, filters },
    among:
      asked.changedSince === undefined ? undefined : new Set(await store.changedSince(asked.changedSince)),
    areWholeFirst: query.some.length <= maxWhole,
    most: near ? maxRanked : Math.min(maxRanked, offset + limit),
    watched: new Set(nearKeys.values()),
  });
  const isAlone = near?.isAlone === true;
  const nearest = nearestDocuments(near, (slug) => {
    const key = nearKeys.get(slug);
    return key !== undefined && passing.has(key) ? key : undefined;
  });
  const byText = isAlone ? [] : (await inOrder(store, best)).slice(0, maxRanked);
  const all = joinRanks(byText, nearest, (key) => !isAlone && passing.get(key) === true);
  const clauses = some.map(({ clause }, at) => ({ ...clause, weight: weights[at] ?? 0 }));
  const hits = await readHits(store, all.slice(offset, offset + limit), clauses);
  const writtenAt = (at: number) => (clauses[at]?.isQuoted ? [] : (clauses[at]?.written ?? []));
  const meant = all.filter(({ matched }) => matched === 'meaning').length;
  return {
    items: hits.map(({ key, ...hit }) => ({ ...hit, missing: missing(key).flatMap(writtenAt) })),
    total: isAlone ? all.length : total + meant,
    allWords: isAlone ? 0 : allWords,
    ...{ corrected, clauses, approximate: some.length < known.some.length },
  };
}

/** Without the commonest words, where there are too many documents. A quoted one stays. */
function withinBudget(some: readonly KnownClause[]): readonly KnownClause[] {
  const rarest = some.toSorted((one, other) => one.documents - other.documents);
  let sum = 0;
  const kept = rarest.filter(({ clause, documents }, at) => {
    sum += documents;
    return at === 0 || clause.isQuoted || sum <= maxPostings;
  });
  return some.filter((one) => kept.includes(one));
}

async function filterNumbers(store: SearchStore, filter: DocumentFilter) {
  const names = filterWords(filter);
  const rows = new Map((await store.words(names)).map(({ word, id }) => [word, id]));
  return names.map((name) => rows.get(name));
}

async function readBlocks(
  store: SearchStore,
  count: number,
  clauses: readonly KnownClause[],
  filters: readonly (number | undefined)[],
): Promise<ReadonlyMap<number, Postings>> {
  const phrases = new Set(clauses.flatMap((clause) => clause.phrases.flat()));
  const others = new Set([
    ...filters.flatMap((word) => word ?? []),
    ...clauses.flatMap(({ words }) => words.map(({ id }) => id).filter((word) => !phrases.has(word))),
  ]);
  const blocks = await store.postings([...others], count, false);
  for (const [number, placed] of await store.postings([...phrases], count, true))
    blocks.set(number, new Map([...(blocks.get(number) ?? []), ...placed]));
  return blocks;
}

async function inOrder(store: SearchStore, best: readonly RankedDocument[]): Promise<readonly number[]> {
  const equal = best.filter(
    ({ score }, at) => score === best[at - 1]?.score || score === best[at + 1]?.score,
  );
  const places = new Map((await store.bySlug(equal.map(({ key }) => key))).map((key, at) => [key, at]));
  const placeOf = ({ key }: RankedDocument) => places.get(key) ?? 0;
  return best
    .toSorted((one, other) => other.score - one.score || placeOf(one) - placeOf(other))
    .map(({ key }) => key);
}

async function readHits(
  store: SearchStore,
  page: readonly FusedHit<number>[],
  clauses: readonly Clause[],
): Promise<readonly (Omit<SearchHit, 'missing'> & { readonly key: number })[]> {
  const stored = await store.read(page.map(({ found }) => found));
  return page.flatMap((joined) => {
    const row = stored.get(joined.found);
    if (row === undefined) return [];
    const document = { ...parseMetadata(row.metadata), path: row.path };
    const excerpt = excerptOf({ title: document.title, body: row.body }, clauses, joined);
    return [{ key: joined.found, document, ...excerpt, matched: joined.matched }];
  });
}

/** The slugs of visible documents that have most of the words of a slug. */
export async function slugsLike(store: SearchStore, slug: string): Promise<readonly string[]> {
  const rows = await store.words(slugParts(slug).map(slugWord));
  const statistics = await store.statistics();
  const words = rows.map(({ id }) => id);
  const { best } = await rank(await store.postings(words, statistics.visible.length, false), statistics, {
    some: rows.map((row) => wordClause(row)),
    ...{ none: [], filters: [], among: undefined },
    ...{ areWholeFirst: true, most: maxNeighbours, watched: new Set() },
  });
  const found = await store.read(best.slice(0, maxNeighbours).map(({ key }) => key));
  return Array.from(found.values(), ({ metadata }) => parseMetadata(metadata).slug);
}

/** A result of the order of the text, of that of the meaning, or of both. */
export interface FusedHit<Found> {
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
function joinRanks<Found>(
  byText: readonly Found[],
  near: ReadonlyMap<Found, number>,
  isInText: (found: Found) => boolean,
): readonly FusedHit<Found>[] {
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
function nearestDocuments<Found>(
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
