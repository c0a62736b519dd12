import { saturation } from './documentWords.ts';
import { blockSize, countOf, offsetOf, PlaceCursor, type Postings, weightOf } from './postings.ts';
import { eachEntry, type TextStatistics } from './searchStore.ts';
import type { CountedWord, KnownClause } from './vocabulary.ts';

/** What a search asks of the postings. Words are named by their numbers. */
export interface RankRequest {
  readonly some: readonly KnownClause[];
  readonly none: readonly KnownClause[];
  /** Words that each of them must have; undefined stands for one that no document has. */
  readonly filters: readonly (number | undefined)[];
  /** Where only these documents may be found. */
  readonly among: ReadonlySet<number> | undefined;
  /** Whether documents that have all clauses come first. */
  readonly areWholeFirst: boolean;
  /** So many documents are needed. */
  readonly most: number;
  /** Documents to look at, whether they are found or not. */
  readonly watched: ReadonlySet<number>;
}

export interface RankedDocument {
  readonly key: number;
  readonly score: number;
}

export interface Ranking {
  /** The best first, equal ones by their numbers: as many as are needed, with all that equal the last of them. */
  readonly best: readonly RankedDocument[];
  readonly total: number;
  /** How many of them have all clauses. */
  readonly allWords: number;
  /** Those of the watched documents that pass all filters and phrases, and whether a clause was found in them. */
  readonly passing: ReadonlyMap<number, boolean>;
  /** How much each clause says. */
  readonly weights: readonly number[];
  /** The places of the clauses that a document does not have. */
  missing(key: number): readonly number[];
}

/** More than any score, so that a document with all clauses is before one without. */
const wholeBonus = 1e6;
/** Rows that are counted at a time. */
const turn = 256;

/** Scores every document that has a clause, by BM25F: clause by clause, in arrays as long as the index. */
export async function rank(
  blocks: ReadonlyMap<number, Postings>,
  { visible, shares, documents }: TextStatistics,
  request: RankRequest,
): Promise<Ranking> {
  const { some, among, watched } = request;
  const size = visible.length;
  const passes = visible.slice();
  for (const word of request.filters) {
    const having = new Uint8Array(size);
    if (word !== undefined) eachEntry(blocks, word, (key) => (having[key] = 1));
    for (let key = 0; key < size; key++) if (having[key] === 0) passes[key] = 0;
  }
  const counter = new ClauseCounter(blocks, shares);
  for (const clause of request.none) for (const key of await counter.count(clause)) passes[key] = 0;
  const found = [new Uint32Array(size), new Uint32Array(some.length > 32 ? size : 0)] as const;
  const scored = { passes, found, scores: new Float64Array(size) };
  const weights: number[] = [];
  for (const [at, clause] of some.entries()) {
    const having = await counter.count(clause);
    const weight = clauseWeight(clause, countVisible(having, visible), documents);
    weights.push(weight);
    addScores(scored, having, counter.counts, at, weight);
    if (clause.clause.isQuoted)
      for (let key = 0; key < size; key++) if (counter.counts[key] === 0) passes[key] = 0;
  }
  const missing = (key: number) =>
    weights.flatMap((_, at) => (((found[at >> 5]?.[key] ?? 0) & (1 << at)) === 0 ? [at] : []));
  const passing = [...watched].filter((key) => passes[key] === 1 && (among?.has(key) ?? true));
  return {
    ...{ ...bestOf(scored, request), weights, missing },
    passing: new Map(passing.map((key) => [key, missing(key).length < some.length])),
  };
}

interface ScoreTable {
  /** 1 for each that may be found. */
  readonly passes: Uint8Array;
  /** Which clauses it has, a bit for each: of the first 32, and of the others. A query has at most 64. */
  readonly found: readonly [Uint32Array, Uint32Array];
  readonly scores: Float64Array;
}

function addScores(
  { found, scores }: ScoreTable,
  having: Uint32Array,
  counts: Float64Array,
  at: number,
  weight: number,
): void {
  const bits = found[at < 32 ? 0 : 1];
  for (let next = 0; next < having.length; next++) {
    const key = having[next] ?? 0;
    const count = counts[key] ?? 0;
    bits[key] = (bits[key] ?? 0) | (1 << at);
    scores[key] = (scores[key] ?? 0) + (weight * count) / (saturation + count);
  }
}

function bestOf({ passes, found, scores }: ScoreTable, { some, among, areWholeFirst, most }: RankRequest) {
  const best = new BestKeys(most);
  const [low, high] = found;
  const [allLow, allHigh] = [2 ** Math.min(32, some.length) - 1, 2 ** Math.max(0, some.length - 32) - 1];
  let [total, allWords] = [0, 0];
  for (let key = 0; key < passes.length; key++) {
    if (passes[key] === 0 || (among && !among.has(key))) continue;
    if (low[key] === 0 && (high[key] ?? 0) === 0 && some.length > 0) continue;
    const isWhole = low[key] === allLow && (high[key] ?? 0) === allHigh;
    total += 1;
    if (isWhole) allWords += 1;
    best.add(key, (scores[key] ?? 0) + (isWhole && areWholeFirst ? wholeBonus : 0));
  }
  return { best: best.take(), total, allWords };
}

/** How much a clause says: the fewer documents have it, the more. */
function clauseWeight({ clause, documents }: KnownClause, having: number, visible: number): number {
  const count = Math.min(Math.max(having, Math.min(documents, 1)), visible);
  return clause.count * Math.log(1 + (visible - count + 0.5) / (count + 0.5));
}

function countVisible(keys: Uint32Array, visible: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < keys.length; at++) count += visible[keys[at] ?? 0] ?? 0;
  return count;
}

const noEntries = new Uint32Array();

class ClauseCounter {
  readonly #blocks: ReadonlyMap<number, Postings>;
  readonly #shares: Float64Array;
  /** How much each document has of the latest clause. */
  readonly counts: Float64Array;
  /** The documents that have it. */
  readonly #having: Uint32Array;
  #length = 0;
  #rows = 0;

  constructor(blocks: ReadonlyMap<number, Postings>, shares: Float64Array) {
    [this.#blocks, this.#shares] = [blocks, shares];
    [this.counts, this.#having] = [new Float64Array(shares.length), new Uint32Array(shares.length)];
  }

  async count({ words, phrases }: KnownClause): Promise<Uint32Array> {
    this.counts.fill(0);
    this.#length = 0;
    for (const [number, block] of this.#blocks) {
      const first = number * blockSize;
      for (const word of words) {
        // Other requests have their turn.
        if (++this.#rows % turn === 0) await new Promise(setImmediate);
        this.#countWord(first, block.get(word.id)?.entries ?? noEntries, word);
      }
      for (const adjacent of phrases)
        for (const [offset, count] of phraseCounts(block, adjacent)) this.#countPhrase(first + offset, count);
    }
    return this.#having.subarray(0, this.#length);
  }

  #countWord(first: number, entries: Uint32Array, { weight, more = weight }: CountedWord): void {
    const [counts, shares, having] = [this.counts, this.#shares, this.#having];
    let length = this.#length;
    for (let at = 0; at < entries.length; at++) {
      const entry = entries[at] ?? 0;
      const key = first + offsetOf(entry);
      const count = weightOf(entry) + countOf(entry) * (shares[key] ?? 1);
      const before = counts[key] ?? 0;
      if (before > 0) counts[key] = before + more * count;
      else if (count > 0) {
        counts[key] = weight * count;
        having[length++] = key;
      }
    }
    this.#length = length;
  }

  #countPhrase(key: number, count: number): void {
    const before = this.counts[key] ?? 0;
    if (before === 0) this.#having[this.#length++] = key;
    this.counts[key] = before + count * (this.#shares[key] ?? 1);
  }
}

/** How often the documents of a block have adjacent words, by their numbers in it. */
function phraseCounts(block: Postings, words: readonly number[]): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  const rows = words.flatMap((word) => block.get(word) ?? []);
  if (rows.length < words.length) return found;
  const cursors = rows.map((row) => new PlaceCursor(row));
  const [rarest] = rows.sort((one, other) => one.entries.length - other.entries.length);
  const [ends, places]: [number[], number[]] = [[], []];
  for (const entry of rarest?.entries ?? noEntries) {
    const offset = offsetOf(entry);
    if (!cursors.every((one) => one.moveTo(offset))) continue;
    let count = cursors[0]?.read(ends) ?? 0;
    for (let at = 1; at < cursors.length && count > 0; at++)
      count = follow(ends, count, cursors[at]?.read(places) ?? 0, places);
    if (count > 0) found.set(offset, count);
  }
  return found;
}

/** Keeps the places behind one of the earlier ones, in their list. All ascend. */
function follow(earlier: number[], length: number, count: number, places: readonly number[]): number {
  let [at, kept] = [0, 0];
  for (let next = 0; next < count; next++) {
    const place = places[next] ?? 0;
    while (at < length && (earlier[at] ?? 0) < place - 1) at++;
    if (at === length) break;
    if (earlier[at] !== place - 1) continue;
    at++;
    earlier[kept++] = place;
  }
  return kept;
}

/** Keeps the documents with the highest scores. */
class BestKeys {
  #kept: RankedDocument[] = [];
  #least = Number.NEGATIVE_INFINITY;
  /** So many are kept before those are dropped that are not needed. */
  #room: number;

  constructor(private readonly most: number) {
    this.#room = 2 * most + 100;
  }

  add(key: number, score: number): void {
    if (score < this.#least) return;
    this.#kept.push({ key, score });
    if (this.#kept.length > this.#room) this.#cut();
  }

  take(): readonly RankedDocument[] {
    this.#cut();
    return this.#kept;
  }

  #cut(): void {
    this.#kept.sort((one, other) => other.score - one.score || one.key - other.key);
    this.#least = this.#kept[this.most - 1]?.score ?? this.#least;
    const end = this.#kept.findIndex(({ score }, at) => at >= this.most + maxEqual || score < this.#least);
    if (end >= 0) this.#kept = this.#kept.slice(0, end);
    this.#room = Math.max(this.#room, 2 * this.#kept.length);
  }
}

/** So many documents that equal the last one are put in order by their slugs. */
const maxEqual = 10_000;
