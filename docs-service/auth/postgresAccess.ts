import type pg from 'pg';
import { createPostgresStatements, inTransaction } from '../base/postgresConnection.ts';
import { type AccessDatabase, AccessUnavailableError, accessMigrations } from './accessDatabase.ts';

/** Any number that all instances share: whoever changes the tables holds this lock. */
const migrationLock = 7_310_004;

/** The same tables in PostgreSQL, for all instances. The caller keeps the pool, and closes it. */
export async function createPostgresAccess(pool: pg.Pool): Promise<AccessDatabase> {
  await inTransaction(pool, { Unavailable: AccessUnavailableError }, migrate);
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
