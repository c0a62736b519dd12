import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { messageOf } from '../../protocol/base/text.ts';
import { refusePassword, type StatementDatabase, type UnavailableError } from './database.ts';

/**
 * A pool for a database like `postgres://host/name` or `postgres:///name?host=/var/run/postgresql`. The password comes
 * from `PGPASSFILE` or `PGPASSWORD`. An address with a password is refused, because addresses end up in logs and
 * process lists.
 */
export function createPool(
  url: string,
  log: (message: string) => void,
  more: Pick<pg.PoolConfig, 'max' | 'query_timeout'> = {},
): pg.Pool {
  const pool = new pg.Pool({ ...connectionOptions(url), max: 8, ...more });
  // An idle connection broke; the next query opens another one.
  pool.on('error', (error) => log(`A connection to PostgreSQL has ended: ${error.message}.`));
  return pool;
}

/** For a single connection, or for a pool. Times are in ms. */
export function connectionOptions(url: string): pg.ClientConfig {
  refusePassword(url);
  return {
    connectionString: url,
    application_name: 'runner-docs',
    connectionTimeoutMillis: 5_000,
    statement_timeout: 10_000,
    idle_in_transaction_session_timeout: 30_000,
    // For a server that has disappeared or hangs, from which no answer would ever come.
    query_timeout: 12_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  };
}

/** Ends a connection, and waits a moment for the server to notice it: one that hangs never does. */
export async function endConnection(client: pg.Client): Promise<void> {
  await Promise.race([client.end(), wait(1_000, undefined, { ref: false })]).catch(() => undefined);
}

/** The kind of error with which a store reports that its database is down. */
type Unavailable = new (message: string, options: ErrorOptions) => UnavailableError;

/**
 * Runs work on one connection, in a transaction.
 * @param beginReading begins one in which nothing is written, so that the result does not wait for its end
 */
export async function inTransaction<T>(
  pool: pg.Pool,
  Unavailable: Unavailable,
  work: (client: pg.ClientBase, begun: readonly pg.QueryResult[]) => Promise<T>,
  beginReading?: string,
): Promise<T> {
  const fail = toUnavailable(Unavailable);
  const client = await pool.connect().catch(fail);
  // A connection may also break between two queries, which nothing else would notice.
  let broken: Error | undefined;
  const onError = (error: Error) => (broken = error);
  client.on('error', onError);
  const release = () => {
    client.off('error', onError);
    client.release(broken);
  };
  const end = (statement: string) => client.query(statement).catch(onError).finally(release);
  try {
    const begun = await client.query(beginReading ?? 'BEGIN');
    const result = await work(client, [begun].flat());
    if (beginReading !== undefined) void end('COMMIT');
    else await client.query('COMMIT').then(release);
    return result;
  } catch (error) {
    // A server that has not answered the query would not answer this either.
    if (isSilence(error)) onError(error);
    if (broken) release();
    else await end('ROLLBACK');
    return fail(error);
  }
}

/** A pool that runs the statements of both engines. */
export function createPostgresStatements(
  pool: pg.Pool,
  Unavailable: Unavailable,
): Omit<StatementDatabase<unknown>, 'close'> {
  return {
    async rows<Row>(text: string, ...values: readonly unknown[]) {
      const { rows } = await pool.query(queryOf(text, values)).catch(toUnavailable(Unavailable));
      // The caller knows the type of the rows.
      return rows as readonly Row[];
    },
    batch: (statements) =>
      inTransaction(pool, Unavailable, async (client) => {
        for (const [text, ...values] of statements) await client.query(queryOf(text, values));
      }),
  };
}

export function queryOf(text: string, values: readonly unknown[]): pg.QueryConfig {
  let count = 0;
  return { text: text.replace(/\?/g, () => `$${++count}`), values: [...values], types };
}

/** Times are below 2^53, so a number holds them; `pg` would return strings. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (id, format) =>
    id === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(id, format ?? 'text'),
};

/** Throws what a query has thrown: as it is if the query caused it, and as unavailable if the database did. */
export function toUnavailable(Unavailable: Unavailable): (error: unknown) => never {
  return (error) => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const isOurs = error instanceof Error && !('code' in error) && !isSilence(error);
    // Classes of errors that the query itself has caused.
    if (isOurs || /^(?:22|23|42)/.test(code)) throw error;
    const reason = messageOf(error);
    throw new Unavailable(
      `The database does not answer: ${reason || code}. Is it running, and is its address right?`,
      { cause: error },
    );
  };
}

/** The connection is broken, or the server has not answered in time. */
function isSilence(error: unknown): error is Error {
  return (
    error instanceof Error && !('code' in error) && /connect|timeout|terminated|pool/i.test(error.message)
  );
}
