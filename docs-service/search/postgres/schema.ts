import type pg from 'pg';
import { inTransaction } from '../../base/postgresConnection.ts';
import { analyserRules } from '../analyser.ts';
import { IndexUnavailableError } from '../documentIndex.ts';

/** Grows with every change of the tables, and of how files are read: then all of them are read again. */
export const schemaVersion = `13 ${analyserRules}`;

/** Advisory locks of this program. Any numbers will do, as long as nobody else in this database uses them. */
export const locks = { schema: 7_310_001, writing: 7_310_002, lease: 7_310_003 };

/** Creates the tables of the index. Those of another version are dropped: the index is a cache. */
export async function migrate(pool: pg.Pool): Promise<void> {
  await inTransaction(pool, { Unavailable: IndexUnavailableError }, async (client) => {
    await client.query('SELECT pg_advisory_xact_lock($1)', [locks.schema]);
    const { rows } = await client.query<{ made: number }>(
      `SELECT num_nonnulls(${tables.map((name) => `to_regclass('${name}')`).join(', ')}) AS made`,
    );
    // If some of the tables were dropped, the others are useless.
    const version = rows[0]?.made === tables.length ? await versionOf(client) : undefined;
    if (version === schemaVersion) return;
    await client.query("SET LOCAL statement_timeout = '120s'");
    const named = await namedFiles(client);
    await client.query(schema);
    await client.query(
      `INSERT INTO docs_files (path, look, content_hash, slug, details)
       SELECT path, '', '', slug, '{}' FROM unnest($1::text[], $2::text[]) AS named (path, slug)`,
      [named.map(({ path }) => path), named.map(({ slug }) => slug)],
    );
    await client.query("INSERT INTO docs_meta VALUES ('version', $1), ('indexId', $2)", [
      schemaVersion,
      `${Date.now()} ${Math.random()}`,
    ]);
  });
}

/** The slugs in an index of another version: the new one begins with these files, as if all of them had changed. */
async function namedFiles(
  client: pg.ClientBase,
): Promise<readonly { readonly path: string; readonly slug: string }[]> {
  const columns = await client.query(
    "SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass('docs_documents') AND attname IN ('path', 'slug')",
  );
  if (columns.rows.length < 2) return [];
  const { rows } = await client.query<{ path: string; slug: string }>(
    'SELECT path, slug FROM docs_documents',
  );
  return rows;
}

async function versionOf(client: pg.ClientBase): Promise<string | undefined> {
  const { rows } = await client.query<{ value: string }>(
    "SELECT value FROM docs_meta WHERE name = 'version'",
  );
  return rows[0]?.value;
}

const tables = ['docs_meta', 'docs_documents', 'docs_scopes', 'docs_listing', 'docs_sample', 'docs_files'];

const schema = `
DROP TABLE IF EXISTS ${tables.join(', ')};
CREATE TABLE docs_meta (name text PRIMARY KEY, value text NOT NULL);
CREATE TABLE docs_documents (
  slug text COLLATE "C" PRIMARY KEY,
  reversed text COLLATE "C" NOT NULL,
  path text NOT NULL,
  -- Empty if it is the same as the short form.
  own text NOT NULL,
  short text NOT NULL,
  long text NOT NULL,
  draft boolean NOT NULL,
  -- When its text was found to be another one, in milliseconds since 1970.
  changed bigint NOT NULL,
  -- What documents are ranked by; relevance.ts has it.
  term_stats text NOT NULL,
  metadata text NOT NULL,
  body text NOT NULL,
  words tsvector NOT NULL,
  title_words text NOT NULL,
  heading_words text NOT NULL,
  all_words text NOT NULL
  -- A search visits the rows of all that match, so that they are narrow: whatever is long stands elsewhere.
) WITH (toast_tuple_target = 256);
-- To look a phrase up in these is faster where they are not compressed.
ALTER TABLE docs_documents ALTER title_words SET STORAGE EXTERNAL, ALTER heading_words SET STORAGE EXTERNAL,
  ALTER all_words SET STORAGE EXTERNAL, ALTER term_stats SET STORAGE MAIN;
CREATE INDEX ON docs_documents (reversed);
-- A path may be longer than an entry of a tree.
CREATE INDEX ON docs_documents USING hash (path);
CREATE INDEX ON docs_documents (own) WHERE own <> '';
CREATE INDEX ON docs_documents USING hash (short);
CREATE INDEX ON docs_documents USING hash (long);
CREATE INDEX ON docs_documents USING gin (words);
-- Whatever lists are filtered by: all, a type, a tag, a type with a tag.
CREATE TABLE docs_scopes (
  scope int GENERATED ALWAYS AS IDENTITY,
  name text COLLATE "C" PRIMARY KEY,
  visible int NOT NULL,
  drafts int NOT NULL
) WITH (fillfactor = 50);
CREATE TABLE docs_listing (
  scope int NOT NULL,
  rank bigint NOT NULL,
  place text COLLATE "C" NOT NULL,
  slug text COLLATE "C" NOT NULL,
  draft boolean NOT NULL
);
-- With everything that a page is found by, so that the rows need not be visited.
CREATE UNIQUE INDEX ON docs_listing (scope, rank, place, slug) INCLUDE (draft);
-- How common words are; relevance.ts has it too.
CREATE TABLE docs_sample (word int PRIMARY KEY, count bigint NOT NULL) WITH (fillfactor = 50);
CREATE TABLE docs_files (
  path text COLLATE "C" NOT NULL,
  look text NOT NULL,
  content_hash text NOT NULL,
  slug text,
  problem text,
  -- As JSON; null if there are none.
  warnings text,
  -- As JSON: what else is known of the file.
  details text NOT NULL
);
CREATE INDEX ON docs_files USING hash (path);
`;
