import { storable } from './documentRecord.ts';
import type { IndexDatabase } from './indexDatabase.ts';
import { firstRow } from './indexDatabase.ts';
import { blockSize, type PostingRow, rowId, toEntries, toPlaces, wordsInBlock } from './postings.ts';
import type { SearchStore, StoredDocument } from './searchEngine.ts';
import type { WordRow } from './vocabulary.ts';

/** A row of postings as its engine gives it. */
export interface StoredPostings {
  readonly id: number;
  readonly entries: ArrayBuffer | Uint8Array;
  readonly places?: ArrayBuffer | Uint8Array;
}

export function toPostings({ entries, places }: StoredPostings): PostingRow {
  return { entries: toEntries(entries), places: toPlaces(places) };
}

/**
 * What a search reads.
 * @param drafts whether the reader sees them
 */
export function createSearchStore(database: IndexDatabase, drafts: boolean): SearchStore {
  const { any, lines } = database.dialect;
  const visible = drafts ? 'documents' : '(documents - drafts)';
  const wordRows = async (
    statement: string,
    ...values: Parameters<IndexDatabase['rows']> extends [string, ...infer Values] ? Values : never
  ) => {
    const row = await firstRow(
      database.rows<{ rows: string | null }>(
        `SELECT ${wordLines(lines)} AS rows FROM (SELECT id, ${visible} AS documents, word FROM docs_words WHERE ${visible} > 0 AND ${statement}) AS found`,
        ...values,
      ),
    );
    return parseWords(row?.rows ?? '');
  };
  return {
    words: (names) => wordRows(any('word'), names.map(storable)),
    wordsFrom: async (ranges) => {
      const found: WordRow[] = [];
      for (const { beginning, minLength, maxLength, limit } of ranges)
        found.push(
          ...(await wordRows(
            'word >= ? AND word < ? AND length(word) BETWEEN ? AND ? ORDER BY 2 DESC, word LIMIT ?',
            ...[beginning, `${beginning}\u{10ffff}`, minLength, maxLength, limit],
          )),
        );
      return found;
    },
    postings: async (words, { hasPlaces }) => {
      const last = await firstRow(
        database.rows<{ key: number | null }>('SELECT max(key) AS key FROM docs_documents'),
      );
      const blocks = Math.floor((last?.key ?? 0) / blockSize);
      const ids = Array.from({ length: blocks + 1 }, (_, block) =>
        words.map((word) => rowId(block, word)),
      ).flat();
      const rows = await database.rows<StoredPostings>(
        `SELECT id, entries${hasPlaces ? ', places' : ''} FROM docs_postings WHERE ${any('id')} ORDER BY id`,
        ids,
      );
      const found = new Map<number, Map<number, PostingRow>>();
      for (const row of rows) {
        const number = Math.floor(row.id / wordsInBlock);
        const block = found.get(number) ?? new Map();
        found.set(number, block.set(row.id % wordsInBlock, toPostings(row)));
      }
      return found;
    },
    changedSince: async (time) =>
      keysOf(await database.rows('SELECT key FROM docs_documents WHERE changed >= ?', time)),
    keysOf: async (slugs) => {
      const rows = await database.rows<{ key: number; slug: string }>(
        `SELECT key, slug FROM docs_documents WHERE ${any('slug')}`,
        slugs.map(storable),
      );
      return new Map(rows.map(({ key, slug }) => [slug, key]));
    },
    bySlug: async (keys) =>
      keysOf(await database.rows(`SELECT key FROM docs_documents WHERE ${any('key')} ORDER BY slug`, keys)),
    read: async (keys) => {
      const rows = await database.rows<StoredDocument & { readonly key: number }>(
        `SELECT key, path, metadata, body FROM docs_documents JOIN docs_bodies USING (key) WHERE ${any('key')}`,
        keys,
      );
      return new Map(rows.map((row) => [row.key, row]));
    },
  };
}

function keysOf(rows: readonly { readonly key: number }[]): readonly number[] {
  return rows.map(({ key }) => key);
}

/** Rows of words as lines of one text: separate rows cost more than finding them. */
export function wordLines(lines: IndexDatabase['dialect']['lines']): string {
  return lines("id || ' ' || documents || ' ' || word");
}

export function parseWords(rows: string): readonly WordRow[] {
  if (rows === '') return [];
  return rows.split('\n').map((row) => {
    const [id, documents, word = ''] = row.split(' ');
    return { id: Number(id), documents: Number(documents), word };
  });
}
