import { randomUUID } from 'node:crypto';
import { analyseStored, type DocumentWords, type StoredText } from './documentWords.ts';
import { type IndexDatabase, readMeta, writeMeta } from './indexDatabase.ts';
import {
  blockSize,
  changedRow,
  PlaceReader,
  type PostingRow,
  rowId,
  type StoredPostings,
  toBytes,
  toPostings,
} from './postings.ts';
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

/** How many more documents have a word, and how many of those are drafts. */
export interface WordChange {
  readonly word: string;
  readonly documents: number;
  readonly drafts: number;
}

export interface RowChange {
  readonly block: number;
  /** The number of the word. */
  readonly word: number;
  /** The numbers of documents in the block. */
  readonly removed: ReadonlySet<number>;
  readonly added: PostingRow;
}

interface ChangedDocument extends Pick<DocumentWords, 'entries' | 'places'> {
  readonly key: number;
  /** The places of its words in the changes; -1 where the index has the same already. */
  readonly ids: Int32Array;
}

/** The changes of the words of documents, the same for both engines. */
class PostingChanges {
  readonly #ids = new Map<string, number>();
  readonly #words: { readonly word: string; documents: number; drafts: number }[] = [];
  /** By block, and ascending by their numbers. */
  readonly #added = new Map<number, ChangedDocument[]>();
  readonly #removed = new Map<number, ChangedDocument[]>();

  /**
   * Documents must come in the order of their numbers, but for those that are only removed.
   * @param before the words that the document had; undefined if it is new
   * @param after those that it has; undefined if it is gone
   */
  change(key: number, before: DocumentWords | undefined, after: DocumentWords | undefined): void {
    const same = before && after ? sharedPostings(before, after) : undefined;
    if (before) push(this.#removed, { ...before, key, ids: this.#count(before, -1, same) });
    if (after) push(this.#added, { ...after, key, ids: this.#count(after, 1, same) });
  }

  words(): readonly WordChange[] {
    return this.#words;
  }

  /**
   * The rows that change, in the order of their blocks and words.
   * @param numbers of the words
   */
  rows(numbers: ReadonlyMap<string, number>): readonly RowChange[] {
    const rows: RowChange[] = [];
    for (const block of new Set([...this.#removed.keys(), ...this.#added.keys()])) {
      const removed = removedFrom(this.#removed.get(block) ?? []);
      const added = rowsOf(this.#added.get(block) ?? [], this.#words.length);
      for (const [id, { word: name }] of this.#words.entries()) {
        const word = numbers.get(name);
        const change = { removed: removed.get(id) ?? nothing, added: added(id) };
        if (word !== undefined && change.removed.size + change.added.entries.length > 0)
          rows.push({ block, word, ...change });
      }
    }
    return rows.sort((one, other) => one.block - other.block || one.word - other.word);
  }

  #count({ words, isDraft }: DocumentWords, by: 1 | -1, same?: ReadonlySet<string>): Int32Array {
    const ids = new Int32Array(words.length);
    for (let at = 0; at < words.length; at++) {
      const word = words[at] ?? '';
      let id = this.#ids.get(word);
      if (id === undefined) {
        this.#ids.set(word, (id = this.#words.length));
        this.#words.push({ word, documents: 0, drafts: 0 });
      }
      const change = this.#words[id];
      if (change) {
        change.documents += by;
        if (isDraft) change.drafts += by;
      }
      ids[at] = same?.has(word) ? -1 : id;
    }
    return ids;
  }
}

const nothing: ReadonlySet<number> = new Set();

function push(blocks: Map<number, ChangedDocument[]>, { key, ids, entries, places }: ChangedDocument): void {
  const block = Math.floor(key / blockSize);
  const documents = blocks.get(block) ?? [];
  blocks.set(block, documents);
  documents.push({ key, ids, entries, places });
}

/** The words of which a document has the same as before. */
function sharedPostings(before: DocumentWords, after: DocumentWords): ReadonlySet<string> {
  const [old, reader] = [new PlaceReader(before.places), new PlaceReader(after.places)];
  const postings = new Map(
    before.words.map((word, at) => [word, { entry: before.entries[at], places: old.skip() }]),
  );
  const same = after.words.filter((word, at) => {
    const [posting, places] = [postings.get(word), reader.skip()];
    return posting?.entry === after.entries[at] && Buffer.compare(posting?.places ?? places, places) === 0;
  });
  return new Set(same);
}

/** The numbers of documents, by the words that they lose. */
function removedFrom(documents: readonly ChangedDocument[]): ReadonlyMap<number, ReadonlySet<number>> {
  const removed = new Map<number, Set<number>>();
  for (const { key, ids } of documents)
    for (const id of ids) removed.set(id, (removed.get(id) ?? new Set()).add(key % blockSize));
  return removed;
}

/** The rows of these documents, by words. All of them are parts of two arrays: a block has very many. */
function rowsOf(documents: readonly ChangedDocument[], words: number): (id: number) => PostingRow {
  const [counts, lengths] = [new Uint32Array(words + 1), new Uint32Array(words + 1)];
  const add = (numbers: Uint32Array, at: number, more: number) => {
    numbers[at] = (numbers[at] ?? 0) + more;
  };
  eachPosting(documents, (id, _entry, places) => {
    add(counts, id + 1, 1);
    add(lengths, id + 1, places.to - places.from);
  });
  for (let id = 0; id < words; id++) {
    add(counts, id + 1, counts[id] ?? 0);
    add(lengths, id + 1, lengths[id] ?? 0);
  }
  const [entries, places] = [new Uint32Array(counts[words] ?? 0), new Uint8Array(lengths[words] ?? 0)];
  const [nextEntry, nextPlace] = [counts.slice(), lengths.slice()];
  eachPosting(documents, (id, entry, { bytes, from, to }) => {
    entries[nextEntry[id] ?? 0] = entry;
    add(nextEntry, id, 1);
    for (let at = from, place = nextPlace[id] ?? 0; at < to; at++) places[place++] = bytes[at] ?? 0;
    add(nextPlace, id, to - from);
  });
  return (id) => ({
    entries: entries.subarray(counts[id], counts[id + 1]),
    places: places.subarray(lengths[id], lengths[id + 1]),
  });
}

/** Calls with each entry, which has the number of its document, and with where its places are. */
function eachPosting(
  documents: readonly ChangedDocument[],
  visit: (id: number, entry: number, places: { bytes: Uint8Array; from: number; to: number }) => void,
): void {
  for (const { key, ids, entries, places: bytes } of documents) {
    const reader = new PlaceReader(bytes);
    const places = { bytes, from: 0, to: 0 };
    for (let at = 0; at < ids.length; at++) {
      [places.from, places.to] = [reader.at, reader.skipTo()];
      const id = ids[at] ?? -1;
      if (id >= 0) visit(id, ((key % blockSize) << 16) | (entries[at] ?? 0), places);
    }
  }
}
