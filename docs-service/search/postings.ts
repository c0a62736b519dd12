/**
 * The format of the index. The documents are in blocks; a row has the postings of one word in one block: an entry of 32
 * bits for each document, ascending, and the places of the word in each.
 */
export interface PostingRow {
  readonly entries: Uint32Array;
  readonly places: Uint8Array;
}

/** So many documents have one row of a word. */
export const blockSize = 4_096;

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
  /** Where the next list begins. */
  at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** The next list. */
  read(): number[] {
    const places: number[] = [];
    let place = 0;
    for (let left = this.#number(); left > 0 && this.at < this.#bytes.length; left--)
      places.push((place += this.#number()));
    return places;
  }

  /** The bytes of the next list. */
  skip(): Uint8Array {
    const from = this.at;
    return this.#bytes.subarray(from, this.skipTo());
  }

  /** Returns where the list after the next one begins. */
  skipTo(): number {
    for (let left = this.#number(); left > 0 && this.at < this.#bytes.length; left--) this.#number();
    return this.at;
  }

  #number(): number {
    let number = 0;
    for (let shift = 0; shift < 32; shift += 7) {
      const byte = this.#bytes[this.at++] ?? 0;
      number |= (byte & 127) << shift;
      if (byte < 128) break;
    }
    return number;
  }
}

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

/** Bytes of a database, which may begin anywhere in memory. */
export function toEntries(bytes: ArrayBuffer | Uint8Array): Uint32Array {
  return new Uint32Array(bytes instanceof Uint8Array ? new Uint8Array(bytes).buffer : bytes);
}

export function toPlaces(bytes: ArrayBuffer | Uint8Array = new Uint8Array()): Uint8Array {
  return bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes);
}

export function toBytes(entries: Uint32Array): Uint8Array {
  return new Uint8Array(entries.buffer, entries.byteOffset, entries.byteLength);
}
