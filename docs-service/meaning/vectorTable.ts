/**
 * A vector as it is kept: each number as a share of the largest one, in whole steps from -127 to 127. Its length does
 * not count, since meanings are compared by the angle alone. Both engines keep the same bytes, so that they give the
 * same order.
 */
export type CompactVector = Int8Array;

const steps = 127;

/** Undefined if nothing is left of it. */
export function compactVector(vector: Float32Array): CompactVector | undefined {
  let largest = 0;
  for (const number of vector) largest = Math.max(largest, Math.abs(number));
  if (largest === 0) return undefined;
  return Int8Array.from(vector, (number) => Math.round((number / largest) * steps));
}

/** A section that is near to a question. */
export interface NearSection {
  readonly slug: string;
  readonly place: number;
}

interface DocumentRows {
  readonly slug: string;
  readonly isDraft: boolean;
  /** Its rows, by the places of its sections. */
  readonly rows: number[];
}

/** With more rows than these, only the most promising ones are compared exactly. */
const maxExact = 20_000;
/** How many of them, for each one that is wanted, and at least. */
const [perWanted, minPromising] = [20, 4_000];
const wordBits = 16;

/** All vectors in memory, one in a row. */
export class VectorTable {
  /** Words of signs in a row. */
  readonly #words: number;
  readonly #documents = new Map<string, DocumentRows>();
  #count = 0;
  #vectors = new Int8Array(0);
  /** One bit for each number, which is its sign: two rows with many common signs have a small angle. */
  #signs = new Uint16Array(0);
  #lengths = new Float32Array(0);
  #owners: DocumentRows[] = [];
  #places = new Uint16Array(0);

  constructor(readonly dimensions: number) {
    this.#words = Math.ceil(dimensions / wordBits);
  }

  /** Replaces the sections of a document. Those without a vector are missing. */
  put(slug: string, isDraft: boolean, vectors: readonly (CompactVector | undefined)[]): void {
    this.remove(slug);
    const document: DocumentRows = { slug, isDraft, rows: [] };
    this.#documents.set(slug, document);
    for (const [place, vector] of vectors.entries())
      if (vector?.length === this.dimensions) this.#add(document, place, vector);
  }

  remove(slug: string): void {
    const document = this.#documents.get(slug);
    if (!document) return;
    this.#documents.delete(slug);
    // From the last one, so that no row of its own is moved.
    for (const row of document.rows.toSorted((one, other) => other - one)) this.#removeRow(row);
  }

  /** The nearest to a question of the same length; the nearest first, equally near ones by slug and place. */
  nearest(
    question: CompactVector,
    {
      drafts,
      count,
    }: {
      readonly drafts: boolean;
      readonly count: number;
    },
  ): readonly NearSection[] {
    const rows =
      this.#count <= maxExact
        ? Int32Array.from({ length: this.#count }, (_, row) => row)
        : this.#promising(question, Math.max(minPromising, count * perWanted), drafts);
    const isHidden = (row: number) => !drafts && this.#owners[row]?.isDraft === true;
    const near = Float64Array.from(rows, (row) =>
      isHidden(row) ? Number.NEGATIVE_INFINITY : this.#nearness(question, row),
    );
    const least = near.toSorted()[Math.max(0, near.length - count)] ?? 0;
    const found: RankedSection[] = [];
    for (const [at, row] of rows.entries()) {
      const [owner, own = 0] = [this.#owners[row], near[at]];
      if (owner && own >= least && own > Number.NEGATIVE_INFINITY)
        found.push({ near: own, slug: owner.slug, place: this.#places[row] ?? 0 });
    }
    return found
      .sort(byNearness)
      .slice(0, count)
      .map(({ slug, place }) => ({ slug, place }));
  }

  /** The cosine of the angle, up to the length of the question, which is the same for all. */
  #nearness(question: CompactVector, row: number): number {
    const vectors = this.#vectors;
    const start = row * this.dimensions;
    let sum = 0;
    for (let at = 0; at < question.length; at++) sum += (question[at] ?? 0) * (vectors[start + at] ?? 0);
    return sum / (this.#lengths[row] ?? 1);
  }

  /** The rows with the most signs in common with the question. */
  #promising(question: CompactVector, wanted: number, drafts: boolean): readonly number[] {
    const words = this.#words;
    const signs = this.#signs;
    const asked = signsOf(question, words);
    const differing = new Uint16Array(this.#count);
    const histogram = new Uint32Array(this.dimensions + 1);
    for (let row = 0, at = 0; row < this.#count; row++) {
      let different = 0;
      for (let word = 0; word < words; word++, at++)
        different += bitCounts[(signs[at] ?? 0) ^ (asked[word] ?? 0)] ?? 0;
      differing[row] = different;
      if (drafts || this.#owners[row]?.isDraft === false)
        histogram[different] = (histogram[different] ?? 0) + 1;
    }
    let limit = 0;
    for (let kept = 0; limit <= this.dimensions; limit++) {
      kept += histogram[limit] ?? 0;
      if (kept >= wanted) break;
    }
    const rows: number[] = [];
    for (let row = 0; row < this.#count; row++) if ((differing[row] ?? 0) <= limit) rows.push(row);
    return rows;
  }

  #add(owner: DocumentRows, place: number, vector: CompactVector): void {
    const row = this.#count++;
    this.#reserve();
    this.#vectors.set(vector, row * this.dimensions);
    this.#signs.set(signsOf(vector, this.#words), row * this.#words);
    this.#lengths[row] = lengthOf(vector);
    this.#places[row] = place;
    this.#owners[row] = owner;
    owner.rows.push(row);
  }

  /** The last row takes the place of one that goes. */
  #removeRow(row: number): void {
    const last = --this.#count;
    const moved = this.#owners[last];
    this.#owners.length = last;
    if (!moved || row === last) return;
    this.#vectors.copyWithin(row * this.dimensions, last * this.dimensions, (last + 1) * this.dimensions);
    this.#signs.copyWithin(row * this.#words, last * this.#words, (last + 1) * this.#words);
    this.#lengths[row] = this.#lengths[last] ?? 1;
    this.#places[row] = this.#places[last] ?? 0;
    this.#owners[row] = moved;
    moved.rows[moved.rows.indexOf(last)] = row;
  }

  #reserve(): void {
    const room = this.#lengths.length;
    if (this.#count <= room) return;
    const more = Math.max(1_024, room * 2);
    this.#vectors = grown(new Int8Array(more * this.dimensions), this.#vectors);
    this.#signs = grown(new Uint16Array(more * this.#words), this.#signs);
    this.#lengths = grown(new Float32Array(more), this.#lengths);
    this.#places = grown(new Uint16Array(more), this.#places);
  }
}

interface RankedSection extends NearSection {
  readonly near: number;
}

function byNearness(one: RankedSection, other: RankedSection): number {
  if (one.near !== other.near) return other.near - one.near;
  if (one.slug !== other.slug) return one.slug < other.slug ? -1 : 1;
  return one.place - other.place;
}

function grown<Numbers extends Int8Array | Uint16Array | Float32Array>(
  larger: Numbers,
  old: Numbers,
): Numbers {
  larger.set(old);
  return larger;
}

function signsOf(vector: CompactVector, words: number): Uint16Array {
  const signs = new Uint16Array(words);
  for (const [at, step] of vector.entries()) {
    const word = Math.floor(at / wordBits);
    if (step > 0) signs[word] = (signs[word] ?? 0) | (1 << (at % wordBits));
  }
  return signs;
}

/** How many bits of each number of 16 bits are set. */
const bitCounts = Uint8Array.from({ length: 1 << wordBits }, (_, word) => {
  let count = 0;
  for (let rest = word; rest > 0; rest &= rest - 1) count += 1;
  return count;
});

/** The length of a vector in steps. */
function lengthOf(vector: CompactVector): number {
  let sum = 0;
  for (const step of vector) sum += step * step;
  return Math.sqrt(sum);
}
