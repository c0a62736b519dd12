import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { makePrivate } from '../protocol/base/platform/privateFile.ts';
import { messageOf } from '../protocol/base/text.ts';
import { type AccessStores, createAccessStores, createPostgresAccess } from './auth/accessStores.ts';
import { createSqliteAccess } from './auth/sqliteAccess.ts';
import { openDataFolder, tryLock } from './base/dataFolder.ts';
import type { OptionValues } from './base/options.ts';
import { type Database, isCorruption, openDatabase } from './base/sqliteDatabase.ts';
import type { ProgramContext } from './cli/command.ts';
import type { DocumentIndex, IndexWriter, WriterLease } from './search/documentIndex.ts';
import { createSqliteIndex } from './search/sqlite/sqliteIndex.ts';
import { parseStorePlaces, type StorePlaces, type storeOptions } from './serveConfig.ts';

/** The index and the access stores, whichever engine keeps them. */
export interface Stores {
  readonly index: DocumentIndex & IndexWriter;
  readonly access: AccessStores;
  /** The right to update the index, which only one instance has; undefined if another has it. */
  tryBecomeWriter(): Promise<WriterLease | undefined>;
  close(): Promise<void>;
}

export async function openStores(
  places: StorePlaces,
  parts: string,
  log: (message: string) => void,
): Promise<Stores> {
  return places.database === undefined ? openSqlite(places, parts, log) : openPostgres(places.database, log);
}

/** Only the access stores, for a command that touches nothing else. */
export async function openAccess({ data, database }: StorePlaces): Promise<AccessStores> {
  if (database === undefined) return openAccessFile(join(data, 'access.db'));
  const { createPool } = await import('./base/postgresConnection.ts');
  const pool = createPool(database, () => undefined);
  return openPostgresAccess(pool, () => pool.end());
}

async function openPostgresAccess(pool: Pool, close: () => Promise<void>): Promise<AccessStores> {
  try {
    return { ...createAccessStores(await createPostgresAccess(pool)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openAccessFile(file: string): Promise<AccessStores> {
  await makeOwn(file);
  let database: Database | undefined;
  try {
    database = await openDatabase(file);
    return createAccessStores(createSqliteAccess(database));
  } catch (cause) {
    database?.close();
    if (!isCorruption(cause) && !/no such (table|column)/.test(messageOf(cause))) throw cause;
    throw new Error(`${file} is damaged. Put a backup in its place, or delete it and create new tokens.`, {
      cause,
    });
  }
}

/** For its owner only, whatever the folder's mode; SQLite gives the files beside it the same mode. */
async function makeOwn(file: string): Promise<void> {
  const made = await open(file, 'a', 0o600);
  await made.close();
  for (const one of [file, `${file}-wal`, `${file}-shm`])
    await makePrivate(one).catch((error: NodeJS.ErrnoException) => {
      // A file of another user is refused when it is opened; the two files beside it come and go.
      if (error.code !== 'ENOENT' && error.code !== 'EPERM') throw error;
    });
}

async function openSqlite(
  places: StorePlaces,
  parts: string,
  log: (message: string) => void,
): Promise<Stores> {
  const access = await openAccess(places);
  const index = openIndexFile(join(places.data, 'index.db'), parts, log);
  return {
    index,
    access,
    async tryBecomeWriter() {
      const lock = await tryLock(join(places.data, 'index.lock'));
      return lock === undefined ? undefined : { lost: new AbortController().signal, dispose: lock.release };
    },
    close: async () => {
      await Promise.all([index.close(), access.close()]);
    },
  };
}

export function openIndexFile(file: string, parts: string, log: (message: string) => void) {
  return createSqliteIndex(file, join(parts, 'indexWorker.cjs'), log);
}

/** Code for PostgreSQL is loaded only if it is used. */
async function openPostgres(url: string, log: (message: string) => void): Promise<Stores> {
  const { createPostgresIndex } = await import('./search/postgres/postgresIndex.ts');
  const index = createPostgresIndex(url, log);
  const access = await openPostgresAccess(index.pool, () => index.close());
  return { index, access, tryBecomeWriter: index.tryBecomeWriter, close: access.close };
}

/** Runs a command on tokens, clients and the owner, even while the service runs. Throws UsageError. */
export async function withAccess<Result>(
  values: OptionValues<typeof storeOptions>,
  { env }: Pick<ProgramContext, 'env'>,
  work: (access: AccessStores) => Promise<Result>,
): Promise<Result> {
  const places = parseStorePlaces(values, env);
  if (places.database === undefined) await openDataFolder(places.data);
  const access = await openAccess(places);
  try {
    return await work(access);
  } finally {
    await access.close();
  }
}
