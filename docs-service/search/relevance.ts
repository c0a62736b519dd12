import type { DocumentTokens } from './documentTokens.ts';
import type { Query } from './query.ts';

/**
 * How well documents answer a query, by BM25, from a few statistics beside the index: the length of a document, and the
 * counts of words that occur more than once. Both engines give the same scores. They need not read the texts of all
 * candidates, nor count the documents of a common word, before they rank some.
 */

/** The term statistics from which a document is scored. */
export function documentTermStats({ title, text }: CountedTokens): string {
  const counts = new Map<string, number>();
  for (const tokens of [title, text])
    for (const token of tokens) counts.set(token, (counts.get(token) ?? 0) + 1);
  const repeated: (readonly [token: string, count: number])[] = [];
  for (const entry of counts) if (entry[1] > 1) repeated.push(entry);
  if (repeated.length > maxRepeated) repeated.sort(([, one], [, other]) => other - one);
  let written = `${(title.length + text.length).toString(36)} `;
  for (const [token, count] of repeated.slice(0, maxRepeated)) written += wordKey(token) + countMark(count);
  return written;
}

/** The words of a document that are counted. */
type CountedTokens = Pick<DocumentTokens, 'title' | 'text'>;

/** One document in this many is in the sample that shows how common words are. */
const sampledOf = 16;

/** Whether this document is in the sample. Few are, so that a change of one costs little. */
export function isSampled(slug: string): boolean {
  return wordHash(slug) % sampledOf === 0;
}

/** What the sample says about how common words are. */
export interface Sample {
  readonly documents: number;
  /** Of all of them, in tokens. */
  readonly length: number;
  /** By `wordHash`: how many of them have the word. */
  readonly having: ReadonlyMap<number, number>;
}

/** A function of a document's term statistics: the higher, the better. */
export function createScore({ all }: Query, sample: Sample): (termStats: string) => number {
  const usualLength = sample.documents === 0 ? lengthWithoutSample : sample.length / sample.documents;
  const clauses = all.map(({ tokens, prefix }) => {
    const whole = prefix ? tokens.slice(0, -1) : tokens;
    return { keys: whole.map(wordKey), weight: weightOf(tokens, sample), isBeginning: prefix };
  });
  return (termStats) => {
    const space = termStats.indexOf(' ');
    const length = Number.parseInt(termStats.slice(0, space), 36);
    const room = saturation * (1 - lengthShare + (lengthShare * length) / Math.max(1, usualLength));
    let score = 0;
    for (const { keys, weight, isBeginning } of clauses) {
      // A phrase occurs at most as often as the rarest of its words; the count of beginnings is not known.
      let count = isBeginning ? 1 : maxCounted;
      for (const key of keys) count = Math.min(count, countOf(key, termStats, space));
      score += (weight * count) / (count + room);
    }
    return score;
  };
}

/** The usual constants of BM25: how soon more of a word stops mattering, and how much a document's length matters. */
const saturation = 1.2;
const lengthShare = 0.75;
/** In tokens. */
const lengthWithoutSample = 300;

function weightOf(tokens: readonly string[], { documents, having }: Sample): number {
  const weight = (token: string) => {
    const some = Math.min(having.get(wordHash(token)) ?? 0, documents);
    return Math.log(1 + (documents - some + 0.5) / (some + 0.5));
  };
  return tokens.reduce((sum, token) => sum + weight(token), 0);
}

/** In a longer text, only the most frequent words are counted. */
const maxRepeated = 500;
const keyDigits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
/** They stand for 2, 3, and so on. No key contains one of them, so a search for a key finds only its beginning. */
const countMarks = '!#$%&()*+,./:;<=>?@[]^{|}~';
const maxCounted = countMarks.length + 1;

function countMark(count: number): string {
  return countMarks[Math.min(count, maxCounted) - 2] ?? '';
}

function countOf(key: string, termStats: string, from: number): number {
  const at = termStats.indexOf(key, from);
  return at < 0 ? 1 : countMarks.indexOf(termStats[at + key.length] ?? '') + 2;
}

function wordKey(token: string): string {
  const hash = wordHash(token);
  const digit = (shift: number) => keyDigits[(hash >>> shift) & 63] ?? '';
  return digit(18) + digit(12) + digit(6) + digit(0);
}

/** A number of 24 bits (FNV-1a). Two words with the same number are confused in scores, but nowhere else. */
export function wordHash(token: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < token.length; index++)
    hash = Math.imul(hash ^ token.charCodeAt(index), 0x01000193);
  return (hash ^ (hash >>> 24)) & 0xffffff;
}

/** How often words, by `wordHash`, occur in the sampled documents, as rows that both engines store. */
export interface SampleRow {
  readonly word: number;
  readonly count: number;
}

export type SampleChanges = ReturnType<typeof createSampleChanges>;

/** The changes of the rows in one transaction. */
export function createSampleChanges() {
  const changes = new Map<number, number>();
  const change = (word: number, by: number) => changes.set(word, (changes.get(word) ?? 0) + by);
  return {
    /** Adds or removes one document. */
    count: ({ title, text }: CountedTokens, by: 1 | -1) => {
      change(documentsRow, by);
      change(lengthRow, by * (title.length + text.length));
      for (const word of new Set([...title, ...text].map(wordHash))) change(word, by);
    },
    /** The difference for each row, in the order of the rows. */
    rows: (): readonly SampleRow[] =>
      Array.from(changes, ([word, count]) => ({ word, count }))
        .filter(({ count }) => count !== 0)
        .sort((one, other) => one.word - other.word),
    clear: () => changes.clear(),
  };
}

/** The rows that the score of a query needs. */
export function sampleRowsOf({ all }: Query): readonly number[] {
  return [documentsRow, lengthRow, ...new Set(all.flatMap(({ tokens }) => tokens.map(wordHash)))];
}

export function rowsToSample(rows: readonly SampleRow[]): Sample {
  const having = new Map(rows.map(({ word, count }) => [word, count]));
  return { documents: having.get(documentsRow) ?? 0, length: having.get(lengthRow) ?? 0, having };
}

/** Rows that count no word. */
const documentsRow = -1;
const lengthRow = -2;
