/**
 * The format of the index. The documents are in blocks; a row has the postings of one word in one block: an entry of 32
 * bits for each document, ascending, and the places of the word in each.
 */
export interface PostingRow {
  readonly entries: Uint32Array;
  readonly places: Uint8Array;
}

/** So many documents have one row of a word. */
export const blockSize = 1_024;

/** An entry without the number of a document. Both are cut at 255; the weight is in sixteenths. */
export function entryOf(weight: number, count: number): number {
  return (Math.min(255, Math.round(weight * 16)) << 8) | Math.min(255, count);
}

/** The number of the document in its block. */
export function offsetOf(entry: number): number {
  return entry >>> 16;
}

export function weightOf(entry: number): number {
  return ((entry >>> 8) & 255) / 16;
}

export function countOf(entry: number): number {
  return entry & 255;
}

/** Lists of ascending numbers, one after another: the length of each, and the differences. */
export function encodePlaces(lists: readonly (readonly number[])[]): Uint8Array {
  const bytes: number[] = [];
  const write = (number: number) => {
    let left = number;
    for (; left > 127; left >>>= 7) bytes.push((left & 127) | 128);
    bytes.push(left);
  };
  for (const list of lists) {
    write(list.length);
    let before = 0;
    for (const place of list) {
      write(place - before);
      before = place;
    }
  }
  return Uint8Array.from(bytes);
}

/** Reads such lists. A damaged one ends early. */
export class PlaceReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** The next list. */
  read(): number[] {
    const places: number[] = [];
    let place = 0;
    for (let left = this.#number(); left > 0 && this.#at < this.#bytes.length; left--)
      places.push((place += this.#number()));
    return places;
  }

  /** The bytes of the next list. */
  skip(): Uint8Array {
    const from = this.#at;
    for (let left = this.#number(); left > 0 && this.#at < this.#bytes.length; left--) this.#number();
    return this.#bytes.subarray(from, this.#at);
  }

  #number(): number {
    let number = 0;
    for (let shift = 0; shift < 32; shift += 7) {
      const byte = this.#bytes[this.#at++] ?? 0;
      number |= (byte & 127) << shift;
      if (byte < 128) break;
    }
    return number;
  }
}

/** What a document has of a word: an entry without the number of the document. */
export interface Posting {
  readonly entry: number;
  readonly places: Uint8Array;
}

/**
 * A row after some of its documents have changed; undefined if none is left.
 * @param changes by the number of the document in the block; undefined where the word is gone
 */
export function changedRow(
  row: PostingRow | undefined,
  changes: ReadonlyMap<number, Posting | undefined>,
): PostingRow | undefined {
  if (isAfter(row, changes)) return withMore(row, changes);
  const postings: (Posting & { readonly offset: number })[] = [];
  const reader = new PlaceReader(row?.places ?? new Uint8Array());
  for (const entry of row?.entries ?? []) {
    const places = reader.skip();
    if (!changes.has(offsetOf(entry)))
      postings.push({ offset: offsetOf(entry), entry: entry & 0xffff, places });
  }
  for (const [offset, posting] of changes) if (posting) postings.push({ ...posting, offset });
  if (postings.length === 0) return undefined;
  postings.sort((one, other) => one.offset - other.offset);
  return {
    entries: Uint32Array.from(postings, ({ offset, entry }) => (offset << 16) | entry),
    places: Buffer.concat(postings.map(({ places }) => places)),
  };
}

/** Whether only documents are added, in their order and behind all others: so while the index is built. */
function isAfter(row: PostingRow | undefined, changes: ReadonlyMap<number, Posting | undefined>): boolean {
  let last = offsetOf(row?.entries.at(-1) ?? 0);
  if (row === undefined) last = -1;
  for (const [offset, posting] of changes) {
    if (offset <= last || posting === undefined) return false;
    last = offset;
  }
  return true;
}

function withMore(
  row: PostingRow | undefined,
  changes: ReadonlyMap<number, Posting | undefined>,
): PostingRow {
  let [count, length] = [row?.entries.length ?? 0, row?.places.length ?? 0];
  for (const posting of changes.values()) length += posting?.places.length ?? 0;
  const [entries, places] = [new Uint32Array(count + changes.size), new Uint8Array(length)];
  entries.set(row?.entries ?? []);
  places.set(row?.places ?? []);
  length = row?.places.length ?? 0;
  for (const [offset, posting] of changes) {
    entries[count++] = (offset << 16) | (posting?.entry ?? 0);
    for (const byte of posting?.places ?? []) places[length++] = byte;
  }
  return { entries, places };
}

/** Bytes of a database, which may begin anywhere in memory. */
export function toEntries(bytes: ArrayBuffer | Uint8Array): Uint32Array {
  return new Uint32Array(bytes instanceof Uint8Array ? new Uint8Array(bytes).buffer : bytes);
}

export function toBytes(entries: Uint32Array): Uint8Array {
  return new Uint8Array(entries.buffer, entries.byteOffset, entries.byteLength);
}
