import { markToLength } from './documentWords.ts';
import { blockSize, countOf, offsetOf, PlaceReader, type PostingRow, weightOf } from './postings.ts';
import type { CountedWord, KnownClause } from './vocabulary.ts';

/** The postings of the words of a query in one block, by the numbers of the words. */
export type Block = ReadonlyMap<number, PostingRow>;

/** What a search asks of the postings. Words are named by their numbers. */
export interface RankRequest {
  readonly some: readonly KnownClause[];
  readonly none: readonly KnownClause[];
  /** The word that all documents have. */
  readonly any: number;
  /** Words that no document of the result may have. */
  readonly hidden: readonly number[];
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

export interface Ranked {
  readonly key: number;
  readonly score: number;
}

export interface Ranking {
  /** The best first, equal ones by their numbers: as many as are needed, with all that equal the last of them. */
  readonly best: readonly Ranked[];
  readonly total: number;
  /** How many of them have all clauses. */
  readonly allWords: number;
  /** Those of the watched documents that pass all filters and phrases, and whether a clause was found in them. */
  readonly passing: ReadonlyMap<number, boolean>;
  /** How much each clause says. */
  readonly weights: readonly number[];
}

/** BM25F's constants: how soon more of a word stops mattering, and how much the length of a text matters. */
const saturation = 3;
const lengthShare = 0.65;
/** In a small library, the usual length of a text is also that of these documents, in words. */
const [assumedDocuments, assumedLength] = [12, 300];
/** More than any score, so that a document with all clauses is before one without. */
const wholeBonus = 1e6;
/** Blocks that are scored at a time. */
const turn = 64;

/** Scores every document that has a clause, by BM25F. */
export async function rank(blocks: ReadonlyMap<number, Block>, request: RankRequest): Promise<Ranking> {
  const { some, among, watched, areWholeFirst } = request;
  const { weights, usualLength } = statisticsOf(blocks, request);
  const best = new BestKeys(request.most);
  const passing = new Map<number, boolean>();
  let [total, allWords, seen] = [0, 0, 0];
  for (const [number, block] of blocks) {
    // Other requests have their turn.
    if (++seen % turn === 0) await new Promise(setImmediate);
    if (watched.size === 0 && some.length > 0 && !mayHaveOne(block, some)) continue;
    const { passes, found, scores } = scoreBlock(block, request, { weights, usualLength });
    for (let offset = 0; offset < blockSize; offset++) {
      if (passes[offset] === 0) continue;
      const key = number * blockSize + offset;
      const clauses = found[offset] ?? 0;
      if (among && !among.has(key)) continue;
      if (watched.has(key)) passing.set(key, clauses > 0);
      if (clauses === 0 && some.length > 0) continue;
      const isWhole = clauses === some.length;
      total += 1;
      if (isWhole) allWords += 1;
      best.add(key, (scores[offset] ?? 0) + (isWhole && areWholeFirst ? wholeBonus : 0));
    }
  }
  return { best: best.take(), total, allWords, passing, weights };
}

function mayHaveOne(block: Block, some: readonly KnownClause[]): boolean {
  return some.some(({ words, phrase }) => phrase !== undefined || words.some(({ id }) => block.has(id)));
}

/** What the reader's part of the library says about the clauses and about the lengths of texts. */
interface Statistics {
  /** How much each clause says: the fewer documents have it, the more. */
  readonly weights: readonly number[];
  readonly usualLength: number;
}

function statisticsOf(blocks: ReadonlyMap<number, Block>, request: RankRequest): Statistics {
  let [documents, length] = [0, 0];
  // Several words of a clause are often in the same documents.
  const having = request.some.map((one) => (one.words.length > 1 || one.phrase ? 0 : one.documents));
  for (const block of blocks.values()) {
    const visible = visibleDocuments(block, request);
    const all = block.get(request.any)?.entries ?? noEntries;
    for (let at = 0; at < all.length; at++) {
      const entry = all[at] ?? 0;
      if (visible[offsetOf(entry)] === 0) continue;
      documents += 1;
      length += markToLength(countOf(entry));
    }
    for (const [at, { words, phrase }] of request.some.entries())
      if (words.length > 1 || phrase) having[at] = (having[at] ?? 0) + countVisible(block, words, visible);
  }
  const weights = request.some.map(({ clause, documents: most }, at) => {
    const count = Math.min(Math.max(having[at] ?? 0, Math.min(most, 1)), documents);
    return clause.count * Math.log(1 + (documents - count + 0.5) / (count + 0.5));
  });
  const usualLength = (length + assumedLength * assumedDocuments) / (documents + assumedDocuments);
  return { weights, usualLength };
}

/** How many visible documents have one of the words. */
function countVisible(block: Block, words: readonly CountedWord[], visible: Uint8Array): number {
  const left = visible.slice();
  let count = 0;
  for (const { id } of words) {
    const entries = block.get(id)?.entries ?? noEntries;
    for (let at = 0; at < entries.length; at++) {
      const offset = offsetOf(entries[at] ?? 0);
      count += left[offset] ?? 0;
      left[offset] = 0;
    }
  }
  return count;
}

const noEntries = new Uint32Array();

/** 1 for each document that the reader may see. */
function visibleDocuments(block: Block, { any, hidden }: RankRequest): Uint8Array {
  const visible = documentsWith(block, [any]);
  for (const word of hidden) for (const entry of block.get(word)?.entries ?? []) visible[offsetOf(entry)] = 0;
  return visible;
}

/** 1 for each document that has one of the words. */
function documentsWith(block: Block, some: Iterable<number>): Uint8Array {
  const having = new Uint8Array(blockSize);
  for (const word of some) {
    const entries = block.get(word)?.entries ?? noEntries;
    for (let at = 0; at < entries.length; at++) having[offsetOf(entries[at] ?? 0)] = 1;
  }
  return having;
}

interface ScoredBlock extends Readonly<Record<'passes' | 'found', Uint8Array>> {
  /** For each document: 1 if it may be found, how many clauses it has, and its score. */
  readonly scores: Float64Array;
}

function scoreBlock(block: Block, request: RankRequest, { weights, usualLength }: Statistics): ScoredBlock {
  const passes = visibleDocuments(block, request);
  for (const word of request.filters) {
    const having = documentsWith(block, word === undefined ? [] : [word]);
    for (let offset = 0; offset < blockSize; offset++)
      passes[offset] = (passes[offset] ?? 0) & (having[offset] ?? 0);
  }
  const scored = { passes, found: new Uint8Array(blockSize), scores: new Float64Array(blockSize) };
  const lengths = lengthFactors(block.get(request.any), usualLength);
  const counts = new Float64Array(blockSize);
  for (const clause of request.none) {
    countClause(block, clause, { counts, lengths });
    for (let offset = 0; offset < blockSize; offset++) if (counts[offset] !== 0) passes[offset] = 0;
    counts.fill(0);
  }
  for (const [at, clause] of request.some.entries()) {
    if (clause.documents === 0 && !clause.clause.isQuoted) continue;
    countClause(block, clause, { counts, lengths });
    addScores({ ...scored, counts }, weights[at] ?? 0, clause.clause.isQuoted);
    counts.fill(0);
  }
  return scored;
}

function addScores(
  { passes, found, scores, counts }: ScoredBlock & { readonly counts: Float64Array },
  weight: number,
  isRequired: boolean,
): void {
  for (let offset = 0; offset < blockSize; offset++) {
    const count = counts[offset] ?? 0;
    if (count > 0) {
      found[offset] = (found[offset] ?? 0) + 1;
      scores[offset] = (scores[offset] ?? 0) + (weight * count) / (saturation + count);
    } else if (isRequired) passes[offset] = 0;
  }
}

/** By what the count of a word in a text is divided: more in a long text. */
function lengthFactors(row: PostingRow | undefined, usualLength: number): Float64Array {
  const factors = new Float64Array(blockSize);
  const entries = row?.entries ?? noEntries;
  for (let at = 0; at < entries.length; at++) {
    const entry = entries[at] ?? 0;
    const length = markToLength(countOf(entry));
    factors[offsetOf(entry)] = 1 - lengthShare + (lengthShare * length) / usualLength;
  }
  return factors;
}

/** How much each document has of a clause, and by what counts in its text are divided. */
type Counts = Readonly<Record<'counts' | 'lengths', Float64Array>>;

/** Adds what the documents of a block have of a clause. */
function countClause(block: Block, { words, phrase }: KnownClause, { counts, lengths }: Counts): void {
  for (const word of words) {
    const row = block.get(word.id);
    if (row) countWord(row.entries, word, { counts, lengths });
  }
  for (const [offset, places] of phrase ? phrasePlaces(block, phrase) : [])
    counts[offset] = (counts[offset] ?? 0) + places.length / (lengths[offset] ?? 1);
}

function countWord(
  entries: Uint32Array,
  { weight, more = weight }: CountedWord,
  { counts, lengths }: Counts,
): void {
  for (let at = 0; at < entries.length; at++) {
    const entry = entries[at] ?? 0;
    const offset = offsetOf(entry);
    const before = counts[offset] ?? 0;
    const own = weightOf(entry) + countOf(entry) / (lengths[offset] ?? 1);
    counts[offset] = before + (before > 0 ? more : weight) * own;
  }
}

/** Where a phrase ends, by the numbers of the documents that have it; of all, or of only one. */
function phrasePlaces(
  block: Block,
  phrase: readonly (readonly number[])[],
  only?: number,
): ReadonlyMap<number, readonly number[]> {
  const having = phrase.map((some) => documentsWith(block, some));
  let ends: Map<number, readonly number[]> | undefined;
  for (const some of phrase) {
    const before = ends;
    const mayPass = (offset: number) =>
      (only ?? offset) === offset && (before ? before.has(offset) : having.every((one) => one[offset] === 1));
    const next = new Map<number, readonly number[]>();
    for (const word of some) {
      const { entries, places } = block.get(word) ?? { entries: noEntries, places: new Uint8Array() };
      const reader = new PlaceReader(places);
      for (let at = 0; at < entries.length; at++) {
        const offset = offsetOf(entries[at] ?? 0);
        if (!mayPass(offset)) reader.skipTo();
        else addPlaces(next, offset, following(before?.get(offset), reader.read()));
      }
    }
    ends = next;
  }
  return ends ?? new Map();
}

function addPlaces(places: Map<number, readonly number[]>, offset: number, more: readonly number[]): void {
  const known = places.get(offset);
  if (more.length > 0)
    places.set(offset, known ? [...known, ...more].sort((one, other) => one - other) : more);
}

/** The places behind one of the earlier ones. Both ascend. */
function following(earlier: readonly number[] | undefined, places: readonly number[]): readonly number[] {
  let at = 0;
  return places.filter((place) => {
    while (earlier && (earlier[at] ?? place) < place - 1) at++;
    return earlier === undefined || earlier[at] === place - 1;
  });
}

/** The clauses that a document does not have, as the reader wrote them. */
export function missingClauses(
  blocks: ReadonlyMap<number, Block>,
  some: readonly KnownClause[],
  key: number,
): readonly string[] {
  const [block, offset] = [blocks.get(Math.floor(key / blockSize)) ?? new Map(), key % blockSize];
  const isIn = (word: number) => hasEntry(block.get(word)?.entries ?? noEntries, offset);
  const missing = some.filter(({ clause, words, phrase }) => {
    if (clause.isQuoted || words.some(({ id }) => isIn(id))) return false;
    const mayBePhrase = phrase?.every((some) => some.some(isIn)) === true;
    return !mayBePhrase || !phrasePlaces(block, phrase, offset).has(offset);
  });
  return missing.map(({ clause }) => clause.written);
}

function hasEntry(entries: Uint32Array, offset: number): boolean {
  let [from, to] = [0, entries.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (offsetOf(entries[middle] ?? 0) < offset) from = middle + 1;
    else to = middle;
  }
  return from < entries.length && offsetOf(entries[from] ?? 0) === offset;
}

/** Keeps the documents with the highest scores. */
class BestKeys {
  readonly #most: number;
  #kept: Ranked[] = [];
  #least = Number.NEGATIVE_INFINITY;
  /** So many are kept before those are dropped that are not needed. */
  #room: number;

  constructor(most: number) {
    this.#most = most;
    this.#room = 2 * most + 100;
  }

  add(key: number, score: number): void {
    if (score < this.#least) return;
    this.#kept.push({ key, score });
    if (this.#kept.length > this.#room) this.#cut();
  }

  take(): readonly Ranked[] {
    this.#cut();
    return this.#kept;
  }

  #cut(): void {
    this.#kept.sort((one, other) => other.score - one.score || one.key - other.key);
    this.#least = this.#kept[this.#most - 1]?.score ?? this.#least;
    const end = this.#kept.findIndex(({ score }, at) => at >= this.#most + maxEqual || score < this.#least);
    if (end >= 0) this.#kept = this.#kept.slice(0, end);
    this.#room = Math.max(this.#room, 2 * this.#kept.length);
  }
}

/** So many documents that equal the last one are put in order by their slugs. */
const maxEqual = 10_000;
