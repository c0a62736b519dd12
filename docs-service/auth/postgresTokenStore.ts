import type pg from 'pg';
import { throwUnavailable } from '../index/postgres/connection.ts';
import { type GrantRow, rowToGrant } from './grantRow.ts';
import type { TokenStore } from './tokenStore.ts';

/** Each entry leads from one version of the tables to the next. */
const migrations: readonly string[] = [
  `CREATE TABLE docs_tokens (
    hash text PRIMARY KEY,
    id text NOT NULL UNIQUE,
    scopes text NOT NULL,
    me text,
    created bigint NOT NULL,
    expires bigint NOT NULL,
    last_used bigint
  )`,
];

/** Milliseconds for which tokens that have expired stay in the list. */
const remembered = 30 * 86_400_000;
/** Any number, the same for all instances: who changes the tables holds this lock. */
const migrationLock = 7_310_004;

/** Keeps tokens beside the index, for all instances. The pool stays its owner's. */
export async function createPostgresTokenStore(pool: pg.Pool): Promise<TokenStore> {
  await migrate(pool);
  return {
    async add({ hash, grant }) {
      const { id, scopes, me, created, expires } = grant;
      await pool.query('DELETE FROM docs_tokens WHERE expires < $1', [created - remembered]);
      await pool.query(
        'INSERT INTO docs_tokens (hash, id, scopes, me, created, expires) VALUES ($1, $2, $3, $4, $5, $6)',
        [hash, id, scopes.join(' '), me, created, expires],
      );
    },
    async find(hash) {
      const { rows } = await pool.query<GrantRow>('SELECT * FROM docs_tokens WHERE hash = $1', [hash]);
      return rows[0] === undefined ? undefined : rowToGrant(rows[0]);
    },
    async list() {
      const { rows } = await pool.query<GrantRow>('SELECT * FROM docs_tokens ORDER BY created DESC, id');
      return rows.map(rowToGrant);
    },
    async revoke(id) {
      const { rowCount } = await pool.query('DELETE FROM docs_tokens WHERE id = $1', [id]);
      return (rowCount ?? 0) > 0;
    },
    async noteUses(uses) {
      await pool.query(
        `UPDATE docs_tokens SET last_used = greatest(last_used, used.at)
         FROM unnest($1::text[], $2::bigint[]) AS used (id, at) WHERE docs_tokens.id = used.id`,
        [[...uses.keys()], [...uses.values()]],
      );
    },
    async close() {
      // The pool is closed by who made it.
    },
  };
}

async function migrate(pool: pg.Pool): Promise<void> {
  const client = await pool.connect().catch(throwUnavailable);
  try {
    await client.query('BEGIN');
    await client.query('SELECT pg_advisory_xact_lock($1)', [migrationLock]);
    await client.query('CREATE TABLE IF NOT EXISTS docs_access (version integer NOT NULL)');
    const { rows } = await client.query<{ version: number }>('SELECT version FROM docs_access');
    const version = rows[0]?.version ?? 0;
    if (version > migrations.length)
      throw new Error('A newer version of runner-docs made the tables of this database. Update this one.');
    for (const step of migrations.slice(version)) await client.query(step);
    await client.query('DELETE FROM docs_access');
    await client.query('INSERT INTO docs_access VALUES ($1)', [migrations.length]);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
}
