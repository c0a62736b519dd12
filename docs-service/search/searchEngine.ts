import type {
  DocumentFilter,
  Nearness,
  Paging,
  SearchHit,
  SearchPage,
  SearchQuery,
} from './documentIndex.ts';
import { type DocumentRecord, parseMetadata } from './documentRecord.ts';
import { excerptOf } from './excerpt.ts';
import { type Joined, joinRanks, narrowingOf, nearestDocuments } from './joining.ts';
import { isEmptyQuery, parseQuery, type Query } from './query.ts';
import { createScore, rowsToSample, type SampleRow, sampleRowsOf } from './relevance.ts';
import { findTiers, maxCandidates, type Place, partsOfPage, totalOf } from './tier.ts';

/** What an engine does for a search, in one state of the library. `Found` names a document: equal ones are the same. */
export interface SearchEngine<Found> {
  /** As `findTiers` asks for it. */
  find(query: Query, filter: DocumentFilter, place: Place | undefined): Answer<readonly Found[]>;
  /** How many match, at most `maxFound`. */
  count(query: Query, filter: DocumentFilter): Answer<number>;
  /** A function that finds the document of one of these slugs, if it matches. */
  matching(
    query: Query,
    filter: DocumentFilter,
    slugs: readonly string[],
  ): Answer<(slug: string) => Found | undefined>;
  /** Of documents that this search has found. */
  termStats(found: readonly Found[]): Answer<ReadonlyMap<Found, string>>;
  sample(words: readonly number[]): Answer<readonly SampleRow[]>;
  read(found: readonly Found[]): Answer<ReadonlyMap<Found, StoredDocument>>;
}

type Answer<Value> = Value | Promise<Value>;

export type StoredDocument = Pick<DocumentRecord, 'path' | 'metadata' | 'body'>;

/**
 * Searches in bounded time: of each tier, at most `maxFound` documents are found. Only the tiers on the page are
 * ranked, and only the texts of the documents on it are read.
 */
export async function searchWith<Found>(
  engine: SearchEngine<Found>,
  asked: SearchQuery,
): Promise<SearchPage> {
  const query = parseQuery(asked.text);
  if (isEmptyQuery(query)) return { items: [], total: 0, allWords: 0, corrected: [], approximate: false };
  const { near, limit, offset } = asked;
  if (near === undefined) {
    const { found, count } = await findByText(engine, query, asked);
    const page = found.map((one) => ({ found: one, matched: 'text', place: undefined }) as const);
    return { items: await readHits(engine, query, page), ...totalOf(count), allWords: count, corrected: [] };
  }
  const { all, count } = await findJoined(engine, query, { ...asked, near });
  const { total, approximate } = totalOf(count);
  return {
    items: await readHits(engine, query, all.slice(offset, offset + limit)),
    total: total + all.filter(({ matched }) => matched === 'meaning').length,
    allWords: count,
    corrected: [],
    approximate,
  };
}

async function findByText<Found>(
  engine: SearchEngine<Found>,
  query: Query,
  asked: DocumentFilter & Paging,
): Promise<{ readonly found: readonly Found[]; readonly count: number }> {
  const { tiers, count } = await findTiers(query, asked, async (place) => engine.find(query, asked, place));
  const onPage: Found[] = [];
  let score: ((termStats: string) => number) | undefined;
  for (const { tier, found, from, to } of partsOfPage(tiers, asked)) {
    let ranked = found;
    if (tier !== undefined && found.length > 1) {
      score ??= createScore(query, rowsToSample(await engine.sample(sampleRowsOf(query))));
      ranked = byScore(found, score, await engine.termStats(found));
    }
    onPage.push(...ranked.slice(from, to));
  }
  return { found: onPage, count: count ?? (await engine.count(query, asked)) };
}

/** The best first; equal ones keep their order. */
function byScore<Found>(
  found: readonly Found[],
  score: (termStats: string) => number,
  termStats: ReadonlyMap<Found, string>,
): readonly Found[] {
  const scores = new Map(found.map((one) => [one, score(termStats.get(one) ?? '')]));
  return found.toSorted((one, other) => (scores.get(other) ?? 0) - (scores.get(one) ?? 0));
}

async function findJoined<Found>(
  engine: SearchEngine<Found>,
  query: Query,
  { near, ...asked }: SearchQuery & { readonly near: Nearness },
): Promise<{ readonly all: readonly Joined<Found>[]; readonly count: number }> {
  const everything = { ...asked, limit: maxCandidates, offset: 0 };
  const { found, count } = near.isAlone
    ? { found: [], count: 0 }
    : await findByText(engine, query, everything);
  const slugs = near.sections.map(({ slug }) => slug);
  const passing = await engine.matching(narrowingOf(query), asked, slugs);
  const slugOf = new Map<Found, string>();
  const nearest = nearestDocuments(near, (slug) => {
    const one = passing(slug);
    if (one !== undefined) slugOf.set(one, slug);
    return one;
  });
  const inText =
    count > maxCandidates ? await engine.matching(query, asked, [...slugOf.values()]) : undefined;
  return { all: joinRanks(found, nearest, (one) => inText?.(slugOf.get(one) ?? '') !== undefined), count };
}

async function readHits<Found>(
  engine: SearchEngine<Found>,
  query: Query,
  page: readonly Joined<Found>[],
): Promise<readonly SearchHit[]> {
  const stored = await engine.read(page.map(({ found }) => found));
  return page.flatMap((joined) => {
    const row = stored.get(joined.found);
    if (row === undefined) return [];
    const document = { ...parseMetadata(row.metadata), path: row.path };
    const excerpt = excerptOf({ title: document.title, body: row.body }, query, joined);
    return [{ document, ...excerpt, missing: [], matched: joined.matched }];
  });
}
