import type pg from 'pg';
import { storable } from '../documentRecord.ts';
import type { PostingChanges } from '../postingChanges.ts';
import { changedRow, type PostingRow, toBytes, toEntries } from '../postings.ts';
import type { SearchStore, StoredDocument } from '../searchEngine.ts';
import type { WordRow } from '../vocabulary.ts';

interface StoredRow {
  readonly block: number;
  readonly word: number;
  readonly entries: Buffer;
  readonly places?: Buffer;
}

function toRow({ entries, places = Buffer.alloc(0) }: StoredRow): PostingRow {
  return { entries: toEntries(entries), places };
}

/** Writes the words of the documents that change. Must end the transaction. */
export async function writeWords(client: pg.ClientBase, changes: PostingChanges): Promise<void> {
  const words = changes.words();
  if (words.length === 0) return;
  const { rows: counted } = await client.query<Omit<WordRow, 'documents'>>(
    `INSERT INTO docs_words (word, documents, drafts)
     SELECT word, documents, drafts FROM json_to_recordset($1) AS changed (word text, documents int, drafts int)
     ON CONFLICT (word) DO UPDATE
     SET documents = docs_words.documents + excluded.documents, drafts = docs_words.drafts + excluded.drafts
     RETURNING id, word`,
    [JSON.stringify(words)],
  );
  const changed = changes.rows(new Map(counted.map(({ id, word }) => [word, id])));
  const old = await takeRows(client, changed);
  const rows = changed.flatMap(({ block, word, changes }) => {
    const row = changedRow(old.get(`${block} ${word}`), changes);
    return row ? [{ block, word, ...row }] : [];
  });
  await client.query(
    `INSERT INTO docs_postings (block, word, entries, places)
     SELECT * FROM unnest($1::int[], $2::int[], $3::bytea[], $4::bytea[])`,
    [
      rows.map(({ block }) => block),
      rows.map(({ word }) => word),
      rows.map(({ entries }) => Buffer.from(toBytes(entries))),
      rows.map(({ places }) => Buffer.from(places)),
    ],
  );
  await client.query('DELETE FROM docs_words WHERE id > 1 AND documents = 0 AND id = ANY ($1)', [
    counted.map(({ id }) => id),
  ]);
}

async function takeRows(
  client: pg.ClientBase,
  wanted: readonly Pick<StoredRow, 'block' | 'word'>[],
): Promise<ReadonlyMap<string, PostingRow>> {
  const { rows } = await client.query<StoredRow>(
    `DELETE FROM docs_postings USING unnest($1::int[], $2::int[]) AS old (block, word)
     WHERE docs_postings.block = old.block AND docs_postings.word = old.word
     RETURNING docs_postings.block, docs_postings.word, entries, places`,
    [wanted.map(({ block }) => block), wanted.map(({ word }) => word)],
  );
  return new Map(rows.map((row) => [`${row.block} ${row.word}`, toRow(row)]));
}

/**
 * For one search. Must run in a transaction that sees one state.
 * @param drafts whether the reader sees them
 */
export function createSearchStore(client: pg.ClientBase, drafts: boolean): SearchStore {
  const visible = drafts ? 'documents' : '(documents - drafts)';
  const rowsOf = async <Row extends pg.QueryResultRow>(text: string, ...values: readonly unknown[]) =>
    (await client.query<Row>(text, [...values])).rows;
  return {
    words: (names) =>
      rowsOf<WordRow>(
        `SELECT id, word, ${visible} AS documents FROM docs_words WHERE word = ANY ($1) AND ${visible} > 0`,
        names,
      ),
    wordsFrom: (ranges) =>
      rowsOf<WordRow>(
        `SELECT found.* FROM unnest($1::text[], $2::int[], $3::int[]) WITH ORDINALITY AS range (beginning, longest, most, place)
         CROSS JOIN LATERAL (
           SELECT id, word, ${visible} AS documents FROM docs_words
           WHERE word >= beginning AND word < beginning || U&'\\+10FFFF' AND length(word) <= longest AND ${visible} > 0
           ORDER BY 3 DESC, word LIMIT most
         ) AS found ORDER BY place, documents DESC, word`,
        ranges.map(({ beginning }) => beginning),
        ranges.map(({ maxLength }) => maxLength),
        ranges.map(({ limit }) => limit),
      ),
    postings: async (words, { hasPlaces }) => {
      const blocks = new Map<number, Map<number, PostingRow>>();
      const rows = await rowsOf<StoredRow>(
        `SELECT block, word, entries${hasPlaces ? ', places' : ''} FROM docs_postings WHERE word = ANY ($1) ORDER BY block`,
        words,
      );
      for (const row of rows) {
        const block = blocks.get(row.block) ?? new Map();
        blocks.set(row.block, block.set(row.word, toRow(row)));
      }
      return blocks;
    },
    changedSince: async (time) =>
      (await rowsOf<{ key: number }>('SELECT key FROM docs_documents WHERE changed >= $1', time)).map(
        ({ key }) => key,
      ),
    keysOf: async (slugs) => {
      const rows = await rowsOf<{ key: number; slug: string }>(
        'SELECT key, slug FROM docs_documents WHERE slug = ANY ($1)',
        slugs.map(storable),
      );
      return new Map(rows.map(({ key, slug }) => [slug, key]));
    },
    bySlug: async (keys) =>
      (
        await rowsOf<{ key: number }>(
          'SELECT key FROM docs_documents WHERE key = ANY ($1) ORDER BY slug',
          keys,
        )
      ).map(({ key }) => key),
    read: async (keys) => {
      const rows = await rowsOf<StoredDocument & { readonly key: number }>(
        'SELECT key, path, metadata, body FROM docs_documents WHERE key = ANY ($1)',
        keys,
      );
      return new Map(rows.map((row) => [row.key, row]));
    },
  };
}
