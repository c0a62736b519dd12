import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { type Database, isCorruption, openDatabase } from '../../base/sqliteDatabase.ts';
import { analyserRules } from '../analyser.ts';
import { anyWord, draftWord } from '../documentWords.ts';
import { anyNumber, draftNumber } from '../searchEngine.ts';

/**
 * Opens the index. It is a cache: a damaged file, or one from another version of the program, is replaced with an empty
 * one.
 */
export async function openIndex(file: string): Promise<Database> {
  try {
    return withSchema(await openDatabase(file, { isLarge: true }));
  } catch (error) {
    if (!isCorruption(error)) throw error;
    removeDatabase(file);
    return withSchema(await openDatabase(file, { isLarge: true }));
  }
}

/** Deletes the file, and the files that SQLite keeps beside it. */
export function removeDatabase(file: string): void {
  for (const ending of ['', '-wal', '-shm']) rmSync(file + ending, { force: true });
}

/** Whether the index has this version. */
export function isCurrent(database: Database): boolean {
  const made = database.prepare<{ user_version: number }>('PRAGMA user_version').get();
  return made?.user_version === version;
}

/** Grows with every change of the tables, and of how files are read: then all of them are read again. */
const schemaVersion = 12;

/** SQLite stores a number of 31 bits for this. */
const version =
  createHash('sha256').update(`${schemaVersion} ${analyserRules}`).digest().readUInt32BE() >>> 1;

function withSchema(database: Database): Database {
  try {
    // In KiB: keeps in memory what searches read repeatedly, and what one change touches.
    database.exec('PRAGMA cache_size = -32000');
    if (!isCurrent(database)) database.transaction(() => isCurrent(database) || makeSchema(database));
  } catch (error) {
    database.close();
    throw error;
  }
  return database;
}

function makeSchema(database: Database): void {
  const named = namedFiles(database);
  const tables = database.prepare<{ name: string }>(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY sql NOT LIKE 'CREATE VIRTUAL%'",
  );
  // A virtual table takes its own tables with it.
  for (const { name } of tables.all()) database.exec(`DROP TABLE IF EXISTS "${name.replaceAll('"', '""')}"`);
  database.exec(schema);
  database.exec(`PRAGMA user_version = ${version}`);
  database.prepare("INSERT INTO meta VALUES ('indexId', ?)").run(`${Date.now()} ${Math.random()}`);
  const insert = database.prepare(
    "INSERT INTO files (path, look, content_hash, slug, details) VALUES (?, '', '', ?, '{}')",
  );
  for (const { path, slug } of named) insert.run(path, slug);
}

/** The slugs in an index of another version: the new one begins with these files, as if all of them had changed. */
function namedFiles(database: Database): readonly { readonly path: string; readonly slug: string }[] {
  const columns = database.prepare<{ name: string }>("SELECT name FROM pragma_table_info('documents')").all();
  const hasBoth = ['path', 'slug'].every((wanted) => columns.some(({ name }) => name === wanted));
  return hasBoth
    ? database.prepare<{ path: string; slug: string }>('SELECT path, slug FROM documents').all()
    : [];
}

const schema = `
-- The JSON of all collections, of their problems and of the warnings about links, whether the index is complete,
-- its id, and how many changes readers have seen.
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;

CREATE TABLE documents (
  key INTEGER PRIMARY KEY,
  slug TEXT NOT NULL UNIQUE,
  reversed TEXT NOT NULL,
  path TEXT NOT NULL,
  -- Empty if it is the same as the short form.
  own TEXT NOT NULL,
  short TEXT NOT NULL,
  long TEXT NOT NULL,
  draft INTEGER NOT NULL,
  -- When its text was found to be another one, in milliseconds since 1970.
  changed INTEGER NOT NULL,
  metadata TEXT NOT NULL
);
CREATE TABLE bodies (key INTEGER PRIMARY KEY, body TEXT NOT NULL);

-- Whatever lists are filtered by: all, a type, a tag, a type with a tag.
CREATE TABLE scopes (
  scope INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  visible INTEGER NOT NULL,
  drafts INTEGER NOT NULL
);
CREATE TABLE listing (
  scope INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  place TEXT NOT NULL,
  slug TEXT NOT NULL,
  draft INTEGER NOT NULL,
  key INTEGER NOT NULL,
  PRIMARY KEY (scope, rank, place, slug)
) WITHOUT ROWID;

-- How many documents have a word, and how many of them are drafts.
CREATE TABLE words (
  id INTEGER PRIMARY KEY,
  word TEXT NOT NULL UNIQUE,
  documents INTEGER NOT NULL,
  drafts INTEGER NOT NULL
);
INSERT INTO words VALUES (${anyNumber}, '${anyWord}', 0, 0), (${draftNumber}, '${draftWord}', 0, 0);
-- A row for each word in each block of documents; \`postings.ts\` has the format.
CREATE TABLE postings (id INTEGER PRIMARY KEY, entries BLOB NOT NULL, places BLOB NOT NULL);

CREATE TABLE files (
  path TEXT PRIMARY KEY,
  look TEXT NOT NULL,
  content_hash TEXT NOT NULL,
  slug TEXT,
  problem TEXT,
  -- As JSON; null if there are none.
  warnings TEXT,
  -- As JSON: what else is known of the file.
  details TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX files_problem ON files (path) WHERE problem IS NOT NULL;
CREATE INDEX files_warnings ON files (path) WHERE warnings IS NOT NULL;
`;

/** By what documents are looked up besides their slugs. They are faster made at once than with each document. */
const lookups = `
CREATE INDEX IF NOT EXISTS documents_own ON documents (own) WHERE own <> '';
CREATE INDEX IF NOT EXISTS documents_short ON documents (short);
CREATE INDEX IF NOT EXISTS documents_long ON documents (long);
CREATE INDEX IF NOT EXISTS documents_reversed ON documents (reversed);
CREATE INDEX IF NOT EXISTS documents_path ON documents (path);
`;

/** Must run once the index is complete. Until then, lookups visit all documents. */
export function createLookups(database: Database): void {
  database.exec(lookups);
}
