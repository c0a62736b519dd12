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
import { createSampleChanges, isSampled } from '../relevance.ts';
import type { AnalysedDocument } from './analysedDocument.ts';
import { createListing } from './listing.ts';
import { createRowInsertion } from './rowInsertion.ts';
import { createLookups } from './schema.ts';
import { assignSortKeys, compareSlugs } from './sortKeys.ts';
import { createWordParts, createWords } from './wordTables.ts';

/** Changes the index. `apply` is one transaction; the others must run in a snapshot of the database. */
export type SqliteWriter = ReturnType<typeof createSqliteWriter>;

type AnalysedChanges = Omit<IndexChanges, 'put'> & { readonly put?: readonly AnalysedDocument[] };

export function createSqliteWriter(database: Database) {
  const parts = createWordParts(database);
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
  let isPrepared = false;
  /** Before the first change, because a process that only reads must write nothing. */
  const prepare = (isComplete: boolean) => {
    if (isPrepared) return;
    isPrepared = true;
    parts.prepare(isComplete);
    // The process before may have ended in between.
    if (isComplete) createLookups(database);
  };
  const finish = () => {
    createLookups(database);
    parts.join();
  };
  const isComplete = () => meta.get('isComplete') !== undefined;
  return {
    files: (): IndexedFiles => ({ indexId: indexId(), isComplete: isComplete(), files: files.all() }),
    indexId,
    apply: (changes: AnalysedChanges) => {
      const wasComplete = isComplete();
      prepare(wasComplete);
      database.transaction(() => apply(changes));
      if (!wasComplete && isComplete()) finish();
    },
  };
}

interface StoredDocument {
  readonly key: number;
  readonly sortKey: number;
  readonly changed: number;
  readonly metadata: string;
}

/** Each of its calls returns whether readers can see a difference. */
function createDocumentTables(database: Database) {
  const find = database.prepare<StoredDocument>(
    'SELECT key, sort_key AS sortKey, changed, metadata FROM documents WHERE slug = ?',
  );
  const words = createWords(database);
  const listing = createListing(database);
  const sample = createSampleTable(database);
  const removals = ['documents', 'bodies'].map((table) =>
    database.prepare(`DELETE FROM ${table} WHERE key = ?`),
  );
  const insert = database.prepare(
    'INSERT INTO documents (key, sort_key, slug, reversed, path, own, short, long, draft, changed, metadata) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const insertBody = database.prepare('INSERT INTO bodies VALUES (?, ?)');
  const newKey = database.prepare<{ key: number }>('SELECT coalesce(max(key), 0) + 1 AS key FROM documents');

  const take = (slug: string): StoredDocument | undefined => {
    const old = find.get(slug);
    if (!old) return undefined;
    if (isSampled(slug)) sample.count(words.tokensOf(old.key), -1);
    words.remove(old.sortKey);
    listing.remove(toListed(parseMetadata(old.metadata)));
    for (const statement of removals) statement.run(old.key);
    return old;
  };
  const store = (
    { record, words: analysed, sampled }: AnalysedDocument,
    { key, sortKey, changed }: Omit<StoredDocument, 'metadata'>,
  ) => {
    const { slug, path, own, short, long, metadata, body, draft } = record;
    insert.run(key, sortKey, slug, reversed(slug), path, own, short, long, Number(draft), changed, metadata);
    insertBody.run(key, body);
    words.add(sortKey, analysed);
    if (sampled) sample.count(sampled, 1);
    listing.add(key, record);
  };
  const add = (documents: readonly AnalysedDocument[], changed: number) => {
    const bySlug = new Map(documents.map((document) => [document.record.slug, document]));
    let key = newKey.get()?.key ?? 1;
    for (const { added, moved } of assignSortKeys(database, [...bySlug.keys()].sort(compareSlugs))) {
      words.move(moved);
      for (const { slug, sortKey } of added) {
        const document = bySlug.get(slug);
        if (document) store(document, { sortKey, changed, key: key++ });
      }
    }
  };
  return {
    remove: (slugs: readonly string[]) => slugs.map(take).some(Boolean),
    put: (documents: readonly AnalysedDocument[], at: number) => {
      // If two have the same slug, the last one stays.
      const latest = [...new Map(documents.map((document) => [document.record.slug, document])).values()];
      const fresh = latest.filter((document) => {
        const old = take(document.record.slug);
        if (old) store(document, { ...old, changed: hasSameText(old, document.record) ? old.changed : at });
        return !old;
      });
      if (fresh.length > 0) add(fresh, at);
      return documents.length > 0;
    },
    /** Must begin the transaction, because the previous one may have failed. */
    begin: () => {
      listing.forget();
      sample.forget();
    },
    /** Must end it. */
    finish: () => {
      listing.write();
      sample.write();
    },
  };
}

function hasSameText(one: Pick<StoredDocument, 'metadata'>, other: DocumentRecord): boolean {
  return parseMetadata(one.metadata).contentHash === parseMetadata(other.metadata).contentHash;
}

/** How common words are, from the documents of the sample. */
function createSampleTable(database: Database) {
  const addAll = createRowInsertion(
    database,
    'INSERT INTO sample VALUES',
    2,
    'ON CONFLICT (word) DO UPDATE SET count = count + excluded.count',
  );
  const clean = database.prepare('DELETE FROM sample WHERE word = ? AND count = 0');
  const { count, rows, clear } = createSampleChanges();
  return {
    count,
    write: () => {
      const changed = rows();
      addAll(changed.map(({ word, count }) => [word, count]));
      for (const { word, count } of changed) if (count < 0) clean.run(word);
      clear();
    },
    forget: clear,
  };
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
