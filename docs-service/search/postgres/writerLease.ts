import pg from 'pg';
import { connectionOptions } from '../../base/postgresConnection.ts';
import type { WriterLease } from '../documentIndex.ts';
import { locks } from './schema.ts';

/**
 * The lease, if nobody else has it. It is a lock that ends with its connection. The server checks every few seconds
 * whether this end still exists, so that another instance can take over within 10 s. Ask again every few seconds.
 */
export async function tryTakeLease(url: string): Promise<WriterLease | undefined> {
  const client = new pg.Client(connectionOptions(url));
  const lost = new AbortController();
  client.on('error', () => lost.abort());
  client.on('end', () => lost.abort());
  const end = () => client.end().catch(() => undefined);
  try {
    await client.connect();
    await client.query(
      'SET tcp_keepalives_idle = 3; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 2',
    );
    const { rows } = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [
      locks.lease,
    ]);
    if (rows[0]?.taken) return { lost: lost.signal, dispose: end };
  } catch (error) {
    await end();
    throw error;
  }
  await end();
  return undefined;
}
