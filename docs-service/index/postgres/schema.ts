import type pg from 'pg';
import { analyserRules } from '../analyser.ts';
import { inTransaction } from './connection.ts';

/** Grows with every change of the tables. Several versions of Node may share a database. */
export const schemaVersion = `1 ${analyserRules}`;

/** Advisory locks of this program. Any numbers do, as long as nobody else in this database uses them. */
export const locks = { schema: 7_310_001, writing: 7_310_002, lease: 7_310_003 };

/** Makes the tables of the index. Those of another version are dropped: the index is a cache. */
export async function migrate(pool: pg.Pool): Promise<void> {
  await inTransaction(pool, 'BEGIN', async (client) => {
    await client.query('SELECT pg_advisory_xact_lock($1)', [locks.schema]);
    const { rows } = await client.query<{ made: number }>(
      "SELECT num_nonnulls(to_regclass('docs_meta'), to_regclass('docs_documents'), to_regclass('docs_files')) AS made",
    );
    // Where only some were dropped, the others are of no use.
    const version = rows[0]?.made === 3 ? await versionOf(client) : undefined;
    if (version === schemaVersion) return;
    await client.query("SET LOCAL statement_timeout = '120s'");
    await client.query(schema);
    await client.query("INSERT INTO docs_meta VALUES ('version', $1), ('birth', $2)", [
      schemaVersion,
      `${Date.now()} ${Math.random()}`,
    ]);
  });
}

async function versionOf(client: pg.ClientBase): Promise<string | undefined> {
  const { rows } = await client.query<{ value: string }>(
    "SELECT value FROM docs_meta WHERE name = 'version'",
  );
  return rows[0]?.value;
}

const schema = `
DROP TABLE IF EXISTS docs_meta, docs_documents, docs_files;
CREATE TABLE docs_meta (name text PRIMARY KEY, value text NOT NULL);
CREATE TABLE docs_documents (
  slug text COLLATE "C" PRIMARY KEY,
  reversed text COLLATE "C" NOT NULL,
  path text NOT NULL,
  draft boolean NOT NULL,
  rank bigint NOT NULL,
  facets text[] NOT NULL,
  metadata text NOT NULL,
  body text NOT NULL,
  words tsvector NOT NULL,
  title_words text NOT NULL,
  heading_words text NOT NULL,
  all_words text NOT NULL
);
CREATE INDEX ON docs_documents (rank, slug);
CREATE INDEX ON docs_documents (reversed);
-- A path may be longer than an entry of a tree.
CREATE INDEX ON docs_documents USING hash (path);
CREATE INDEX ON docs_documents USING gin (facets);
CREATE INDEX ON docs_documents USING gin (words);
CREATE TABLE docs_files (
  path text COLLATE "C" NOT NULL,
  size bigint NOT NULL,
  modified bigint NOT NULL,
  content_hash text NOT NULL,
  slug text,
  problem text
);
CREATE INDEX ON docs_files USING hash (path);
`;
