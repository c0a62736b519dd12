import { randomUUID } from 'node:crypto';
import { analyseStored, type StoredText } from './documentWords.ts';
import { type IndexDatabase, readMeta, writeMeta } from './indexDatabase.ts';
import { PostingChanges } from './postingChanges.ts';
import { blockSize, changedRow, rowId, type StoredPostings, toBytes, toPostings } from './postings.ts';
import { readWords } from './searchStore.ts';

/**
 * Writes the words of documents. While the library is read for the first time they wait until a block is full, so that
 * each row is written once. Which documents wait is in the index; their words are in memory.
 */
export class PostingQueue {
  #postings = new PostingChanges();
  /** The number of the first document that waits. */
  #first = 0;
  /** What tells these postings from those of another process. */
  #mark = '';
  #waits = false;

  /**
   * Begins a transaction.
   * @param next the number of the next new document
   */
  async begin(database: IndexDatabase, next: number, waits: boolean): Promise<void> {
    const mark = (await readMeta(database, 'waiting')) ?? '';
    if (mark === '' || mark !== this.#mark) {
      // Another process has written documents, or the last transaction has failed.
      this.#postings = new PostingChanges();
      this.#first = mark === '' ? next : Number.parseInt(mark, 10);
      if (mark !== '') await this.#read(database);
    }
    this.#mark = '';
    this.#waits = waits;
    if (!waits) await this.#flush(database, next);
  }

  async change(
    database: IndexDatabase,
    ...[key, before, after]: Parameters<PostingChanges['change']>
  ): Promise<void> {
    if (this.#waits && key % blockSize === 0) await this.#flush(database, key);
    this.#postings.change(key, before, after);
  }

  async finish(database: IndexDatabase, next: number): Promise<void> {
    if (!this.#waits) await this.#flush(database, next);
    const mark = this.#waits ? `${this.#first} ${randomUUID()}` : '';
    await writeMeta(database, 'waiting', mark);
    this.#mark = mark;
  }

  async #read(database: IndexDatabase): Promise<void> {
    const rows = await database.rows<StoredText & { readonly key: number }>(
      'SELECT key, path, metadata, body FROM docs_documents JOIN docs_bodies USING (key) WHERE key >= ? ORDER BY key',
      this.#first,
    );
    for (const { key, ...text } of rows) this.#postings.change(key, undefined, analyseStored(text));
  }

  async #flush(database: IndexDatabase, next: number): Promise<void> {
    await writePostings(database, this.#postings);
    this.#postings = new PostingChanges();
    this.#first = next;
  }
}

async function writePostings(database: IndexDatabase, changes: PostingChanges): Promise<void> {
  // In their order, neighbours are on the same page of the file.
  const words = changes.words().toSorted((one, other) => (one.word < other.word ? -1 : 1));
  if (words.length === 0) return;
  const { any } = database.dialect;
  const changed = changes
    .rows(await countWords(database, words))
    .map(({ block, word, ...change }) => ({ id: rowId(block, word), change }));
  const stored = await database.rows<StoredPostings>(
    `SELECT id, entries, places FROM docs_postings WHERE ${any('id')}`,
    changed.map(({ id }) => id),
  );
  const old = new Map(stored.map((row) => [row.id, toPostings(row)]));
  const rows = changed.map(({ id, change }) => ({ id, row: changedRow(old.get(id), change) }));
  const empty = rows.flatMap(({ id, row }) => (row ? [] : [id]));
  await database.rows(`DELETE FROM docs_postings WHERE ${any('id')}`, empty);
  await database.insert(
    'docs_postings',
    rows.flatMap(({ id, row }) => (row ? [{ id, entries: toBytes(row.entries), places: row.places }] : [])),
    'ON CONFLICT (id) DO UPDATE SET entries = excluded.entries, places = excluded.places',
  );
  const fewer = words.flatMap(({ word, documents }) => (documents < 0 ? [word] : []));
  await database.rows(`DELETE FROM docs_words WHERE id > 1 AND documents = 0 AND ${any('word')}`, fewer);
}

async function countWords(
  database: IndexDatabase,
  words: ReturnType<PostingChanges['words']>,
): Promise<ReadonlyMap<string, number>> {
  const names = words.map(({ word }) => word);
  const known = await readWords(database, 'documents', database.dialect.any('word'), names);
  const numbers = new Map(known.map(({ id, word }) => [word, id]));
  // After those of the two words that every index has.
  let next = Number((await readMeta(database, 'words')) ?? 2);
  for (const { word } of words) if (!numbers.has(word)) numbers.set(word, next++);
  await writeMeta(database, 'words', String(next));
  await database.insert(
    'docs_words',
    words.map((word) => ({ id: numbers.get(word.word) ?? 0, ...word })),
    `ON CONFLICT (word) DO UPDATE
     SET documents = docs_words.documents + excluded.documents, drafts = docs_words.drafts + excluded.drafts`,
  );
  return numbers;
}
