import type pg from 'pg';
import type { Nearness, SearchHit, SearchPage, SearchQuery } from '../documentIndex.ts';
import { isNarrowed, parseMetadata, storable } from '../documentRecord.ts';
import {
  anyFacet,
  draftFacet,
  filterFacets,
  headingMark,
  titleMark,
  tryBeginning,
} from '../documentTokens.ts';
import { excerptOf } from '../excerpt.ts';
import { type Joined, joinRanks, narrowingOf, nearestDocuments, pageOf } from '../joining.ts';
import { type Clause, isEmptyQuery, parseQuery, type Query } from '../query.ts';
import { createScore, rowsToSample, type Sample, sampleRowsOf } from '../relevance.ts';
import {
  askTiers,
  type FoundTiers,
  maxCandidates,
  maxFound,
  partsOfPage,
  type Tier,
  totalOf,
} from '../tier.ts';
import { pairMarks } from './wordPairs.ts';

type Client = pg.ClientBase;

/** By slug. */
type TermStats = Map<string, string>;

/**
 * Settings of the transaction of a search. Rows are narrow, but their words are long. The planner does not know that,
 * and would read the words of every row.
 */
export const searchSettings = "SET LOCAL enable_seqscan = off; SET LOCAL work_mem = '32MB'";

/**
 * Must run in a transaction that sees one state, with `searchSettings`. It reads the text only of documents on the
 * page.
 */
export async function searchDocuments(client: Client, asked: SearchQuery): Promise<SearchPage> {
  const query = parseQuery(asked.text);
  if (isEmptyQuery(query)) return { items: [], total: 0, approximate: false };
  if (asked.near) return searchJoined(client, query, { ...asked, near: asked.near });
  const { slugs, count } = await findByText(client, query, asked);
  const found = slugs.map((slug) => ({ found: slug, matched: 'text', place: undefined }) as const);
  return { items: await hitsOf(client, found, query), ...totalOf(count) };
}

async function findByText(client: Client, query: Query, asked: SearchQuery) {
  const termStats: TermStats = new Map();
  const { tiers, count } = await findTiers(client, { query, asked, termStats });
  const sample = await readSample(client, query);
  const slugs = partsOfPage(tiers, asked).flatMap(({ tier, found, from, to }) =>
    (tier ? ranked(query, { found, termStats, sample }) : found).slice(from, to),
  );
  return { slugs, count: count ?? (await countFound(client, query, asked)) };
}

async function searchJoined(
  client: Client,
  query: Query,
  asked: SearchQuery & { readonly near: Nearness },
): Promise<SearchPage> {
  const { near } = asked;
  const everything = { ...asked, limit: maxCandidates, offset: 0 };
  const { slugs, count } = near.isAlone
    ? { slugs: [], count: 0 }
    : await findByText(client, query, everything);
  const passing = await foundAmong(
    client,
    near.sections.map(({ slug }) => slug),
    searchCondition(narrowingOf(query), asked),
  );
  const nearest = nearestDocuments(near, (slug) => (passing.has(slug) ? slug : undefined));
  const inText =
    count > maxCandidates
      ? await foundAmong(client, [...nearest.keys()], searchCondition(query, asked))
      : new Set<string>();
  const all = joinRanks(slugs, nearest, (slug) => inText.has(slug));
  const { limit, offset } = asked;
  const hits = await hitsOf(client, all.slice(offset, offset + limit), query);
  const bySlug = new Map(hits.map((hit) => [hit.document.slug, [hit]]));
  return pageOf(all, asked, { count, hits: ({ found }) => bySlug.get(found) ?? [] });
}

async function foundAmong(
  client: Client,
  slugs: readonly string[],
  { words, texts, values }: Condition,
): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ slug: string }>(
    `SELECT slug FROM docs_documents WHERE slug = ANY ($${values.length + 1}) AND ${words}${texts === '' ? '' : ` AND ${texts}`}`,
    [...values, slugs.map(storable)],
  );
  return new Set(rows.map(({ slug }) => slug));
}

interface Asking {
  readonly query: Query;
  readonly asked: SearchQuery;
  /** Filled with the term statistics of the found documents. */
  readonly termStats: TermStats;
}

async function findTiers(client: Client, { query, asked, termStats }: Asking): Promise<FoundTiers<string>> {
  const asking = askTiers<string>(query, asked);
  let step = asking.next();
  while (!step.done) {
    const { sql, values } = foundIn(query, asked, step.value);
    const { rows } = await client.query<{ found: string | null }>(
      `SELECT string_agg(term_stats || ' ' || slug, E'\\n' ORDER BY slug) AS found FROM (${sql}) AS found`,
      [...values],
    );
    step = asking.next(slugsIn(rows[0]?.found ?? '', termStats));
  }
  return step.value;
}

/** Many rows cost more than one text that contains them all. */
function slugsIn(found: string, termStats: TermStats): readonly string[] {
  return found.split('\n').flatMap((row) => {
    const end = row.indexOf(' ', row.indexOf(' ') + 1);
    const slug = row.slice(end + 1);
    if (slug === '') return [];
    termStats.set(slug, row.slice(0, end));
    return [slug];
  });
}

async function countFound(client: Client, query: Query, asked: SearchQuery): Promise<number> {
  const { sql, values } = foundIn(query, asked, undefined, false);
  const { rows } = await client.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM (${sql}) AS found`,
    [...values],
  );
  return rows[0]?.count ?? 0;
}

/**
 * The first of them by slug. `OFFSET 0` keeps the planner on this path: the index finds the documents, they are sorted,
 * and conditions that need the text are checked in that order, until there are enough.
 */
function foundIn(query: Query, asked: SearchQuery, tier: Tier | undefined, isOrdered = true) {
  const { words, texts, values } = searchCondition(query, asked, tier === 'text' ? undefined : tier);
  const order = isOrdered ? 'ORDER BY slug' : '';
  const looked = texts === '' ? '' : ', words, title_words, heading_words, all_words';
  const matching = `SELECT slug, term_stats${looked} FROM docs_documents WHERE ${words} OFFSET 0`;
  const sql =
    texts === ''
      ? `SELECT slug, term_stats FROM (${matching}) AS matching ${order} LIMIT ${maxFound}`
      : `SELECT slug, term_stats FROM (SELECT * FROM (${matching}) AS matching ${order} OFFSET 0) AS ordered
         WHERE ${texts} LIMIT ${maxFound}`;
  return { sql, values };
}

interface Ranking {
  readonly found: readonly string[];
  readonly termStats: TermStats;
  readonly sample: Sample;
}

/** The best first; equal ones keep their order. */
function ranked(query: Query, { found, termStats, sample }: Ranking): readonly string[] {
  const score = createScore(query, sample);
  const scores = new Map(found.map((slug) => [slug, score(termStats.get(slug) ?? '')]));
  return found.toSorted((one, other) => (scores.get(other) ?? 0) - (scores.get(one) ?? 0));
}

async function readSample(client: Client, query: Query): Promise<Sample> {
  const { rows } = await client.query<{ word: number; count: string }>(
    'SELECT word, count FROM docs_sample WHERE word = ANY ($1)',
    [sampleRowsOf(query)],
  );
  // This engine returns long numbers as text.
  return rowsToSample(rows.map(({ word, count }) => ({ word, count: Number(count) })));
}

async function hitsOf(
  client: Client,
  found: readonly Joined<string>[],
  query: Query,
): Promise<readonly SearchHit[]> {
  const { rows } = await client.query<{ slug: string; path: string; metadata: string; body: string }>(
    'SELECT slug, path, metadata, body FROM docs_documents WHERE slug = ANY ($1)',
    [found.map(({ found: slug }) => slug)],
  );
  const bySlug = new Map(rows.map((row) => [row.slug, row]));
  return found.flatMap((joined) => {
    const row = bySlug.get(joined.found);
    if (!row) return [];
    const { path, metadata, body } = row;
    const document = { ...parseMetadata(metadata), path };
    const excerpt = excerptOf({ title: document.title, body }, query, joined);
    return { document, ...excerpt, matched: joined.matched };
  });
}

/** A condition on documents with the values of its parameters. It contains no text from a reader. */
interface Condition {
  /** The part that the index alone decides. */
  readonly words: string;
  /** The part that is checked in the remaining documents: whether words are adjacent. Empty if there is none. */
  readonly texts: string;
  readonly values: readonly string[];
}

/** The documents that have part of the query in that place or, without a place, all that match. */
function searchCondition(query: Query, filter: SearchQuery, place?: 'title' | 'heading'): Condition {
  const values: string[] = [];
  const parameter = (value: string) => `$${values.push(value)}`;
  const hasPhrase = (clause: Clause, mark = '') =>
    `strpos(${placesOf[mark]}, ${parameter(sideBySide(clause))}) > 0`;
  const words: string[] = filterFacets(filter).map(quoted);
  const texts: string[] = [];
  // Each parameter must occur in the condition, even if only phrases are excluded.
  const all = parameter('');

  if (place !== undefined) {
    const mark = place === 'title' ? titleMark : headingMark;
    words.push(`(${query.all.map((clause) => `(${lexemes(clause, mark)})`).join(' | ')})`);
    if (query.all.some(isPhrase)) {
      const any = query.all.map((clause) =>
        isPhrase(clause) ? hasPhrase(clause, mark) : `words @@ ${parameter(lexemes(clause, mark))}::tsquery`,
      );
      texts.push(`(${any.join(' OR ')})`);
    }
  }
  // The words of a title are also words of the document; very long headings are cut.
  const isImplied = place === 'title' && query.all.length === 1;
  for (const clause of isImplied ? [] : query.all) {
    words.push(`(${lexemes(clause)})`, ...Array.from(pairMarks(wholeWords(clause)), quoted));
    if (isPhrase(clause)) texts.push(hasPhrase(clause));
  }
  if (words.length === 0) words.push(quoted(anyFacet));
  if (!filter.drafts) words.push(`!${quoted(draftFacet)}`);
  for (const clause of query.none)
    if (isPhrase(clause)) texts.push(`NOT ${hasPhrase(clause)}`);
    else words.push(`!${lexemes(clause)}`);
  values[0] = words.join(' & ');
  const narrowing = isNarrowed(filter)
    ? ` AND starts_with(path, ${parameter(storable(filter.folder ?? ''))}) AND changed >= ${parameter(String(filter.changedSince ?? 0))}::bigint`
    : '';
  return { words: `words @@ ${all}::tsquery${narrowing}`, texts: texts.join(' AND '), values };
}

function isPhrase({ tokens }: Clause): boolean {
  return tokens.length > 1;
}

function wholeWords({ tokens, prefix }: Clause): readonly string[] {
  return prefix ? tokens.slice(0, -1) : tokens;
}

function quoted(lexeme: string): string {
  return `'${lexeme}'`;
}

/** The columns with the words of a document in order, by the mark of what is searched. */
const placesOf: Readonly<Record<string, string>> = {
  '': 'all_words',
  [titleMark]: 'title_words',
  [headingMark]: 'heading_words',
};

function lexemes(clause: Clause, mark = ''): string {
  const beginning = tryBeginning(clause);
  if (beginning !== undefined) return `'${mark}${beginning}'`;
  const words = clause.tokens.map((token) => `'${mark}${token}'`).join(' & ');
  return clause.prefix ? `${words}:*` : words;
}

function sideBySide({ tokens, prefix }: Clause): string {
  return ` ${tokens.join(' ')}${prefix ? '' : ' '}`;
}
