/**
 * The format of the index. The documents are in blocks; a row has the postings of one word in one block: an entry of 32
 * bits for each document, ascending, and the places of the word in each.
 */
export interface PostingRow {
  readonly entries: Uint32Array;
  readonly places: Uint8Array;
}

/** The rows of words in one block, by the numbers of the words. */
export type Postings = ReadonlyMap<number, PostingRow>;

/** The numbers of two words that every index has. */
export const anyNumber = 0;
export const draftNumber = 1;

/** So many documents have one row of a word. */
export const blockSize = 4_096;

/** An entry without the number of a document. Both are cut at 255; the weight is in sixteenths. */
export function entryOf(weight: number, count: number): number {
  return (Math.min(255, Math.round(weight * 16)) << 8) | Math.min(255, count);
}

export function offsetOf(entry: number): number {
  return entry >>> 16;
}

export function weightOf(entry: number): number {
  return ((entry >>> 8) & 255) / 16;
}

export function countOf(entry: number): number {
  return entry & 255;
}

/**
 * The places of words in a document, one list after another: the length of each in bytes, and the differences.
 * @param words the number of the word at each of the places, which ascend
 */
export function encodePlaces(count: number, words: readonly number[], places: readonly number[]): Uint8Array {
  const sizes = new Uint32Array(count);
  const differences = new Uint32Array(words.length);
  const latest = new Uint32Array(count);
  for (let at = 0; at < words.length; at++) {
    const [word, place] = [words[at] ?? 0, places[at] ?? 0];
    const difference = place - (latest[word] ?? 0);
    differences[at] = difference;
    sizes[word] = (sizes[word] ?? 0) + numberSize(difference);
    latest[word] = place;
  }
  const bytes = new Uint8Array(sizes.reduce((sum, size) => sum + numberSize(size) + size, 0));
  const ends = new Uint32Array(count);
  let end = 0;
  for (let word = 0; word < count; word++) {
    const size = sizes[word] ?? 0;
    ends[word] = writeNumber(bytes, end, size);
    end = (ends[word] ?? 0) + size;
  }
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? 0;
    ends[word] = writeNumber(bytes, ends[word] ?? 0, differences[at] ?? 0);
  }
  return bytes;
}

function writeNumber(bytes: Uint8Array, at: number, number: number): number {
  let [end, left] = [at, number];
  for (; left > 127; left >>>= 7) bytes[end++] = (left & 127) | 128;
  bytes[end++] = left;
  return end;
}

function numberSize(number: number): number {
  let size = 1;
  for (let left = number >>> 7; left > 0; left >>>= 7) size += 1;
  return size;
}

/** Reads such lists. A damaged one ends early. */
export class PlaceReader {
  /** Where the next list begins. */
  at = 0;

  constructor(private readonly bytes: Uint8Array) {}

  /** Writes the next list to the beginning of another one, and returns its length. */
  read(into: number[]): number {
    const size = this.#number();
    const end = Math.min(this.bytes.length, this.at + size);
    let length = 0;
    for (let place = 0; this.at < end; ) into[length++] = place += this.#number();
    return length;
  }

  skip(): Uint8Array {
    const from = this.at;
    return this.bytes.subarray(from, this.skipTo());
  }

  /** Returns where the list after the next one begins. */
  skipTo(): number {
    const size = this.#number();
    this.at += size;
    return this.at;
  }

  #number(): number {
    let number = 0;
    for (let shift = 0; shift < 32; shift += 7) {
      const byte = this.bytes[this.at++] ?? 0;
      number |= (byte & 127) << shift;
      if (byte < 128) break;
    }
    return number;
  }
}

/** Reads the places of a word in one document after another. */
export class PlaceCursor {
  readonly #entries: Uint32Array;
  readonly #reader: PlaceReader;
  #at = 0;

  constructor({ entries, places }: PostingRow) {
    [this.#entries, this.#reader] = [entries, new PlaceReader(places)];
  }

  /** Whether the document has the word. Documents must come in their order. */
  moveTo(offset: number): boolean {
    for (; offsetOf(this.#entries[this.#at] ?? endOfRow) < offset; this.#at++) this.#reader.skipTo();
    return offsetOf(this.#entries[this.#at] ?? endOfRow) === offset;
  }

  /** Writes the places in this document to the beginning of a list, once, and returns how many there are. */
  read(into: number[]): number {
    this.#at += 1;
    return this.#reader.read(into);
  }
}

/** The entry of a document behind all others. */
const endOfRow = 0xffffffff;

/** A row without some of its documents, and with others; undefined if none is left. */
export function changedRow(
  row: PostingRow | undefined,
  { removed, added }: { readonly removed: ReadonlySet<number>; readonly added: PostingRow },
): PostingRow | undefined {
  if (row === undefined) return added.entries.length > 0 ? added : undefined;
  const isBehind = offsetOf(row.entries.at(-1) ?? 0) < offsetOf(added.entries[0] ?? 0);
  if (removed.size === 0 && isBehind) return joined(row, added);
  const entries: number[] = [];
  const places: Uint8Array[] = [];
  const [old, others] = [new PlaceReader(row.places), new PlaceReader(added.places)];
  let next = 0;
  const addUpTo = (offset: number) => {
    for (; offsetOf(added.entries[next] ?? 0) < offset && next < added.entries.length; next++) {
      entries.push(added.entries[next] ?? 0);
      places.push(others.skip());
    }
  };
  for (const entry of row.entries) {
    addUpTo(offsetOf(entry));
    const list = old.skip();
    if (removed.has(offsetOf(entry))) continue;
    entries.push(entry);
    places.push(list);
  }
  addUpTo(Number.POSITIVE_INFINITY);
  return entries.length === 0
    ? undefined
    : { entries: Uint32Array.from(entries), places: Buffer.concat(places) };
}

function joined(one: PostingRow, other: PostingRow): PostingRow {
  const entries = new Uint32Array(one.entries.length + other.entries.length);
  entries.set(one.entries);
  entries.set(other.entries, one.entries.length);
  return { entries, places: Buffer.concat([one.places, other.places]) };
}

/** The number of the row of a word in a block, with which new rows are at the end: 26 bits are for the word. */
export function rowId(block: number, word: number): number {
  return block * wordsInBlock + word;
}

export const wordsInBlock = 2 ** 26;

/** A row of postings as its engine gives it. Its bytes may begin anywhere in memory. */
export interface StoredPostings {
  readonly id: number;
  readonly entries: ArrayBuffer | Uint8Array;
  readonly places?: ArrayBuffer | Uint8Array;
}

export function toPostings({ entries, places = new Uint8Array() }: StoredPostings): PostingRow {
  return {
    entries: new Uint32Array(entries instanceof Uint8Array ? new Uint8Array(entries).buffer : entries),
    places: places instanceof Uint8Array ? places : new Uint8Array(places),
  };
}

export function toBytes(entries: Uint32Array): Uint8Array {
  return new Uint8Array(entries.buffer, entries.byteOffset, entries.byteLength);
}
