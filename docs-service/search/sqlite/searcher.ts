import type { Database } from '../../base/sqliteDatabase.ts';
import type { DocumentFilter } from '../documentIndex.ts';
import { isNarrowed, pathRange } from '../documentRecord.ts';
import {
  anyFacet,
  draftFacet,
  filterFacets,
  headingMark,
  slugMark,
  titleMark,
  tryBeginning,
} from '../documentTokens.ts';
import type { Clause, Query } from '../query.ts';
import type { SampleRow } from '../relevance.ts';
import type { SearchEngine, StoredDocument } from '../searchEngine.ts';
import { maxFound, type Place } from '../tier.ts';

/**
 * Finds documents by their sort keys. They are ranked by term statistics beside the index, because FTS5's own rank
 * would first count all documents of each word.
 */
export function createSearcher(database: Database): SearchEngine<number> {
  const stats = database.prepare<{ rows: string }>(
    `SELECT group_concat(sort_key || ' ' || stats, char(10)) AS rows FROM term_stats
     WHERE sort_key IN (SELECT value FROM json_each(?))`,
  );
  const sampled = database.prepare<SampleRow>(
    'SELECT word, count FROM sample WHERE word IN (SELECT value FROM json_each(?))',
  );
  const bySortKey = database.prepare<StoredDocument>(
    'SELECT path, metadata, body FROM documents JOIN bodies USING (key) WHERE sort_key = ?',
  );
  return {
    ...createFinder(database),
    termStats: (found) => {
      const rows = (stats.get(JSON.stringify(found))?.rows ?? '').split('\n');
      return new Map(
        rows.map((row) => {
          const space = row.indexOf(' ');
          return [Number(row.slice(0, space)), row.slice(space + 1)];
        }),
      );
    },
    sample: (words) => sampled.all(JSON.stringify(words)),
    read: (found) => new Map(found.flatMap((key) => bySortKey.all(key).map((row) => [key, row]))),
  };
}

function createFinder(database: Database): Pick<SearchEngine<number>, 'find' | 'count' | 'matching'> {
  const statements = (condition: string) => {
    const some = `SELECT rowid AS sort_key FROM words WHERE words MATCH ? ${condition} ORDER BY rowid LIMIT ${maxFound}`;
    return {
      // Separate rows cost more than finding them, so many keys come in one text.
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
  const boundsOf = ({ folder, changedSince = 0 }: DocumentFilter) => [...pathRange(folder), changedSince];
  const parametersOf = (query: Query, filter: DocumentFilter, place?: Place) => [
    ftsQuery(query, filter, place),
    ...(isNarrowed(filter) ? boundsOf(filter) : []),
  ];
  const statementsFor = (filter: DocumentFilter) => (isNarrowed(filter) ? within : everywhere);
  // Node's own SQLite passes a number on as a real one, which this kind of table does not compare with its rows.
  const isOne = database.prepare('SELECT 1 FROM words WHERE words MATCH ? AND rowid = CAST(? AS INTEGER)');
  const located = database.prepare<{ slug: string; sort_key: number }>(
    `SELECT slug, sort_key FROM documents WHERE slug IN (SELECT value FROM json_each(?)) AND draft <= ?
     AND path >= ? AND path < ? AND changed >= ?`,
  );
  return {
    find: (query, filter, place) =>
      statementsFor(filter)
        .sortKeys.all(...parametersOf(query, filter, place))
        .flatMap(({ keys }) => JSON.parse(keys) as number[])
        .sort((one, other) => one - other),
    count: (query, filter) => statementsFor(filter).count.get(...parametersOf(query, filter))?.count ?? 0,
    matching: (query, filter, slugs) => {
      const rows = located.all(
        JSON.stringify([...new Set(slugs)]),
        Number(filter.drafts),
        ...boundsOf(filter),
      );
      const keys = new Map(rows.map(({ slug, sort_key }) => [slug, sort_key]));
      const isPlain = query.all.length + query.none.length + filterFacets(filter).length === 0;
      const match = ftsQuery(query, filter);
      return (slug) => {
        const key = keys.get(slug);
        return key === undefined || isPlain || isOne.get(match, key) !== undefined ? key : undefined;
      };
    },
  };
}

/** The FTS5 query for the documents with part of a query in a place, or for all. It has no text from the reader. */
function ftsQuery(query: Query, filter: DocumentFilter, place?: Place): string {
  const inTitle = query.all.map((clause) => phrase(clause, titleMark));
  const inHeadings = query.all.map((clause) => phrase(clause, headingMark));
  const all = [...query.all.map((clause) => phrase(clause)), ...filterFacets(filter).map(quoted)];
  const none = [
    ...query.none.map((clause) => phrase(clause)),
    ...(filter.drafts ? [] : [quoted(draftFacet)]),
  ];
  if (place === 'title') all.push(`(${inTitle.join(' OR ')})`);
  if (place === 'heading') {
    all.push(`(${inHeadings.join(' OR ')})`);
    none.push(...inTitle);
  }
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
