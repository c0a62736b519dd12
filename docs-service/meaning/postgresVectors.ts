import type pg from 'pg';
import { UnavailableError } from '../base/database.ts';
import { createPool, createPostgresStatements, inTransaction } from '../base/postgresConnection.ts';
import { VectorStore } from './vectorStore.ts';

/** The tables stay where the index is made anew. */
export async function openPostgresVectors(url: string, log: (message: string) => void): Promise<VectorStore> {
  const pool = createPool(url, log);
  try {
    await inTransaction(pool, UnavailableError, makeTables);
    return new VectorStore({
      ...createPostgresStatements(pool, UnavailableError),
      close: () => pool.end(),
      tables,
      isAmong: '= ANY (?)',
      usedHashes: `SELECT unnest(hashes) FROM ${tables.documents}`,
    });
  } catch (error) {
    await pool.end();
    throw error;
  }
}

/** An advisory lock of this program, beside those of the index. */
const schemaLock = 7_310_011;

async function makeTables(client: pg.ClientBase): Promise<void> {
  await client.query('SELECT pg_advisory_xact_lock($1)', [schemaLock]);
  await client.query(`
CREATE TABLE IF NOT EXISTS docs_vector_meta (name text PRIMARY KEY, value text NOT NULL);
CREATE TABLE IF NOT EXISTS docs_vector_documents (
  slug text COLLATE "C" PRIMARY KEY,
  content_hash text NOT NULL,
  draft boolean NOT NULL,
  hashes text[] NOT NULL
);
CREATE TABLE IF NOT EXISTS docs_vectors (
  model text NOT NULL,
  hash text COLLATE "C" NOT NULL,
  vector bytea NOT NULL,
  PRIMARY KEY (model, hash)
);
ALTER TABLE docs_vectors ALTER vector SET STORAGE EXTERNAL`);
}

const tables = { meta: 'docs_vector_meta', documents: 'docs_vector_documents', vectors: 'docs_vectors' };
