import type { Database, Statement } from '../../base/sqliteDatabase.ts';
import { type IndexChanges, type IndexedFile, type IndexedFiles, indexIsAnother } from '../documentIndex.ts';
import {
  type DocumentRecord,
  type FileRemarks,
  type FileRow,
  fileToRow,
  isOther,
  metaOf,
  parseMetadata,
  rowToFile,
  storable,
  toListed,
} from '../documentRecord.ts';
import { reversed } from '../nearSlugs.ts';
import { PostingChanges } from '../postingChanges.ts';
import { type AnalysedDocument, analyseStored } from './analysedDocument.ts';
import { createListing } from './listing.ts';
import { createLookups } from './schema.ts';
import { createWordTables } from './wordTables.ts';

/** Changes the index. `apply` is one transaction; the others must run in a snapshot of the database. */
export type SqliteWriter = ReturnType<typeof createSqliteWriter>;

type AnalysedChanges = Omit<IndexChanges, 'put'> & { readonly put?: readonly AnalysedDocument[] };

export function createSqliteWriter(database: Database) {
  const documents = createDocumentTables(database);
  const files = createFileTable(database);
  const meta = createMeta(database);
  const indexId = () => meta.get('indexId') ?? '';
  const apply = (changes: AnalysedChanges) => {
    if (changes.indexId !== undefined && changes.indexId !== indexId()) throw indexIsAnother();
    documents.begin();
    const seen = [
      documents.remove(changes.remove ?? []),
      documents.put(changes.put ?? [], changes.at ?? Date.now()),
      files.remove(changes.removeFiles ?? []),
      files.put(changes.putFiles ?? []),
      ...metaOf(changes).map(([name, json]) => meta.set(name, json)),
    ];
    documents.finish();
    if (seen.includes(true)) meta.set('changes', String(Number(meta.get('changes') ?? 0) + 1));
  };
  const isComplete = () => meta.get('isComplete') !== undefined;
  let hasLookups = false;
  return {
    files: (): IndexedFiles => ({ indexId: indexId(), isComplete: isComplete(), files: files.all() }),
    indexId,
    apply: (changes: AnalysedChanges) => {
      const wasComplete = isComplete();
      // Before the first change of this process, because the one before may have ended in between.
      if (!hasLookups && wasComplete) createLookups(database);
      hasLookups ||= wasComplete;
      database.transaction(() => apply(changes));
      if (wasComplete || !isComplete()) return;
      createLookups(database);
      releasePages(database);
    },
  };
}

/** Gives unused pages back as long as there are any. Not every file can, such as one from an older version. */
function releasePages(database: Database): void {
  const unused = database.prepare<{ freelist_count: number }>('PRAGMA freelist_count');
  for (let before = Number.POSITIVE_INFINITY; ; ) {
    const left = unused.get()?.freelist_count ?? 0;
    if (left === 0 || left >= before) return;
    before = left;
    // In short transactions, so that readers can go on.
    database.exec('PRAGMA incremental_vacuum(2000)');
  }
}

interface StoredDocument {
  readonly key: number;
  readonly path: string;
  readonly changed: number;
  readonly metadata: string;
}

/** Each of its calls returns whether readers can see a difference. */
function createDocumentTables(database: Database) {
  const find = database.prepare<StoredDocument>(
    'SELECT key, path, changed, metadata FROM documents WHERE slug = ?',
  );
  const bodyOf = database.prepare<{ body: string }>('SELECT body FROM bodies WHERE key = ?');
  const words = createWordTables(database);
  const changes = new PostingChanges();
  const listing = createListing(database);
  const removals = ['documents', 'bodies'].map((table) =>
    database.prepare(`DELETE FROM ${table} WHERE key = ?`),
  );
  const insert = database.prepare(
    'INSERT INTO documents (key, slug, reversed, path, own, short, long, draft, changed, metadata) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const insertBody = database.prepare('INSERT INTO bodies VALUES (?, ?)');
  const newKey = database.prepare<{ key: number }>('SELECT coalesce(max(key), -1) + 1 AS key FROM documents');

  const take = (slug: string): StoredDocument | undefined => {
    const old = find.get(slug);
    if (!old) return undefined;
    changes.remove(old.key, analyseStored({ ...old, body: bodyOf.get(old.key)?.body ?? '' }));
    listing.remove(toListed(parseMetadata(old.metadata)));
    for (const statement of removals) statement.run(old.key);
    return old;
  };
  const store = (
    { record, words }: AnalysedDocument,
    { key, changed }: Pick<StoredDocument, 'key' | 'changed'>,
  ) => {
    const { slug, path, own, short, long, metadata, body, draft } = record;
    insert.run(key, slug, reversed(slug), path, own, short, long, Number(draft), changed, metadata);
    insertBody.run(key, body);
    changes.add(key, words);
    listing.add(key, record);
  };
  return {
    remove: (slugs: readonly string[]) => slugs.map(take).some(Boolean),
    put: (documents: readonly AnalysedDocument[], at: number) => {
      // If two have the same slug, the last one stays.
      const latest = new Map(documents.map((document) => [document.record.slug, document]));
      const fresh = [...latest.values()].filter((document) => {
        const old = take(document.record.slug);
        if (old) store(document, { ...old, changed: hasSameText(old, document.record) ? old.changed : at });
        return !old;
      });
      const first = newKey.get()?.key ?? 0;
      for (const [number, document] of fresh.entries()) store(document, { key: first + number, changed: at });
      return documents.length > 0;
    },
    /** Must begin the transaction, because the previous one may have failed. */
    begin: () => {
      listing.forget();
      changes.clear();
    },
    /** Must end it. */
    finish: () => {
      listing.write();
      words.write(changes);
      changes.clear();
    },
  };
}

function hasSameText(one: Pick<StoredDocument, 'metadata'>, other: DocumentRecord): boolean {
  return parseMetadata(one.metadata).contentHash === parseMetadata(other.metadata).contentHash;
}

/** Each change returns whether it changed a problem or a warning, which readers can see. */
function createFileTable(database: Database) {
  const all = database.prepare<FileRow>('SELECT * FROM files ORDER BY path');
  const before = database.prepare<FileRemarks>('SELECT path, problem, warnings FROM files WHERE path = ?');
  const put = database.prepare('INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?)');
  const remove = database.prepare('DELETE FROM files WHERE path = ?');
  return {
    all: () => all.all().map(rowToFile),
    put: (files: readonly IndexedFile[]) =>
      files
        .map((file) => {
          const row = fileToRow(file);
          const old = before.get(row.path);
          put.run(...Object.values(row));
          return isOther(row, old);
        })
        .includes(true),
    remove: (paths: readonly string[]) =>
      paths
        .map((path) => {
          const old = before.get(storable(path));
          remove.run(storable(path));
          return isOther(undefined, old);
        })
        .includes(true),
  };
}

function createMeta(database: Database) {
  const value: Statement<{ value: string }> = database.prepare('SELECT value FROM meta WHERE name = ?');
  const put = database.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)');
  const get = (name: string) => value.get(name)?.value;
  return {
    get,
    /** Returns whether the text was different before. */
    set: (name: string, text: string) => {
      if (get(name) === text) return false;
      put.run(name, text);
      return true;
    },
  };
}
