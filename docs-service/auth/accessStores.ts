import type pg from 'pg';
import { piecesOf } from '../base/database.ts';
import type { SlugRecord, SlugRecords } from '../library/slugRegister.ts';
import {
  type AccessDatabase,
  type AccessStatement,
  AccessUnavailableError,
  accessMigrations,
} from './accessDatabase.ts';
import { createTokenStore } from './accessTokens.ts';
import { createClientStore } from './clientStore.ts';
import { OwnerStore } from './ownerStore.ts';
import { createSignInStore } from './signInStore.ts';

/** The stores that outlive the index, in one database: who may read, and the addresses of the documents. */
export type AccessStores = ReturnType<typeof createAccessStores>;

export function createAccessStores(database: AccessDatabase) {
  return {
    tokens: createTokenStore(database),
    signIns: createSignInStore(database),
    clients: createClientStore(database),
    owners: new OwnerStore(database),
    slugs: createSlugStore(database),
    close: () => database.close(),
  };
}

/** Rows in one statement. */
const width = 100;

/** The slugs that files have, kept where they outlive the index: addresses are as lasting as tokens. */
function createSlugStore(database: AccessDatabase): SlugRecords {
  return {
    all: () => database.rows<SlugRecord>('SELECT slug, path, gone FROM docs_slugs'),
    async change(put, remove) {
      await database.batch([...piecesOf(remove, width).map(removal), ...piecesOf(put, width).map(insertion)]);
    },
  };
}

function removal(slugs: readonly string[]): AccessStatement {
  return [`DELETE FROM docs_slugs WHERE slug IN (${slugs.map(() => '?').join(', ')})`, ...slugs];
}

function insertion(records: readonly SlugRecord[]): AccessStatement {
  return [
    `INSERT INTO docs_slugs (slug, path, gone) VALUES ${records.map(() => '(?, ?, ?)').join(', ')}
     ON CONFLICT (slug) DO UPDATE SET path = excluded.path, gone = excluded.gone`,
    ...records.flatMap(({ slug, path, gone }) => [slug, path, gone]),
  ];
}

/** Any number that all instances share: whoever changes the tables holds this lock. */
const migrationLock = 7_310_004;

/**
 * The same tables in PostgreSQL, for all instances. The caller keeps the pool, and closes it. Code for PostgreSQL is
 * loaded only if it is used.
 */
export async function createPostgresAccess(pool: pg.Pool): Promise<AccessDatabase> {
  const { createPostgresStatements, inTransaction } = await import('../base/postgresConnection.ts');
  await inTransaction(pool, AccessUnavailableError, migrate);
  return { ...createPostgresStatements(pool, AccessUnavailableError), close: async () => undefined };
}

async function migrate(client: pg.ClientBase): Promise<void> {
  await client.query('SELECT pg_advisory_xact_lock($1)', [migrationLock]);
  await client.query('CREATE TABLE IF NOT EXISTS docs_access (version integer NOT NULL)');
  const { rows } = await client.query<{ version: number }>('SELECT version FROM docs_access');
  const version = rows[0]?.version ?? 0;
  if (version > accessMigrations.length)
    throw new Error('A newer version of runner-docs made the tables of this database. Update this one.');
  // The names of SQLite's types in PostgreSQL.
  for (const step of accessMigrations.slice(version))
    await client.query(step.replaceAll('INTEGER', 'bigint').replaceAll(') STRICT', ')'));
  await client.query('DELETE FROM docs_access');
  await client.query('INSERT INTO docs_access VALUES ($1)', [accessMigrations.length]);
}
