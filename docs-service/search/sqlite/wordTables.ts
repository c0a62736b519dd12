import type { Database } from '../../base/sqliteDatabase.ts';
import type { PostingChanges } from '../postingChanges.ts';
import { blockSize, changedRow, type PostingRow, toBytes, toEntries } from '../postings.ts';
import type { SearchStore, StoredDocument } from '../searchEngine.ts';
import type { WordRow } from '../vocabulary.ts';
import { createRowInsertion } from './rowInsertion.ts';

/** As the database has them: libsql gives buffers of their own, Node's own SQLite parts of larger ones. */
interface StoredRow {
  readonly id: number;
  readonly entries: ArrayBuffer | Uint8Array;
  readonly places?: ArrayBuffer | Uint8Array;
}

/** The number of a row, with which new rows are at the end: the block, and 26 bits for the word. */
const wordsInBlock = 2 ** 26;

function toRow({ entries, places = new Uint8Array() }: StoredRow): PostingRow {
  return {
    entries: toEntries(entries),
    places: places instanceof Uint8Array ? places : new Uint8Array(places),
  };
}

/** Writes the words of the documents that change. */
export function createWordTables(database: Database) {
  const count = database.prepare(
    `INSERT INTO words (word, documents, drafts) SELECT value ->> 'word', value ->> 'documents', value ->> 'drafts'
     FROM json_each(?) WHERE true
     ON CONFLICT (word) DO UPDATE SET documents = documents + excluded.documents, drafts = drafts + excluded.drafts`,
  );
  // Separate rows cost more than finding them, so many come in one text.
  const number = database.prepare<{ rows: string | null }>(
    `SELECT group_concat(id || ' ' || documents || ' ' || word, char(10)) AS rows FROM words
     WHERE word IN (SELECT value FROM json_each(?))`,
  );
  const forget = database.prepare(
    'DELETE FROM words WHERE id > 1 AND documents = 0 AND id IN (SELECT value FROM json_each(?))',
  );
  const find = database.prepare<{ rows: string | null }>(
    `SELECT group_concat(id || ' ' || hex(entries) || ' ' || hex(places), char(10)) AS rows FROM postings
     WHERE id IN (SELECT value FROM json_each(?))`,
  );
  const remove = database.prepare('DELETE FROM postings WHERE id IN (SELECT value FROM json_each(?))');
  const put = createRowInsertion(database, 'INSERT OR REPLACE INTO postings VALUES', 3);
  return {
    write: (changes: PostingChanges) => {
      const words = changes.words();
      if (words.length === 0) return;
      count.run(JSON.stringify(words));
      const stored = number.get(JSON.stringify(words.map(({ word }) => word)))?.rows ?? '';
      const numbers = new Map(parseWords(stored).map(({ id, word }) => [word, id]));
      const changed = changes
        .rows(numbers)
        .map(({ block, word, changes }) => ({ id: block * wordsInBlock + word, changes }));
      const old = parseRows(find.get(JSON.stringify(changed.map(({ id }) => id)))?.rows ?? '');
      const rows = changed.map(({ id, changes }) => ({ id, row: changedRow(old.get(id), changes) }));
      remove.run(JSON.stringify(rows.flatMap(({ id, row }) => (row ? [] : [id]))));
      put(rows.flatMap(({ id, row }) => (row ? [[id, toBytes(row.entries), row.places]] : [])));
      forget.run(JSON.stringify([...numbers.values()]));
    },
  };
}

/** @param drafts whether the reader sees them */
export function createSearchStore(database: Database): (drafts: boolean) => SearchStore {
  const visible = 'documents - drafts * (1 - ?1)';
  const named = database.prepare<WordRow>(
    `SELECT id, word, ${visible} AS documents FROM words
     WHERE word IN (SELECT value FROM json_each(?2)) AND ${visible} > 0`,
  );
  const from = database.prepare<{ rows: string | null }>(
    `SELECT group_concat(id || ' ' || documents || ' ' || word, char(10)) AS rows FROM (
       SELECT id, ${visible} AS documents, word FROM words
       WHERE word >= ?2 AND word < ?2 || char(1114111) AND length(word) <= ?3 AND ${visible} > 0
       ORDER BY 2 DESC, word LIMIT ?4)`,
  );
  const postings = (columns: string) =>
    database.prepare<StoredRow>(
      `WITH RECURSIVE blocks (block) AS
         (SELECT 0 UNION ALL SELECT block + 1 FROM blocks WHERE block < (SELECT max(key) / ${blockSize} FROM documents))
       SELECT postings.id, ${columns} FROM blocks CROSS JOIN json_each(?) AS word
       CROSS JOIN postings ON postings.id = block * ${wordsInBlock} + word.value`,
    );
  const [entries, places] = [postings('entries'), postings('entries, places')];
  const changed = database.prepare<{ keys: string }>(
    'SELECT json_group_array(key) AS keys FROM documents WHERE changed >= ?',
  );
  const keys = database.prepare<{ key: number; slug: string }>(
    'SELECT key, slug FROM documents WHERE slug IN (SELECT value FROM json_each(?))',
  );
  const slugs = database.prepare<{ keys: string }>(
    `SELECT json_group_array(key) AS keys FROM
       (SELECT key FROM documents WHERE key IN (SELECT value FROM json_each(?)) ORDER BY slug)`,
  );
  const document = database.prepare<StoredDocument>(
    'SELECT path, metadata, body FROM documents JOIN bodies USING (key) WHERE key = ?',
  );
  return (drafts) => ({
    words: (names) => named.all(Number(drafts), JSON.stringify(names)),
    wordsFrom: (ranges) =>
      ranges.flatMap(({ beginning, maxLength, limit }) =>
        parseWords(from.get(Number(drafts), beginning, maxLength, limit)?.rows ?? ''),
      ),
    postings: (words, { hasPlaces }) => {
      const blocks = new Map<number, Map<number, PostingRow>>();
      for (const row of (hasPlaces ? places : entries).all(JSON.stringify(words))) {
        const number = Math.floor(row.id / wordsInBlock);
        const block = blocks.get(number) ?? new Map();
        blocks.set(number, block.set(row.id % wordsInBlock, toRow(row)));
      }
      return blocks;
    },
    changedSince: (time) => JSON.parse(changed.get(time)?.keys ?? '[]') as number[],
    keysOf: (names) => new Map(keys.all(JSON.stringify(names)).map(({ key, slug }) => [slug, key])),
    bySlug: (some) => JSON.parse(slugs.get(JSON.stringify(some))?.keys ?? '[]') as number[],
    read: (some) => new Map(some.flatMap((key) => document.all(key).map((row) => [key, row]))),
  });
}

function parseRows(rows: string): ReadonlyMap<number, PostingRow> {
  const parts = rows === '' ? [] : rows.split('\n').map((row) => row.split(' '));
  return new Map(
    parts.map(([id, entries = '', places = '']) => [
      Number(id),
      { entries: toEntries(Buffer.from(entries, 'hex')), places: Buffer.from(places, 'hex') },
    ]),
  );
}

function parseWords(rows: string): readonly WordRow[] {
  return rows === ''
    ? []
    : rows.split('\n').map((row) => {
        const [id, documents, word = ''] = row.split(' ');
        return { id: Number(id), documents: Number(documents), word };
      });
}
