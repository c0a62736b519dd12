import type { Database } from '../../base/sqliteDatabase.ts';
import type { DocumentFilter, Nearness, SearchHit, SearchPage, SearchQuery } from '../documentIndex.ts';
import { isNarrowed, parseMetadata, pathRange } from '../documentRecord.ts';
import {
  anyFacet,
  draftFacet,
  filterFacets,
  headingMark,
  slugMark,
  titleMark,
  tryBeginning,
} from '../documentTokens.ts';
import { excerptOf } from '../excerpt.ts';
import { type Joined, joinRanks, narrowingOf, nearestDocuments, pageOf } from '../joining.ts';
import { type Clause, isEmptyQuery, parseQuery, type Query } from '../query.ts';
import { createScore, rowsToSample, type SampleRow, sampleRowsOf } from '../relevance.ts';
import {
  askTiers,
  type FoundTiers,
  maxCandidates,
  maxFound,
  partsOfPage,
  type Tier,
  totalOf,
} from '../tier.ts';

/**
 * Searches in bounded time. FTS5 finds at most `maxFound` documents of a tier. Only the tiers on the page are ranked,
 * by term statistics beside the index. FTS5's own rank would first count all documents of each word.
 */
export function createSearcher(database: Database): (asked: SearchQuery) => SearchPage {
  const find = createFinder(database);
  const rank = createRanking(database);
  const bySortKey = database.prepare<{ path: string; metadata: string; body: string }>(
    'SELECT path, metadata, body FROM documents JOIN bodies USING (key) WHERE sort_key = ?',
  );
  const hits = (joined: Joined<number>, query: Query): readonly SearchHit[] =>
    bySortKey.all(joined.found).map(({ path, metadata, body }) => {
      const document = { ...parseMetadata(metadata), path };
      const excerpt = excerptOf({ title: document.title, body }, query, joined);
      return { document, ...excerpt, matched: joined.matched };
    });
  const byText = (query: Query, asked: SearchQuery) => {
    const { tiers, count } = find.tiers(query, asked);
    const sortKeys = partsOfPage(tiers, asked).flatMap(({ tier, found, from, to }) =>
      (tier && found.length > 1 ? rank(query, found) : found).slice(from, to),
    );
    return { sortKeys, count: count ?? find.count(query, asked) };
  };
  const joined = (query: Query, asked: SearchQuery, near: Nearness) => {
    const everything = { ...asked, limit: maxCandidates, offset: 0 };
    const { sortKeys, count } = near.isAlone ? { sortKeys: [], count: 0 } : byText(query, everything);
    const nearest = nearestDocuments(near, find.passing(query, asked, near));
    const isInText = (sortKey: number) => count > maxCandidates && find.isFound(query, asked, sortKey);
    return { all: joinRanks(sortKeys, nearest, isInText), count };
  };
  return (asked) => {
    const query = parseQuery(asked.text);
    if (isEmptyQuery(query)) return { items: [], total: 0, approximate: false };
    if (!asked.near) {
      const { sortKeys, count } = byText(query, asked);
      const found = sortKeys.map((one) => ({ found: one, matched: 'text', place: undefined }) as const);
      return { items: found.flatMap((one) => hits(one, query)), ...totalOf(count) };
    }
    const { all, count } = joined(query, asked, asked.near);
    return pageOf(all, asked, { count, hits: (one) => hits(one, query) });
  };
}

/** Separate rows cost more than finding them, so many keys come in one text. */
function createFinder(database: Database) {
  const statements = (condition: string) => {
    const some = `SELECT rowid AS sort_key FROM words WHERE words MATCH ? ${condition} ORDER BY rowid LIMIT ${maxFound}`;
    return {
      sortKeys: database.prepare<{ keys: string }>(
        `SELECT json_group_array(sort_key) AS keys FROM (${some})`,
      ),
      count: database.prepare<{ count: number }>(`SELECT count(*) AS count FROM (${some})`),
    };
  };
  const everywhere = statements('');
  const within = statements(
    'AND rowid IN (SELECT sort_key FROM documents WHERE path >= ? AND path < ? AND changed >= ?)',
  );
  const statementsFor = (asked: SearchQuery) => (isNarrowed(asked) ? within : everywhere);
  const boundsOf = (asked: SearchQuery) =>
    isNarrowed(asked) ? [...pathRange(asked.folder), asked.changedSince ?? 0] : [];
  const find = (match: string, asked: SearchQuery): readonly number[] => {
    const rows = statementsFor(asked).sortKeys.all(match, ...boundsOf(asked));
    return rows.flatMap(({ keys }) => JSON.parse(keys) as number[]).sort((one, other) => one - other);
  };
  // Node's own SQLite passes a number on as a real one, which this kind of table does not compare with its rows.
  const isOne = database.prepare('SELECT 1 FROM words WHERE words MATCH ? AND rowid = CAST(? AS INTEGER)');
  const located = database.prepare<{ slug: string; sort_key: number }>(
    `SELECT slug, sort_key FROM documents WHERE slug IN (SELECT value FROM json_each(?)) AND draft <= ?
     AND path >= ? AND path < ? AND changed >= ?`,
  );
  return {
    /** The document of a slug, if it passes everything that narrows the search. */
    passing: (query: Query, asked: SearchQuery, { sections }: Nearness) => {
      const slugs = JSON.stringify([...new Set(sections.map(({ slug }) => slug))]);
      const bounds = [...pathRange(asked.folder), asked.changedSince ?? 0];
      const keys = new Map(
        located.all(slugs, Number(asked.drafts), ...bounds).map(({ slug, sort_key }) => [slug, sort_key]),
      );
      const narrowed = narrowingOf(query);
      const isPlain = narrowed.all.length + narrowed.none.length + filterFacets(asked).length === 0;
      const match = ftsQuery(narrowed, asked);
      return (slug: string): number | undefined => {
        const key = keys.get(slug);
        return key === undefined || isPlain || isOne.get(match, key) !== undefined ? key : undefined;
      };
    },
    isFound: (query: Query, asked: SearchQuery, sortKey: number) =>
      isOne.get(ftsQuery(query, asked), sortKey) !== undefined,
    tiers: (query: Query, asked: SearchQuery): FoundTiers<number> => {
      const asking = askTiers<number>(query, asked);
      let step = asking.next();
      while (!step.done) step = asking.next(find(ftsQuery(query, asked, placeOf(step.value)), asked));
      return step.value;
    },
    count: (query: Query, asked: SearchQuery): number =>
      statementsFor(asked).count.get(ftsQuery(query, asked), ...boundsOf(asked))?.count ?? 0,
  };
}

function placeOf(tier: Tier | undefined): 'title' | 'heading' | undefined {
  return tier === 'text' ? undefined : tier;
}

/** The best first; equal ones keep their order. */
function createRanking(database: Database) {
  const stats = database.prepare<{ rows: string }>(
    `SELECT group_concat(sort_key || ' ' || stats, char(10)) AS rows FROM term_stats
     WHERE sort_key IN (SELECT value FROM json_each(?))`,
  );
  const sampled = database.prepare<SampleRow>(
    'SELECT word, count FROM sample WHERE word IN (SELECT value FROM json_each(?))',
  );
  return (query: Query, sortKeys: readonly number[]): readonly number[] => {
    const score = createScore(query, rowsToSample(sampled.all(JSON.stringify(sampleRowsOf(query)))));
    const scores = new Map<number, number>();
    for (const row of (stats.get(JSON.stringify(sortKeys))?.rows ?? '').split('\n')) {
      const space = row.indexOf(' ');
      scores.set(Number(row.slice(0, space)), score(row.slice(space + 1)));
    }
    return sortKeys.toSorted((one, other) => (scores.get(other) ?? 0) - (scores.get(one) ?? 0));
  };
}

/** The FTS5 query for the documents of one tier, or of all. It contains no text from the reader. */
function ftsQuery(query: Query, filter: DocumentFilter, tier?: Tier): string {
  const inTitle = query.all.map((clause) => phrase(clause, titleMark));
  const inHeadings = query.all.map((clause) => phrase(clause, headingMark));
  const all = [...query.all.map((clause) => phrase(clause)), ...filterFacets(filter).map(quoted)];
  const none = [
    ...query.none.map((clause) => phrase(clause)),
    ...(filter.drafts ? [] : [quoted(draftFacet)]),
  ];
  if (tier === 'title') all.push(`(${inTitle.join(' OR ')})`);
  if (tier === 'heading') all.push(`(${inHeadings.join(' OR ')})`);
  if (tier === 'heading' || tier === 'text') none.push(...inTitle);
  if (tier === 'text') none.push(...inHeadings);
  const found = all.length === 0 ? quoted(anyFacet) : all.join(' AND ');
  return none.length === 0 ? found : `(${found}) NOT (${none.join(' OR ')})`;
}

/** Documents that are not drafts and have all these words in their slugs. */
export function slugQuery(parts: readonly string[]): string {
  return `(${parts.map((part) => quoted(slugMark + part)).join(' AND ')}) NOT ${quoted(draftFacet)}`;
}

function phrase(clause: Clause, mark = ''): string {
  const beginning = tryBeginning(clause);
  if (beginning !== undefined) return quoted(mark + beginning);
  const { tokens, prefix } = clause;
  return quoted(tokens.map((token) => mark + token).join(' ')) + (prefix ? '*' : '');
}

function quoted(text: string): string {
  return `"${text}"`;
}
