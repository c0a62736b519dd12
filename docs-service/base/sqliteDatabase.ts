import { rmSync } from 'node:fs';
import { setTimeout as waitFor } from 'node:timers/promises';
import { thisPlatform } from '../../protocol/base/platform/folders.ts';

/** The part of SQLite that this program needs, over the engine that this Node has. All of it is synchronous. */
export type Database = ReturnType<typeof engineToDatabase>;

export interface Statement<Row> {
  run(...values: readonly SqliteValue[]): void;
  /** The first row. */
  get(...values: readonly SqliteValue[]): Row | undefined;
  all(...values: readonly SqliteValue[]): Row[];
}

export type SqliteValue = string | number | null | Uint8Array;

export interface DatabaseOptions {
  /** Milliseconds to wait for a locked file; 5 s by default. */
  readonly wait?: number;
  /** With `wal`, the default, others can read during a write. */
  readonly journal?: 'wal' | 'delete';
  /** For a large file: pages of 8 KiB, and unused pages can be released. */
  readonly isLarge?: boolean;
  /** Whether everything in it can be made again, so that a damaged file is replaced with an empty one. */
  readonly isCache?: boolean;
  /** What must succeed before anybody gets it. */
  readonly prepare?: (database: Database) => unknown;
}

/**
 * Opens or creates the file. Several processes may have it open. It uses `node:sqlite` if Node has it without a
 * warning, and libsql otherwise.
 */
export async function openDatabase(file: string, options: DatabaseOptions = {}): Promise<Database> {
  try {
    return await open(file, options);
  } catch (error) {
    if (!options.isCache || !isCorruption(error)) throw error;
    removeDatabase(file);
    return open(file, options);
  }
}

/** Deletes the file, and the files that SQLite keeps beside it. */
export function removeDatabase(file: string): void {
  for (const ending of ['', '-wal', '-shm']) rmSync(file + ending, { force: true });
}

async function open(
  file: string,
  { wait = 5_000, journal = 'wal', isLarge = false, prepare }: DatabaseOptions,
): Promise<Database> {
  const isBuiltIn = Number(process.versions.node.split('.')[0]) >= 24;
  const engine = isBuiltIn ? openBuiltIn(file) : await openLibsql(file);
  try {
    engine.exec(`PRAGMA busy_timeout = ${wait}`);
    // Both only work in a file that has no table yet.
    if (isLarge) engine.exec('PRAGMA page_size = 8192; PRAGMA auto_vacuum = INCREMENTAL');
    if (journal === 'wal') await switchToWal(engine, wait);
    engine.exec('PRAGMA synchronous = NORMAL');
    engine.exec('PRAGMA foreign_keys = ON');
    const database = engineToDatabase(engine);
    await prepare?.(database);
    return database;
  } catch (error) {
    engine.close();
    throw error;
  }
}

/** A file that runs the statements of both engines. Each is prepared once. */
export function createSqliteStatements(database: Database) {
  const statements = new Map<string, Statement<unknown>>();
  const prepared = (text: string) => {
    const statement = statements.get(text) ?? database.prepare(text);
    statements.set(text, statement);
    return statement;
  };
  return {
    prepared,
    // The caller knows the type of the rows.
    rows: <Row>(text: string, ...values: readonly SqliteValue[]) =>
      prepared(text).all(...values) as readonly Row[],
    batch: (all: readonly (readonly [statement: string, ...values: SqliteValue[]])[]) =>
      database.transaction(() => {
        for (const [text, ...values] of all) prepared(text).run(...values);
      }),
  };
}

/** In ms. */
const retryInterval = 10;

/**
 * Several connections may open a new file at once. Only one of them can switch it, and SQLite does not make the others
 * wait: the busy timeout does not apply to this statement.
 */
async function switchToWal(engine: Engine, wait: number): Promise<void> {
  const begun = performance.now();
  for (;;) {
    try {
      return engine.exec('PRAGMA journal_mode = WAL');
    } catch (error) {
      if (!isBusy(error) || performance.now() - begun > wait) throw error;
    }
    await waitFor(retryInterval);
  }
}

/** Whether SQLite cannot use the file, so that it must be created again. */
export function isCorruption(error: unknown): boolean {
  return error instanceof Error && /malformed|not a database|corrupt/i.test(error.message);
}

/** Whether another process or connection has locked the file. */
export function isBusy(error: unknown): error is Error {
  return error instanceof Error && /\b(locked|busy)\b/i.test(error.message);
}

/** Whether the disk is full, or the file may not be written. */
export function isUnwritable(error: unknown): error is Error {
  return (
    error instanceof Error &&
    /disk is full|readonly database|disk I\/O error|unable to open database/i.test(error.message)
  );
}

/** The common part of the two engines. */
interface Engine {
  exec(sql: string): void;
  prepare(sql: string): { run(...values: unknown[]): unknown; all(...values: unknown[]): unknown[] };
  close(): void;
}

function openBuiltIn(file: string): Engine {
  const sqlite = process.getBuiltinModule('node:sqlite') as {
    readonly DatabaseSync: new (file: string) => Engine;
  };
  return new sqlite.DatabaseSync(file);
}

async function openLibsql(file: string): Promise<Engine> {
  const libsql = await import('libsql').catch(whenMissing);
  if (libsql === undefined) return openBuiltIn(file);
  const Libsql = libsql.default;
  const database = new Libsql(file);
  return {
    exec: (sql) => void database.exec(sql),
    prepare: (sql) => {
      const statement = database.prepare(sql);
      // A single object would be read as named values; an array never is.
      return { run: (...values) => statement.run(values), all: (...values) => statement.all(values) };
    },
    close: () => void database.close(),
  };
}

/** It is not made for Windows on ARM. Later versions of Node 22 have their own, with a warning. */
function whenMissing(cause: NodeJS.ErrnoException): undefined {
  if (cause.code !== 'MODULE_NOT_FOUND') throw cause;
  if (process.getBuiltinModule('node:sqlite')) return;
  const system = `Node ${process.versions.node} on ${thisPlatform} with ${process.arch}`;
  throw new Error(`There is no SQLite for ${system}. Use Node 24.`, { cause });
}

function engineToDatabase(engine: Engine) {
  return {
    exec: (sql: string) => engine.exec(sql),
    prepare: <Row = unknown>(sql: string): Statement<Row> => {
      const statement = engine.prepare(sql);
      return {
        run: (...values) => void statement.run(...values),
        // All rows, so that no statement stays open and holds the state that it reads.
        get: (...values) => statement.all(...values)[0] as Row | undefined,
        all: (...values) => statement.all(...values) as Row[],
      };
    },
    /** Everything that `work` does or, if it throws, nothing. Meanwhile, others may read but not write. */
    transaction: <T>(work: () => T): T => {
      engine.exec('BEGIN IMMEDIATE');
      try {
        const result = work();
        engine.exec('COMMIT');
        return result;
      } catch (error) {
        rollBack(engine);
        throw error;
      }
    },
    /** The same for asynchronous work. Until it is over, nothing else may be asked. */
    change: async <T>(work: () => Promise<T>): Promise<T> => {
      engine.exec('BEGIN IMMEDIATE');
      try {
        const result = await work();
        engine.exec('COMMIT');
        return result;
      } catch (error) {
        rollBack(engine);
        throw error;
      }
    },
    /** Everything that `work` reads is one state of the database. Until it is over, nothing else may be asked. */
    snapshot: async <T>(work: () => Promise<T>): Promise<T> => {
      engine.exec('BEGIN');
      try {
        return await work();
      } finally {
        rollBack(engine);
      }
    },
    close: () => engine.close(),
  };
}

/** Some errors have rolled back already. */
function rollBack(engine: Engine): void {
  try {
    engine.exec('ROLLBACK');
  } catch {
    // The error that led here is the one to report.
  }
}
