import type pg from 'pg';
import { UnavailableError } from '../base/database.ts';
import { createPool, inTransaction, toUnavailable } from '../base/postgresConnection.ts';
import type { StoredDocument, VectorStore } from './vectorStore.ts';

/** The tables stay where the index is made anew. */
export async function openPostgresVectors(url: string, log: (message: string) => void): Promise<VectorStore> {
  const pool = createPool(url, log);
  try {
    await inTransaction(pool, { Unavailable: UnavailableError }, makeTables);
    return createPostgresVectors(pool);
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

function createPostgresVectors(pool: pg.Pool): VectorStore {
  const fail = toUnavailable(UnavailableError);
  const rows = async <Row extends pg.QueryResultRow>(text: string, ...values: readonly unknown[]) =>
    (await pool.query<Row>(text, [...values]).catch(fail)).rows;
  const changing = (work: (client: pg.ClientBase) => Promise<unknown>) =>
    inTransaction(pool, { Unavailable: UnavailableError }, async (client) => {
      await work(client);
      await client.query(
        `INSERT INTO docs_vector_meta VALUES ('changes', '1')
         ON CONFLICT (name) DO UPDATE SET value = (docs_vector_meta.value::bigint + 1)::text`,
      );
    });
  const meta = async (name: string) => {
    const [row] = await rows<{ value: string }>('SELECT value FROM docs_vector_meta WHERE name = $1', name);
    return row?.value;
  };
  return {
    changes: async () => Number((await meta('changes')) ?? 0),
    documents: () =>
      rows<StoredDocument>(
        'SELECT slug, content_hash AS "contentHash", draft AS "isDraft", hashes FROM docs_vector_documents',
      ),
    vectors: async (model, hashes) => {
      const found = await rows<{ hash: string; vector: Buffer }>(
        'SELECT hash, vector FROM docs_vectors WHERE model = $1 AND hash = ANY ($2)',
        model,
        hashes,
      );
      return new Map(
        found.map(({ hash, vector: { buffer, byteOffset, byteLength } }) => [
          hash,
          new Int8Array(buffer, byteOffset, byteLength),
        ]),
      );
    },
    putVectors: (model, vectors) =>
      changing((client) =>
        client.query(
          `INSERT INTO docs_vectors SELECT $1, hash, vector FROM unnest($2::text[], $3::bytea[]) AS put (hash, vector)
           ON CONFLICT (model, hash) DO UPDATE SET vector = EXCLUDED.vector`,
          [
            model,
            [...vectors.keys()],
            Array.from(vectors.values(), ({ buffer, byteOffset, byteLength }) =>
              Buffer.from(buffer, byteOffset, byteLength),
            ),
          ],
        ),
      ),
    forget: (model) =>
      changing((client) => client.query('DELETE FROM docs_vectors WHERE model = $1', [model])),
    putDocuments: (documents) =>
      changing(async (client) => {
        for (const { slug, contentHash, isDraft, hashes } of documents)
          await client.query(
            `INSERT INTO docs_vector_documents VALUES ($1, $2, $3, $4) ON CONFLICT (slug) DO UPDATE
             SET content_hash = EXCLUDED.content_hash, draft = EXCLUDED.draft, hashes = EXCLUDED.hashes`,
            [slug, contentHash, isDraft, hashes],
          );
      }),
    removeDocuments: (slugs) =>
      changing((client) => client.query('DELETE FROM docs_vector_documents WHERE slug = ANY ($1)', [slugs])),
    serving: () => meta('serving'),
    serve: (model) =>
      changing(async (client) => {
        await client.query(
          "INSERT INTO docs_vector_meta VALUES ('serving', $1) ON CONFLICT (name) DO UPDATE SET value = $1",
          [model],
        );
        await client.query(
          `DELETE FROM docs_vectors WHERE model <> $1
           OR hash NOT IN (SELECT unnest(hashes) FROM docs_vector_documents)`,
          [model],
        );
      }),
    close: () => pool.end(),
  };
}
