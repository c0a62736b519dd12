import type { Query } from './query.ts';
import { type Sample, scoredWords, wordHash } from './relevance.ts';

/** The words of a document that are counted. */
interface CountedTokens {
  readonly title: readonly string[];
  readonly text: readonly string[];
}

/** How often words, by `wordHash`, occur in the sampled documents, as rows that both engines store. */
export interface SampleRow {
  readonly word: number;
  readonly count: number;
}

/** The changes of the rows in one transaction. */
export interface SampleChanges {
  /** Adds or removes one document. */
  count(tokens: CountedTokens, by: 1 | -1): void;
  /** The difference for each row, in the order of the rows. */
  rows(): readonly SampleRow[];
  clear(): void;
}

export function createSampleChanges(): SampleChanges {
  const changes = new Map<number, number>();
  const change = (word: number, by: number) => changes.set(word, (changes.get(word) ?? 0) + by);
  return {
    count: ({ title, text }, by) => {
      change(documentsRow, by);
      change(lengthRow, by * (title.length + text.length));
      for (const word of new Set([...title, ...text].map(wordHash))) change(word, by);
    },
    rows: () =>
      Array.from(changes, ([word, count]) => ({ word, count }))
        .filter(({ count }) => count !== 0)
        .sort((one, other) => one.word - other.word),
    clear: () => changes.clear(),
  };
}

/** The rows that the score of a query needs. */
export function sampleRowsOf(query: Query): readonly number[] {
  return [documentsRow, lengthRow, ...scoredWords(query)];
}

export function rowsToSample(rows: readonly SampleRow[]): Sample {
  const having = new Map(rows.map(({ word, count }) => [word, count]));
  return { documents: having.get(documentsRow) ?? 0, length: having.get(lengthRow) ?? 0, having };
}

/** Rows that count no word. */
const documentsRow = -1;
const lengthRow = -2;
