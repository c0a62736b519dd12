import { maxTokenLength } from './analyser.ts';
import { storable } from './documentRecord.ts';
import { languageMark, markToLength, type StoredText, textShare } from './documentWords.ts';
import type { IndexDatabase, SqlValue } from './indexDatabase.ts';
import {
  anyNumber,
  blockSize,
  countOf,
  draftNumber,
  offsetOf,
  type PostingRow,
  type Postings,
  rowId,
  type StoredPostings,
  toPostings,
  wordsInBlock,
} from './postings.ts';

/** A word of the library, with the number of the documents that have it and that the reader may see. */
export interface WordRow {
  readonly id: number;
  readonly word: string;
  readonly documents: number;
}

/** Words with a beginning: the commonest ones, equal ones in their order. */
export interface WordRange {
  readonly beginning: string;
  /** In UTF-16 units. */
  readonly minLength: number;
  readonly maxLength: number;
  readonly limit: number;
}

const maxLanguages = 4;

/** What a search reads, in one state of the library. Documents and words are named by their numbers. */
export class SearchStore {
  readonly #database: IndexDatabase;
  readonly #kept: KeptStatistics;
  readonly #drafts: boolean;
  /** How many documents with a word the reader may see, in SQL. */
  readonly #visible: string;

  /** @param drafts whether the reader sees them */
  constructor(database: IndexDatabase, kept: KeptStatistics, drafts: boolean) {
    [this.#database, this.#kept, this.#drafts] = [database, kept, drafts];
    this.#visible = drafts ? 'documents' : '(documents - drafts)';
  }

  async statistics(): Promise<TextStatistics> {
    const known = this.#kept.get(this.#drafts);
    if (known) return known;
    const statement = 'SELECT max(key) AS last FROM docs_documents';
    const [{ last } = { last: null }] = await this.#database.rows<{ last: number | null }>(statement);
    const size = (Math.floor((last ?? 0) / blockSize) + 1) * blockSize;
    const blocks = await this.postings([anyNumber, draftNumber], size, false);
    const range = { minLength: 1, maxLength: maxTokenLength, beginning: languageMark, limit: maxLanguages };
    const languages = (await this.wordsFrom([range])).map(({ word }) => word.slice(languageMark.length));
    const statistics = { ...statisticsOf(blocks, size, this.#drafts), languages };
    this.#kept.set(this.#drafts, statistics);
    return statistics;
  }

  /** Words that no visible document has are left out. */
  async words(names: readonly string[]): Promise<readonly WordRow[]> {
    if (names.length === 0) return [];
    return this.#words(this.#database.dialect.any('word'), names.map(storable));
  }

  async wordsFrom(ranges: readonly WordRange[]): Promise<readonly WordRow[]> {
    const found: WordRow[] = [];
    const condition = 'word >= ? AND word < ? AND length(word) BETWEEN ? AND ? ORDER BY 2 DESC, word LIMIT ?';
    for (const { beginning, minLength, maxLength, limit } of ranges) {
      const lengths = [minLength, maxLength];
      found.push(...(await this.#words(condition, beginning, `${beginning}\u{10ffff}`, ...lengths, limit)));
    }
    return found;
  }

  #words(condition: string, ...values: readonly SqlValue[]): Promise<readonly WordRow[]> {
    const isVisible = `${this.#visible} > 0 AND ${condition}`;
    return readWords(this.#database, this.#visible, isVisible, ...values);
  }

  /**
   * The rows of these words. Only a phrase needs their places.
   * @param size above the number of every document
   */
  async postings(words: readonly number[], size: number, hasPlaces: boolean): Promise<Map<number, Postings>> {
    const found = new Map<number, Map<number, PostingRow>>();
    const ids = Array.from({ length: size / blockSize }, (_, block) =>
      words.map((word) => rowId(block, word)),
    ).flat();
    if (ids.length === 0) return found;
    const rows = await this.#database.rows<StoredPostings>(
      `SELECT id, entries${hasPlaces ? ', places' : ''} FROM docs_postings
       WHERE ${this.#database.dialect.any('id')} ORDER BY id`,
      ids,
    );
    for (const row of rows) {
      const number = Math.floor(row.id / wordsInBlock);
      const block = found.get(number) ?? new Map<number, PostingRow>();
      found.set(number, block.set(row.id % wordsInBlock, toPostings(row)));
    }
    return found;
  }

  /** The documents that have changed since, in milliseconds since 1970. */
  async changedSince(time: number): Promise<readonly number[]> {
    const changed = 'SELECT key FROM docs_documents WHERE changed >= ?';
    return (await this.#database.rows<{ key: number }>(changed, time)).map(({ key }) => key);
  }

  async keysOf(slugs: readonly string[]): Promise<ReadonlyMap<string, number>> {
    if (slugs.length === 0) return new Map();
    const rows = await this.#database.rows<{ key: number; slug: string }>(
      `SELECT key, slug FROM docs_documents WHERE ${this.#database.dialect.any('slug')}`,
      slugs.map(storable),
    );
    return new Map(rows.map(({ key, slug }) => [slug, key]));
  }

  async bySlug(keys: readonly number[]): Promise<readonly number[]> {
    if (keys.length === 0) return [];
    const sorted = `SELECT key FROM docs_documents WHERE ${this.#database.dialect.any('key')} ORDER BY slug`;
    return (await this.#database.rows<{ key: number }>(sorted, keys)).map(({ key }) => key);
  }

  async read(keys: readonly number[]): Promise<ReadonlyMap<number, StoredText>> {
    const rows = await this.#database.rows<StoredText & { readonly key: number }>(
      `SELECT key, path, metadata, body FROM docs_documents JOIN docs_bodies USING (key)
       WHERE ${this.#database.dialect.any('key')}`,
      keys,
    );
    return new Map(rows.map((row) => [row.key, row]));
  }
}

/**
 * Words of the index, as lines of one text: separate rows cost more than finding them.
 * @param documents how many documents have a word, in SQL
 */
export async function readWords(
  database: IndexDatabase,
  documents: string,
  condition: string,
  ...values: readonly SqlValue[]
): Promise<readonly WordRow[]> {
  const [found] = await database.rows<{ rows: string | null }>(
    `SELECT ${database.dialect.lines("id || ' ' || documents || ' ' || word")} AS rows
     FROM (SELECT id, ${documents} AS documents, word FROM docs_words WHERE ${condition}) AS found`,
    ...values,
  );
  return (found?.rows?.split('\n') ?? []).map((row) => {
    const [id, documents, word = ''] = row.split(' ');
    return { id: Number(id), documents: Number(documents), word };
  });
}

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

/** In a small library, the usual length of a text is also that of these documents, in words. */
const [assumedDocuments, assumedLength] = [12, 300];

/** @param drafts whether the reader sees them */
function statisticsOf(blocks: ReadonlyMap<number, Postings>, size: number, drafts: boolean) {
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
    (_, mark) => 1 / (1 - textShare + (textShare * markToLength(mark)) / usualLength),
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
