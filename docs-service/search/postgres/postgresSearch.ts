import type pg from 'pg';
import type { DocumentFilter } from '../documentIndex.ts';
import { isNarrowed, storable } from '../documentRecord.ts';
import {
  anyFacet,
  draftFacet,
  filterFacets,
  headingMark,
  titleMark,
  tryBeginning,
} from '../documentTokens.ts';
import type { Clause, Query } from '../query.ts';
import type { SearchEngine, StoredDocument } from '../searchEngine.ts';
import { maxFound, type Place } from '../tier.ts';
import { pairMarks } from './wordPairs.ts';

/**
 * Settings of the transaction of a search. Rows are narrow, but their words are long. The planner does not know that,
 * and would read the words of every row.
 */
export const searchSettings = "SET LOCAL enable_seqscan = off; SET LOCAL work_mem = '32MB'";

/** Finds documents by their slugs, for one search. Must run in a transaction with `searchSettings`. */
export function createSearcher(client: pg.ClientBase): SearchEngine<string> {
  const termStats = new Map<string, string>();
  return {
    find: async (query, filter, place) => {
      const { sql, values } = foundIn(query, filter, { place, isOrdered: true });
      // Many rows cost more than one text that contains them all.
      const { rows } = await client.query<{ found: string | null }>(
        `SELECT string_agg(term_stats || ' ' || slug, E'\\n' ORDER BY slug) AS found FROM (${sql}) AS found`,
        [...values],
      );
      const found = (rows[0]?.found ?? '').split('\n').filter((row) => row !== '');
      return found.map((row) => {
        const end = row.indexOf(' ', row.indexOf(' ') + 1);
        const slug = row.slice(end + 1);
        termStats.set(slug, row.slice(0, end));
        return slug;
      });
    },
    count: async (query, filter) => {
      const { sql, values } = foundIn(query, filter, { isOrdered: false });
      const { rows } = await client.query<{ count: number }>(
        `SELECT count(*)::int AS count FROM (${sql}) AS found`,
        [...values],
      );
      return rows[0]?.count ?? 0;
    },
    matching: async (query, filter, slugs) => {
      const { words, texts, values } = searchCondition(query, filter);
      const { rows } = await client.query<{ slug: string }>(
        `SELECT slug FROM docs_documents WHERE slug = ANY ($${values.length + 1}) AND ${words}${texts === '' ? '' : ` AND ${texts}`}`,
        [...values, slugs.map(storable)],
      );
      const found = new Set(rows.map(({ slug }) => slug));
      return (slug) => (found.has(slug) ? slug : undefined);
    },
    termStats: () => termStats,
    sample: async (words) => {
      const { rows } = await client.query<{ word: number; count: string }>(
        'SELECT word, count FROM docs_sample WHERE word = ANY ($1)',
        [words],
      );
      // This engine returns long numbers as text.
      return rows.map(({ word, count }) => ({ word, count: Number(count) }));
    },
    read: async (found) => {
      const { rows } = await client.query<StoredDocument & { slug: string }>(
        'SELECT slug, path, metadata, body FROM docs_documents WHERE slug = ANY ($1)',
        [found],
      );
      return new Map(rows.map((row) => [row.slug, row]));
    },
  };
}

/**
 * The first of them by slug. `OFFSET 0` keeps the planner on this path: the index finds the documents, they are sorted,
 * and conditions that need the text are checked in that order, until there are enough.
 */
function foundIn(
  query: Query,
  filter: DocumentFilter,
  { place, isOrdered }: { readonly place?: Place | undefined; readonly isOrdered: boolean },
) {
  const { words, texts, values } = searchCondition(query, filter, place);
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

/** A condition on documents with the values of its parameters. It contains no text from a reader. */
interface Condition {
  /** The part that the index alone decides. */
  readonly words: string;
  /** The part that is checked in the remaining documents: whether words are adjacent. Empty if there is none. */
  readonly texts: string;
  readonly values: readonly string[];
}

/** The documents that have part of the query in that place or, without a place, all that match. */
function searchCondition(query: Query, filter: DocumentFilter, place?: Place): Condition {
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
