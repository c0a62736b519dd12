import { setTimeout as wait } from 'node:timers/promises';
import { createSqliteStatements, type Database, isBusy, isUnwritable } from '../base/sqliteDatabase.ts';
import {
  type AccessDatabase,
  AccessUnavailableError,
  type AccessValue,
  accessMigrations,
} from './accessDatabase.ts';

/** Milliseconds for which a statement is retried while another process writes, and between two tries. */
const retryTime = 5_000;
const retryPause = 25;
/** Milliseconds that closing waits for others. */
const closing = 1_000;

interface Clock {
  /** In milliseconds. */
  readonly now: () => number;
  readonly wait: (milliseconds: number) => Promise<unknown>;
}

const realClock: Clock = { now: () => performance.now(), wait };

/**
 * `access.db`. A statement takes some microseconds there, so it needs no thread of its own. While another process has
 * the file locked, everything else continues.
 */
export function createSqliteAccess(database: Database, clock = realClock): AccessDatabase {
  migrate(database);
  // SQLite itself would wait on the thread that answers all requests.
  database.exec('PRAGMA busy_timeout = 0');
  const { rows, batch } = createSqliteStatements(database);
  return {
    rows: <Row>(text: string, ...values: readonly AccessValue[]) =>
      withPatience(clock, () => rows<Row>(text, ...values)),
    batch: (statements) => withPatience(clock, () => batch(statements)),
    async close() {
      try {
        // Afterwards, the file alone has everything, in case somebody copies it.
        database.exec(`PRAGMA busy_timeout = ${closing}; PRAGMA wal_checkpoint(TRUNCATE)`);
      } catch (error) {
        // What was written is safe in the files beside it.
        if (!isBusy(error) && !isUnwritable(error)) throw error;
      } finally {
        database.close();
      }
    },
  };
}

/** A failed statement has changed nothing, so it can be tried again. */
async function withPatience<Result>(clock: Clock, work: () => Result): Promise<Result> {
  const end = clock.now() + retryTime;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (isUnwritable(error)) throw unavailable(`it cannot be written: ${error.message}`, error);
      if (!isBusy(error)) throw error;
      if (clock.now() > end) throw unavailable('another process has it locked', error);
    }
    await clock.wait(retryPause);
  }
}

function unavailable(reason: string, cause: Error): AccessUnavailableError {
  return new AccessUnavailableError(`access.db cannot be used right now: ${reason}.`, { cause });
}

/** `user_version` counts the migrations. Throws if a newer version of the program made the file. */
function migrate(database: Database): void {
  database.transaction(() => {
    const version =
      database.prepare<{ user_version: number }>('PRAGMA user_version').get()?.user_version ?? 0;
    if (version > accessMigrations.length)
      throw new Error(
        'access.db was made by a newer version of runner-docs. Update this one, or use another --data.',
      );
    // The first version of the file had another name for its only table.
    if (version === 1) database.exec('ALTER TABLE tokens RENAME TO docs_tokens');
    for (const step of accessMigrations.slice(version)) database.exec(step);
    database.exec(`PRAGMA user_version = ${accessMigrations.length}`);
    // A file without its tables is as unreadable as any other damaged file.
    for (const table of tablesOf(accessMigrations.join(';'))) database.prepare(`SELECT 1 FROM ${table}`);
  });
}

/** The tables that exist after all migrations. */
function tablesOf(statements: string): readonly string[] {
  const named = (verb: string) =>
    [...statements.matchAll(new RegExp(`\\b${verb} TABLE (\\w+)`, 'g'))].map(([, name = '']) => name);
  const dropped = new Set(named('DROP'));
  return named('CREATE').filter((name) => !dropped.has(name));
}
