import type pg from 'pg';
import type { Document } from '../../content/document.ts';
import { type IndexChanges, type IndexedFile, type IndexedFiles, indexIsAnother } from '../documentIndex.ts';
import {
  documentToRecord,
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
import { documentWords } from '../documentWords.ts';
import { reversed } from '../nearSlugs.ts';
import { PostingChanges } from '../postingChanges.ts';
import { createListingChanges, insertRows } from './listing.ts';
import { locks } from './schema.ts';
import { writeWords } from './wordTables.ts';

type Client = pg.ClientBase;

/** The channel on which changes of the index are announced. */
export const changeChannel = 'docs_index';

export async function readFiles(client: Client): Promise<IndexedFiles> {
  const { rows } = await client.query<FileRow>('SELECT * FROM docs_files ORDER BY path');
  return {
    indexId: await readIndexId(client),
    isComplete: (await tryReadMeta(client, 'isComplete')) !== undefined,
    files: rows.map(rowToFile),
  };
}

export async function readIndexId(client: Client): Promise<string> {
  return (await tryReadMeta(client, 'indexId')) ?? '';
}

export async function tryReadMeta(client: Client, name: string): Promise<string | undefined> {
  const { rows } = await client.query<{ value: string }>('SELECT value FROM docs_meta WHERE name = $1', [
    name,
  ]);
  return rows[0]?.value;
}

/** Must run in a transaction. */
export async function applyChanges(client: Client, changes: IndexChanges): Promise<void> {
  // Longer than for readers: nobody waits for this, and a piece may have hundreds of documents.
  await client.query("SET LOCAL statement_timeout = '120s'");
  await client.query('SELECT pg_advisory_xact_lock($1)', [locks.writing]);
  if (changes.indexId !== undefined && changes.indexId !== (await readIndexId(client)))
    throw indexIsAnother();
  const seen = [
    await changeDocuments(client, changes),
    await removeFiles(client, changes.removeFiles ?? []),
    await putFiles(client, changes.putFiles ?? []),
  ];
  for (const [name, json] of metaOf(changes)) seen.push(await setMeta(client, name, json));
  if (seen.includes(true)) await announce(client);
}

/** Readers can see a difference. Listeners get it when the transaction is over. */
async function announce(client: Client): Promise<void> {
  await client.query(
    `INSERT INTO docs_meta VALUES ('changes', '1')
     ON CONFLICT (name) DO UPDATE SET value = (docs_meta.value::bigint + 1)::text`,
  );
  await client.query('SELECT pg_notify($1, $2)', [changeChannel, '']);
}

/** Changes beside the documents, written once at the end of the transaction. */
interface Beside {
  readonly listing: ReturnType<typeof createListingChanges>;
  readonly words: PostingChanges;
}

async function changeDocuments(
  client: Client,
  { remove = [], put = [], at = Date.now() }: Pick<IndexChanges, 'remove' | 'put' | 'at'>,
): Promise<boolean> {
  const beside = { listing: createListingChanges(), words: new PostingChanges() };
  // If two have the same slug, the last one stays.
  const latest = [...new Map(put.map((document) => [document.slug, document])).values()];
  const slugs = [...new Set([...remove, ...latest.map(({ slug }) => slug)])];
  const taken = await takeDocuments(client, slugs, beside);
  const { rows } = await client.query<{ key: number }>(
    'SELECT coalesce(max(key), -1) + 1 AS key FROM docs_documents',
  );
  let fresh = Math.max(rows[0]?.key ?? 0, ...Array.from(taken.values(), ({ key }) => key + 1));
  const numbered = latest.map((document) => {
    const before = taken.get(document.slug);
    const changed = before?.contentHash === document.contentHash ? before.changed : at;
    return { document, key: before?.key ?? fresh++, changed };
  });
  for (const batch of batches(numbered)) await insert(client, batch, beside);
  await beside.listing.write(client);
  await writeWords(client, beside.words);
  return taken.size > 0 || latest.length > 0;
}

/** A document that was in the index before. */
interface Taken {
  readonly key: number;
  readonly contentHash: string;
  readonly changed: number;
}

async function takeDocuments(
  client: Client,
  slugs: readonly string[],
  { listing, words }: Beside,
): Promise<ReadonlyMap<string, Taken>> {
  const taken = new Map<string, Taken>();
  if (slugs.length === 0) return taken;
  const { rows } = await client.query<{
    key: number;
    slug: string;
    path: string;
    changed: string;
    metadata: string;
    body: string;
  }>('DELETE FROM docs_documents WHERE slug = ANY ($1) RETURNING key, slug, path, changed, metadata, body', [
    slugs,
  ]);
  for (const { key, slug, path, changed, metadata, body } of rows) {
    const document = parseMetadata(metadata);
    listing.remove(document);
    words.remove(key, documentWords({ ...document, ...toListed(document), path, body }));
    taken.set(slug, { key, contentHash: document.contentHash, changed: Number(changed) });
  }
  return taken;
}

/** At most this many units of text are sent at once, so that no statement is too large. */
const maxAtOnce = 1_000_000;

function* batches(documents: readonly NumberedDocument[]): Generator<readonly NumberedDocument[]> {
  let batch: NumberedDocument[] = [];
  let size = 0;
  for (const numbered of documents) {
    batch.push(numbered);
    size += numbered.document.body.length;
    if (size < maxAtOnce) continue;
    yield batch;
    [batch, size] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}

interface NumberedDocument {
  readonly document: Document;
  readonly key: number;
  readonly changed: number;
}

async function insert(
  client: Client,
  documents: readonly NumberedDocument[],
  { listing, words }: Beside,
): Promise<void> {
  // The database ignores the rest of a record.
  const rows = documents.map(({ document, key, changed }) => {
    const record = documentToRecord(document);
    listing.add(document);
    words.add(key, documentWords({ ...document, ...record }));
    return { ...record, key, changed, reversed: reversed(record.slug) };
  });
  await insertRows(client, 'docs_documents', rows);
}

async function removeFiles(client: Client, paths: readonly string[]): Promise<boolean> {
  const before = await takeFiles(client, paths.map(storable));
  return before.some((row) => isOther(undefined, row));
}

/** Whether the problems and warnings that readers see have changed. */
async function putFiles(client: Client, files: readonly IndexedFile[]): Promise<boolean> {
  if (files.length === 0) return false;
  const latest = new Map(files.map(fileToRow).map((row) => [row.path, row]));
  const rows = [...latest.values()];
  const before = new Map((await takeFiles(client, [...latest.keys()])).map((row) => [row.path, row]));
  await insertRows(client, 'docs_files', rows);
  return rows.some((row) => isOther(row, before.get(row.path)));
}

/** Deletes rows, and returns what readers saw of them. */
async function takeFiles(client: Client, paths: readonly string[]): Promise<readonly FileRemarks[]> {
  if (paths.length === 0) return [];
  const { rows } = await client.query<FileRemarks>(
    'DELETE FROM docs_files WHERE path = ANY ($1) RETURNING path, problem, warnings',
    [paths],
  );
  return rows;
}

async function setMeta(client: Client, name: string, value: string): Promise<boolean> {
  const { rowCount } = await client.query(
    `INSERT INTO docs_meta VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value
     WHERE docs_meta.value <> excluded.value`,
    [name, value],
  );
  return rowCount !== 0;
}
