import { type Database, isCorruption, openDatabase } from '../base/sqliteDatabase.ts';
import { removeDatabase } from '../search/sqlite/schema.ts';
import type { CompactVector } from './compactVector.ts';
import type { StoredDocument, VectorStore } from './vectorStore.ts';

/** A file of another version, or a damaged one, is made anew: everything in it can be embedded again. */
export async function openSqliteVectors(file: string): Promise<VectorStore> {
  try {
    return createSqliteVectors(await open(file));
  } catch (error) {
    if (!isCorruption(error)) throw error;
    removeDatabase(file);
    return createSqliteVectors(await open(file));
  }
}

/** Grows with every change of the tables. */
const version = 1;

const schema = `
DROP TABLE IF EXISTS meta;
DROP TABLE IF EXISTS documents;
DROP TABLE IF EXISTS vectors;
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE documents (
  slug TEXT PRIMARY KEY,
  content_hash TEXT NOT NULL,
  draft INTEGER NOT NULL,
  -- Of its sections, with a blank between each two.
  hashes TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE vectors (model TEXT NOT NULL, hash TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (model, hash));
PRAGMA user_version = ${version};
`;

async function open(file: string): Promise<Database> {
  const database = await openDatabase(file);
  try {
    const isCurrent = () =>
      database.prepare<{ user_version: number }>('PRAGMA user_version').get()?.user_version === version;
    if (!isCurrent()) database.transaction(() => isCurrent() || database.exec(schema));
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

interface DocumentRow {
  readonly slug: string;
  readonly content_hash: string;
  readonly draft: number;
  readonly hashes: string;
}

function createSqliteVectors(database: Database): VectorStore {
  const meta = database.prepare<{ value: string }>('SELECT value FROM meta WHERE name = ?');
  const setMeta = database.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)');
  const all = database.prepare<DocumentRow>('SELECT slug, content_hash, draft, hashes FROM documents');
  const putDocument = database.prepare('INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?)');
  const removeDocument = database.prepare('DELETE FROM documents WHERE slug = ?');
  const putVector = database.prepare('INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)');
  const forgetModel = database.prepare('DELETE FROM vectors WHERE model = ?');
  const found = database.prepare<{ hash: string; vector: Uint8Array | ArrayBuffer }>(
    'SELECT hash, vector FROM vectors WHERE model = ? AND hash IN (SELECT value FROM json_each(?))',
  );
  const unused = database.prepare(
    `DELETE FROM vectors WHERE model <> ?1
     OR hash NOT IN (SELECT value FROM documents, json_each('["' || replace(hashes, ' ', '","') || '"]'))`,
  );
  const changes = () => Number(meta.get('changes')?.value ?? 0);
  const change = (work: () => void) =>
    database.transaction(() => {
      work();
      setMeta.run('changes', String(changes() + 1));
    });
  return {
    changes: async () => changes(),
    documents: async () =>
      all.all().map(({ slug, content_hash: contentHash, draft, hashes }) => ({
        slug,
        contentHash,
        isDraft: draft !== 0,
        hashes: hashes === '' ? [] : hashes.split(' '),
      })),
    vectors: async (model, hashes) =>
      new Map(found.all(model, JSON.stringify(hashes)).map(({ hash, vector }) => [hash, stepsIn(vector)])),
    putVectors: async (model, vectors) =>
      change(() => {
        for (const [hash, { buffer, byteOffset, byteLength }] of vectors)
          putVector.run(model, hash, new Uint8Array(buffer, byteOffset, byteLength));
      }),
    forget: async (model) => change(() => forgetModel.run(model)),
    putDocuments: async (documents: readonly StoredDocument[]) =>
      change(() => {
        for (const { slug, contentHash, isDraft, hashes } of documents)
          putDocument.run(slug, contentHash, Number(isDraft), hashes.join(' '));
      }),
    removeDocuments: async (slugs) =>
      change(() => {
        for (const slug of slugs) removeDocument.run(slug);
      }),
    serving: async () => meta.get('serving')?.value,
    serve: async (model) =>
      change(() => {
        setMeta.run('serving', model);
        unused.run(model);
      }),
    close: async () => database.close(),
  };
}

/** The two engines have bytes in different forms. */
function stepsIn(bytes: Uint8Array | ArrayBuffer): CompactVector {
  return bytes instanceof ArrayBuffer
    ? new Int8Array(bytes)
    : new Int8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
