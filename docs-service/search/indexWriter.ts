import { type IndexChanges, type IndexedFile, type IndexedFiles, indexIsAnother } from './documentIndex.ts';
import {
  type FileRemarks,
  type FileRow,
  fileToRow,
  isOther,
  type ListEntry,
  listEntries,
  metaOf,
  parseMetadata,
  rowToFile,
  storable,
  toListed,
} from './documentRecord.ts';
import { type AnalysedDocument, analyseStored, type StoredText } from './documentWords.ts';
import { type IndexDatabase, readMeta, readState, writeMeta } from './indexDatabase.ts';
import { reversed } from './nearSlugs.ts';
import type { PostingQueue } from './postingChanges.ts';

export type AnalysedChanges = Omit<IndexChanges, 'put'> & { readonly put?: readonly AnalysedDocument[] };

export async function readFiles(database: IndexDatabase): Promise<IndexedFiles> {
  const rows = await database.rows<FileRow>('SELECT * FROM docs_files ORDER BY path');
  const { indexId } = await readState(database);
  const reading = String(JSON.parse((await readMeta(database, 'reading')) ?? '""'));
  return { indexId, reading, isComplete: await isComplete(database), files: rows.map(rowToFile) };
}

export async function isComplete(database: IndexDatabase): Promise<boolean> {
  return (await readMeta(database, 'isComplete')) !== undefined;
}

/** Must run in a transaction. Returns whether readers can see a difference. */
export async function applyChanges(
  database: IndexDatabase,
  changes: AnalysedChanges,
  postings: PostingQueue,
): Promise<boolean> {
  if (changes.indexId !== undefined && changes.indexId !== (await readState(database)).indexId)
    throw indexIsAnother();
  const seen = [
    await changeDocuments(database, changes, postings),
    await removeFiles(database, changes.removeFiles ?? []),
    await putFiles(database, changes.putFiles ?? []),
  ];
  for (const [name, json] of metaOf(changes)) seen.push(await writeMeta(database, name, json));
  if (!seen.includes(true)) return false;
  return writeMeta(database, 'changes', String((await readState(database)).changes + 1));
}

interface StoredDocument extends StoredText {
  readonly key: number;
  readonly slug: string;
  readonly changed: number;
}

async function changeDocuments(
  database: IndexDatabase,
  { remove = [], put = [], at = Date.now(), ...changes }: AnalysedChanges,
  postings: PostingQueue,
): Promise<boolean> {
  // If two have the same slug, the last one stays.
  const latest = new Map(put.map((document) => [document.record.slug, document]));
  const old = await takeDocuments(database, [...new Set([...remove, ...latest.keys()])]);
  let { next } = old;
  const waits = old.rows.length === 0 && changes.isComplete === undefined && !(await isComplete(database));
  await postings.begin(database, next, waits);
  const unlisted: ListEntry[] = [];
  for (const { key, slug, ...text } of old.rows) {
    unlisted.push(...listEntries(toListed(parseMetadata(text.metadata))));
    if (!latest.has(slug)) await postings.change(database, key, analyseStored(text), undefined);
  }
  const stored: (AnalysedDocument & { readonly key: number; readonly changed: number })[] = [];
  for (const { key, slug, changed, ...text } of old.rows) {
    const document = latest.get(slug);
    if (!document) continue;
    const [before, after] = [text.metadata, document.record.metadata].map(parseMetadata);
    const isSame = before?.contentHash === after?.contentHash;
    stored.push({ ...document, key, changed: isSame ? changed : at });
    await postings.change(database, key, analyseStored(text), document.words);
  }
  const known = new Set(old.rows.map(({ slug }) => slug));
  for (const document of latest.values()) {
    if (known.has(document.record.slug)) continue;
    stored.push({ ...document, key: next, changed: at });
    await postings.change(database, next++, undefined, document.words);
  }
  const rows = stored.map(({ key, changed, record }) => {
    const { slug, path, own, short, long, metadata, draft } = record;
    return { key, slug, reversed: reversed(slug), path, own, short, long, draft, changed, metadata };
  });
  await database.insert('docs_documents', rows);
  await database.insert(
    'docs_bodies',
    stored.map(({ key, record }) => ({ key, body: record.body })),
  );
  const listed = stored.flatMap(({ key, record }) => listEntries(record).map((entry) => ({ ...entry, key })));
  await writeListing(database, unlisted, listed);
  await postings.finish(database, next);
  return known.size > 0 || latest.size > 0;
}

/** Deletes documents. They come in the order of their numbers, with that of the next new document. */
async function takeDocuments(database: IndexDatabase, slugs: readonly string[]) {
  const { any } = database.dialect;
  const [last] = await database.rows<{ key: number | null }>('SELECT max(key) AS key FROM docs_documents');
  const next = (last?.key ?? -1) + 1;
  if (slugs.length === 0) return { rows: [], next };
  const rows = await database.rows<StoredDocument>(
    `SELECT key, slug, path, changed, metadata, body FROM docs_documents JOIN docs_bodies USING (key)
     WHERE ${any('slug')} ORDER BY key`,
    slugs,
  );
  const keys = rows.map(({ key }) => key);
  for (const table of rows.length === 0 ? [] : ['docs_documents', 'docs_bodies'])
    await database.rows(`DELETE FROM ${table} WHERE ${any('key')}`, keys);
  return { rows, next };
}

async function removeFiles(database: IndexDatabase, paths: readonly string[]): Promise<boolean> {
  const before = await takeFiles(database, paths.map(storable));
  return before.some((row) => isOther(undefined, row));
}

/** Whether the problems and warnings that readers see have changed. */
async function putFiles(database: IndexDatabase, files: readonly IndexedFile[]): Promise<boolean> {
  const latest = new Map(files.map(fileToRow).map((row) => [row.path, row]));
  const rows = [...latest.values()];
  const before = new Map((await takeFiles(database, [...latest.keys()])).map((row) => [row.path, row]));
  await database.insert(
    'docs_files',
    rows.map((row) => ({ ...row })),
  );
  return rows.some((row) => isOther(row, before.get(row.path)));
}

/** Deletes rows, and returns what readers saw of them. */
async function takeFiles(database: IndexDatabase, paths: readonly string[]): Promise<readonly FileRemarks[]> {
  if (paths.length === 0) return [];
  const { any } = database.dialect;
  const rows = await database.rows<FileRemarks>(
    `SELECT path, problem, warnings FROM docs_files WHERE ${any('path')}`,
    paths,
  );
  await database.rows(`DELETE FROM docs_files WHERE ${any('path')}`, paths);
  return rows;
}

/** Changes the lists, which are stored with their lengths, so that no page has to count. Must end the transaction. */
async function writeListing(
  database: IndexDatabase,
  removed: readonly ListEntry[],
  added: readonly (ListEntry & { readonly key: number })[],
): Promise<void> {
  const scopes = await countScopes(database, removed, added);
  const keyOf = ({ name, rank, place, slug }: ListEntry) => {
    return { scope: scopes.get(name) ?? 0, rank, place, slug };
  };
  await database.remove('docs_listing', removed.map(keyOf));
  const rows = added.map((entry) => ({ ...keyOf(entry), draft: entry.draft, key: entry.key }));
  // In their order, neighbours are on the same page of the file.
  rows.sort((one, other) => one.scope - other.scope || one.rank - other.rank);
  await database.insert('docs_listing', rows);
}

/** The numbers of the lists by their names. */
async function countScopes(
  database: IndexDatabase,
  removed: readonly ListEntry[],
  added: readonly ListEntry[],
): Promise<ReadonlyMap<string, number>> {
  const changes = new Map<string, { visible: number; drafts: number }>();
  const count = ({ name, draft }: ListEntry, by: 1 | -1) => {
    const known = changes.get(name) ?? { visible: 0, drafts: 0 };
    changes.set(name, known);
    known[draft ? 'drafts' : 'visible'] += by;
  };
  for (const entry of added) count(entry, 1);
  for (const entry of removed) count(entry, -1);
  await database.insert(
    'docs_scopes',
    Array.from(changes, ([name, change]) => ({ name, ...change })),
    `ON CONFLICT (name) DO UPDATE
     SET visible = docs_scopes.visible + excluded.visible, drafts = docs_scopes.drafts + excluded.drafts`,
  );
  const rows = await database.rows<{ name: string; scope: number }>(
    `SELECT name, scope FROM docs_scopes WHERE ${database.dialect.any('name')}`,
    [...changes.keys()],
  );
  return new Map(rows.map(({ name, scope }) => [name, scope]));
}
