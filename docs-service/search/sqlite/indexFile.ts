import { piecesOf } from '../../base/database.ts';
import { createSqliteStatements, type Database, openDatabase } from '../../base/sqliteDatabase.ts';
import { maxTags } from '../documentRecord.ts';
import type { IndexDatabase, SqlDialect, SqlValue } from '../indexDatabase.ts';
import {
  beginIndex,
  type ColumnTypes,
  createLookups,
  createTables,
  type NamedFile,
  schemaVersion,
} from '../indexSchema.ts';

const types: ColumnTypes = {
  ...{ number: 'INTEGER', identity: 'INTEGER PRIMARY KEY', text: 'TEXT', flag: 'INTEGER', bytes: 'BLOB' },
  ...{ inOrder: ' WITHOUT ROWID', longText: '' },
};

const dialect: SqlDialect = {
  any: (column) => `${column} IN (SELECT value FROM json_each(?))`,
  lines: (text) => `group_concat(${text}, char(10))`,
  tags: `SELECT json_extract(tag.value, '$.slug') AS slug, json_extract(tag.value, '$.title') AS title, draft
    FROM docs_documents, json_each(metadata, '$.tags') AS tag WHERE tag.key < ${maxTags}`,
  metadata: (name) => `json_extract(metadata, '$.${name}')`,
};

/** Opens the index. It is a cache: one from another version of the program is replaced with an empty one. */
export function openIndex(file: string): Promise<Database> {
  return openDatabase(file, {
    isLarge: true,
    isCache: true,
    async prepare(database) {
      // In KiB: keeps in memory what searches read repeatedly, and what one change touches.
      database.exec('PRAGMA cache_size = -32000');
      if (!isCurrent(database))
        await database.change(async () => isCurrent(database) || (await makeTables(database)));
    },
  });
}

/** Whether the index has this version. */
export function isCurrent(database: Database): boolean {
  if (columnsOf(database, 'docs_meta').length === 0) return false;
  const made = database
    .prepare<{ value: string }>("SELECT value FROM docs_meta WHERE name = 'version'")
    .get();
  return made?.value === schemaVersion;
}

async function makeTables(database: Database): Promise<void> {
  // Of versions from before 2026-12, the table has another name.
  const named = ['docs_documents', 'documents'].flatMap((table) => namedFiles(database, table));
  const tables = database.prepare<{ name: string }>(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY sql NOT LIKE 'CREATE VIRTUAL%'",
  );
  // A virtual table takes its own tables with it.
  for (const { name } of tables.all()) database.exec(`DROP TABLE IF EXISTS "${name.replaceAll('"', '""')}"`);
  database.exec(createTables(types));
  await beginIndex(toIndexDatabase(database), named);
}

function namedFiles(database: Database, table: string): readonly NamedFile[] {
  const columns = columnsOf(database, table);
  const draft = columns.includes('draft') ? 'draft' : '0 AS draft';
  return ['path', 'slug'].every((name) => columns.includes(name))
    ? database.prepare<NamedFile>(`SELECT path, slug, ${draft} FROM ${table}`).all()
    : [];
}

function columnsOf(database: Database, table: string): readonly string[] {
  const columns = database.prepare<{ name: string }>('SELECT name FROM pragma_table_info(?)');
  return columns.all(table).map(({ name }) => name);
}

/** Must run once the index is complete. */
export function makeLookups(database: Database): void {
  database.exec(createLookups(types));
}

/** Gives unused pages back as long as there are any. Not every file can, such as one from an older version. */
export function releasePages(database: Database): void {
  const unused = database.prepare<{ freelist_count: number }>('PRAGMA freelist_count');
  for (let before = Number.POSITIVE_INFINITY; ; ) {
    const left = unused.get()?.freelist_count ?? 0;
    if (left === 0 || left >= before) return;
    before = left;
    // In short transactions, so that readers can go on.
    database.exec('PRAGMA incremental_vacuum(2000)');
  }
}

export function toIndexDatabase(database: Database): IndexDatabase {
  const { rows, prepared } = createSqliteStatements(database);
  return {
    dialect,
    rows: async (text, ...values) => rows(text, ...values.map(toEngine)),
    insert: async (table, all, more = '') => {
      const [first] = all;
      if (!first) return;
      const columns = Object.keys(first);
      const row = `(${columns.map(() => '?').join(', ')})`;
      const into = `INSERT INTO ${table} (${columns.join(', ')}) VALUES`;
      for (const piece of piecesOf(all, rowsAtOnce)) {
        const statement = prepared(`${into} ${piece.map(() => row).join(', ')} ${more}`);
        statement.run(...piece.flatMap((one) => Object.values(one).map(toEngine)));
      }
    },
    remove: async (table, all) => {
      const columns = Object.keys(all[0] ?? {});
      for (const row of all)
        prepared(`DELETE FROM ${table} WHERE ${columns.map((name) => `${name} = ?`).join(' AND ')}`).run(
          ...Object.values(row).map(toEngine),
        );
    },
  };
}

/** SQLite takes so many values in one statement easily. */
const rowsAtOnce = 50;

function toEngine(value: SqlValue): string | number | null | Uint8Array {
  if (typeof value === 'boolean') return Number(value);
  return typeof value === 'object' && value !== null && !(value instanceof Uint8Array)
    ? JSON.stringify(value)
    : value;
}
