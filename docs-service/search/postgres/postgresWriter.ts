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
} from '../documentRecord.ts';
import { type DocumentTokens, documentMarks, documentTokens, headingBreak } from '../documentTokens.ts';
import { reversed } from '../nearSlugs.ts';
import { createSampleChanges, documentTermStats, isSampled, type SampleChanges } from '../relevance.ts';
import { createListingChanges, insertRows } from './listing.ts';
import { locks } from './schema.ts';
import { pairMarks } from './wordPairs.ts';

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
  readonly sample: SampleChanges;
}

async function changeDocuments(
  client: Client,
  { remove = [], put = [], at = Date.now() }: Pick<IndexChanges, 'remove' | 'put' | 'at'>,
): Promise<boolean> {
  const beside = { listing: createListingChanges(), sample: createSampleChanges() };
  // If two have the same slug, the last one stays.
  const latest = [...new Map(put.map((document) => [document.slug, document])).values()];
  const slugs = [...new Set([...remove, ...latest.map(({ slug }) => slug)])];
  const taken = await takeDocuments(client, slugs, beside);
  const changedAt = ({ slug, contentHash }: Document) => {
    const before = taken.get(slug);
    return before?.contentHash === contentHash ? before.changed : at;
  };
  for (const batch of batches(latest)) await insert(client, batch, { ...beside, changedAt });
  await beside.listing.write(client);
  await writeSample(client, beside.sample);
  return taken.size > 0 || latest.length > 0;
}

async function writeSample(client: Client, sample: SampleChanges): Promise<void> {
  const rows = sample.rows();
  if (rows.length === 0) return;
  const add = 'ON CONFLICT (word) DO UPDATE SET count = docs_sample.count + excluded.count';
  await insertRows(client, 'docs_sample', rows, add);
}

/** A document that was in the index before. */
interface Taken {
  readonly contentHash: string;
  readonly changed: number;
}

async function takeDocuments(
  client: Client,
  slugs: readonly string[],
  { listing, sample }: Beside,
): Promise<ReadonlyMap<string, Taken>> {
  const taken = new Map<string, Taken>();
  if (slugs.length === 0) return taken;
  const sampled = slugs.filter(isSampled);
  const { rows } = await client.query<{
    slug: string;
    changed: string;
    metadata: string;
    body: string | null;
  }>(
    `DELETE FROM docs_documents WHERE slug = ANY ($1)
     RETURNING slug, changed, metadata, CASE WHEN slug = ANY ($2) THEN body END AS body`,
    [slugs, sampled],
  );
  for (const { slug, changed, metadata, body } of rows) {
    const document = parseMetadata(metadata);
    listing.remove(document);
    taken.set(slug, { contentHash: document.contentHash, changed: Number(changed) });
    if (body !== null) sample.count(documentTokens(document.title, body), -1);
  }
  return taken;
}

/** At most this many units of text are sent at once, so that no statement is too large. */
const maxAtOnce = 1_000_000;

function* batches(documents: readonly Document[]): Generator<readonly Document[]> {
  let batch: Document[] = [];
  let size = 0;
  for (const document of documents) {
    batch.push(document);
    size += document.body.length;
    if (size < maxAtOnce) continue;
    yield batch;
    [batch, size] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}

async function insert(
  client: Client,
  documents: readonly Document[],
  { listing, sample, changedAt }: Beside & { readonly changedAt: (document: Document) => number },
): Promise<void> {
  const rows = documents.map((document) => {
    const tokens = documentTokens(document.title, storable(document.body));
    listing.add(document);
    if (isSampled(document.slug)) sample.count(tokens, 1);
    return documentToRow(document, { tokens, changed: changedAt(document) });
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

/** A row of `docs_documents`, by its columns; the database ignores the rest of the record. */
function documentToRow(
  document: Document,
  { tokens, changed }: { readonly tokens: DocumentTokens; readonly changed: number },
): object {
  const record = documentToRecord(document);
  return {
    ...record,
    reversed: reversed(record.slug),
    changed,
    term_stats: documentTermStats(tokens),
    words: wordVector(tokens, documentMarks(tokens, record)),
    title_words: spaced([tokens.title]),
    heading_words: spaced(tokens.headings),
    all_words: spaced([tokens.title, tokens.text]),
  };
}

/** With a space around each word, and a non-word between parts that must not form a phrase. */
function spaced(parts: readonly (readonly string[])[]): string {
  return parts.map((part) => ` ${part.join(' ')} `).join(headingBreak);
}

/** In PostgreSQL's notation for a tsvector, without places. No token has a character that must be quoted. */
function wordVector({ title, text }: DocumentTokens, marks: readonly string[]): string {
  const all = new Set([...title, ...text, ...marks, ...pairMarks(title), ...pairMarks(text)]);
  return Array.from(all, (token) => `'${token}'`).join(' ');
}
