import {
  createSqliteStatements,
  type Database,
  openDatabase,
  type SqliteValue,
} from '../base/sqliteDatabase.ts';
import { VectorStore } from './vectorStore.ts';

/** A file of another version is made anew: everything in it can be embedded again. */
export async function openSqliteVectors(file: string): Promise<VectorStore> {
  const isCurrent = (database: Database) =>
    database.prepare<{ user_version: number }>('PRAGMA user_version').get()?.user_version === version;
  const prepare = (database: Database) => {
    if (!isCurrent(database)) database.transaction(() => isCurrent(database) || database.exec(schema));
  };
  return createSqliteVectors(await openDatabase(file, { isCache: true, prepare }));
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

function createSqliteVectors(database: Database): VectorStore {
  const { rows, batch } = createSqliteStatements(database);
  return new VectorStore({
    rows: async <Row>(text: string, ...values: readonly (SqliteValue | readonly string[])[]) =>
      rows<Row>(text, ...values.map(toValue)),
    batch: async (statements) =>
      batch(statements.map(([text, ...values]) => [text, ...values.map(toValue)] as const)),
    close: async () => database.close(),
    tables: { meta: 'meta', documents: 'documents', vectors: 'vectors' },
    isAmong: `IN (SELECT value FROM ${eachOf('?')})`,
    usedHashes: `SELECT value FROM documents, ${eachOf('hashes')}`,
  });
}

/** Neither a slug nor a hash has a blank or a quote. */
function eachOf(list: string): string {
  return `json_each('["' || replace(${list}, ' ', '","') || '"]')`;
}

function toValue(value: SqliteValue | readonly string[]): SqliteValue {
  return value === null || typeof value !== 'object' || value instanceof Uint8Array ? value : value.join(' ');
}
