import { markToLength } from './documentWords.ts';
import { anyNumber, blockSize, countOf, draftNumber, offsetOf, type Postings } from './postings.ts';

/** What every search needs of the documents that its reader may see, by their numbers. */
export interface TextStatistics {
  /** 1 for each of them. */
  readonly visible: Uint8Array;
  /** How much the words of a text count: less in a long one. */
  readonly shares: Float64Array;
  readonly documents: number;
  /** The commonest languages. */
  readonly languages: readonly string[];
}

/** How much the length of a text matters: a constant of BM25F. */
const lengthShare = 0.65;
/** In a small library, the usual length of a text is also that of these documents, in words. */
const [assumedDocuments, assumedLength] = [12, 300];

/** @param drafts whether the reader sees them */
export function statisticsOf(blocks: ReadonlyMap<number, Postings>, size: number, drafts: boolean) {
  const marks = new Uint8Array(size);
  eachEntry(blocks, anyNumber, (key, entry) => (marks[key] = countOf(entry)));
  // The mark of a document without words is 1.
  const visible = marks.map((mark) => Math.min(mark, 1));
  if (!drafts) eachEntry(blocks, draftNumber, (key) => (visible[key] = 0));
  const counts = new Float64Array(256);
  for (let key = 0; key < size; key++)
    counts[marks[key] ?? 0] = (counts[marks[key] ?? 0] ?? 0) + (visible[key] ?? 0);
  let [documents, length] = [0, assumedDocuments * assumedLength];
  for (const [mark, count] of counts.entries()) {
    documents += count;
    length += count * markToLength(mark);
  }
  const usualLength = length / (documents + assumedDocuments);
  const ofMark = counts.map(
    (_, mark) => 1 / (1 - lengthShare + (lengthShare * markToLength(mark)) / usualLength),
  );
  return { visible, documents, shares: Float64Array.from(marks, (mark) => ofMark[mark] ?? 1) };
}

/** Visits the entries of a word, by the numbers of the documents. */
export function eachEntry(
  blocks: ReadonlyMap<number, Postings>,
  word: number,
  visit: (key: number, entry: number) => void,
): void {
  for (const [number, block] of blocks)
    for (const entry of block.get(word)?.entries ?? []) visit(number * blockSize + offsetOf(entry), entry);
}

/** Kept for one state of the library: those of readers who see drafts, and of others. */
export type KeptStatistics = Map<boolean, TextStatistics>;
