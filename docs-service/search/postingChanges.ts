import type { DocumentWords } from './documentWords.ts';
import { blockSize, PlaceReader, type PostingRow } from './postings.ts';

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
export class PostingChanges {
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
