import pg from 'pg';
import { inTransaction, toUnavailable } from '../base/postgresConnection.ts';
import {
  type AccessDatabase,
  AccessUnavailableError,
  type AccessValue,
  accessMigrations,
} from './accessDatabase.ts';

/** Any number that all instances share: whoever changes the tables holds this lock. */
const migrationLock = 7_310_004;

const transaction = { Unavailable: AccessUnavailableError };

/** The same tables in PostgreSQL, for all instances. The caller keeps the pool. */
export async function createPostgresAccess(pool: pg.Pool): Promise<AccessDatabase> {
  const fail = toUnavailable(AccessUnavailableError);
  await inTransaction(pool, transaction, migrate);
  return {
    async rows<Row>(text: string, ...values: readonly AccessValue[]) {
      const { rows } = await pool.query(queryOf(text, values)).catch(fail);
      // The caller knows the type of the rows.
      return rows as readonly Row[];
    },
    batch: (statements) =>
      inTransaction(pool, transaction, async (client) => {
        for (const [text, ...values] of statements) await client.query(queryOf(text, values));
      }),
    async close() {
      // The caller closes the pool.
    },
  };
}

function queryOf(text: string, values: readonly AccessValue[]): pg.QueryConfig {
  let count = 0;
  return { text: text.replace(/\?/g, () => `$${++count}`), values: [...values], types };
}

/** Times are below 2^53, so a number holds them; `pg` would return strings. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (id, format) =>
    id === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(id, format ?? 'text'),
};

async function migrate(client: pg.ClientBase): Promise<void> {
  await client.query('SELECT pg_advisory_xact_lock($1)', [migrationLock]);
  await client.query('CREATE TABLE IF NOT EXISTS docs_access (version integer NOT NULL)');
  const { rows } = await client.query<{ version: number }>('SELECT version FROM docs_access');
  const version = rows[0]?.version ?? 0;
  if (version > accessMigrations.length)
    throw new Error('A newer version of runner-docs made the tables of this database. Update this one.');
  for (const step of accessMigrations.slice(version)) await client.query(postgresOf(step));
  await client.query('DELETE FROM docs_access');
  await client.query('INSERT INTO docs_access VALUES ($1)', [accessMigrations.length]);
}

/** The names of SQLite's types in PostgreSQL. */
function postgresOf(statements: string): string {
  return statements.replaceAll('INTEGER', 'bigint').replaceAll(') STRICT', ')');
}
