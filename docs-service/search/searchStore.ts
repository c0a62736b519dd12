import { storable } from './documentRecord.ts';
import type { IndexDatabase, SqlValue } from './indexDatabase.ts';
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
  const { any } = database.dialect;
  const visible = drafts ? 'documents' : '(documents - drafts)';
  const wordRows = (condition: string, ...values: readonly SqlValue[]) =>
    readWords(database, visible, `${visible} > 0 AND ${condition}`, ...values);
  return {
    words: (names) => wordRows(any('word'), names.map(storable)),
    wordsFrom: async (ranges) => {
      const found: WordRow[] = [];
      const statement =
        'word >= ? AND word < ? AND length(word) BETWEEN ? AND ? ORDER BY 2 DESC, word LIMIT ?';
      for (const { beginning, minLength, maxLength, limit } of ranges) {
        const lengths = [minLength, maxLength];
        found.push(...(await wordRows(statement, beginning, `${beginning}\u{10ffff}`, ...lengths, limit)));
      }
      return found;
    },
    postings: async (words, { hasPlaces }) => {
      const [last] = await database.rows<{ key: number | null }>(
        'SELECT max(key) AS key FROM docs_documents',
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

/**
 * Words of the index, as lines of one text: separate rows cost more than finding them.
 * @param documents how many documents have a word, in SQL
 */
export async function readWords(
  database: IndexDatabase,
  documents: string,
  condition: string,
  ...values: readonly SqlValue[]
): Promise<readonly WordRow[]> {
  const [found] = await database.rows<{ rows: string | null }>(
    `SELECT ${database.dialect.lines("id || ' ' || documents || ' ' || word")} AS rows
     FROM (SELECT id, ${documents} AS documents, word FROM docs_words WHERE ${condition}) AS found`,
    ...values,
  );
  return (found?.rows?.split('\n') ?? []).map((row) => {
    const [id, documents, word = ''] = row.split(' ');
    return { id: Number(id), documents: Number(documents), word };
  });
}
