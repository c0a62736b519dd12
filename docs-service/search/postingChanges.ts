import type { DocumentWords } from './documentWords.ts';
import { draftWord } from './documentWords.ts';
import { blockSize, PlaceReader, type Posting } from './postings.ts';

/** How many more documents have a word, and how many of those are drafts. */
export interface WordChange {
  readonly word: string;
  readonly documents: number;
  readonly drafts: number;
}

/** A row of the index that changes. */
export interface RowChange {
  readonly block: number;
  /** The number of the word. */
  readonly word: number;
  /** As `changedRow` takes them. */
  readonly changes: ReadonlyMap<number, Posting | undefined>;
}

interface ChangedPosting {
  before: Posting | undefined;
  after: Posting | undefined;
}

interface ChangedWord {
  documents: number;
  drafts: number;
  readonly blocks: Map<number, Map<number, ChangedPosting>>;
}

/** The changes of the words in one transaction, the same for both engines. */
export class PostingChanges {
  readonly #words = new Map<string, ChangedWord>();

  /** A document, by its number, has these words no more. */
  remove(key: number, words: DocumentWords): void {
    this.#each(key, words, -1, (change, posting) => {
      change.before = posting;
      change.after = undefined;
    });
  }

  add(key: number, words: DocumentWords): void {
    this.#each(key, words, 1, (change, posting) => {
      change.after = posting;
    });
  }

  clear(): void {
    this.#words.clear();
  }

  words(): readonly WordChange[] {
    return Array.from(this.#words, ([word, { documents, drafts }]) => ({ word, documents, drafts }));
  }

  /**
   * The rows that are other ones, in the order of their blocks and words.
   * @param numbers of the words
   */
  rows(numbers: ReadonlyMap<string, number>): readonly RowChange[] {
    const rows: RowChange[] = [];
    for (const [name, { blocks }] of this.#words)
      for (const [block, postings] of blocks) {
        const changes = new Map<number, Posting | undefined>();
        for (const [offset, { before, after }] of postings)
          if (!before || !isSame(before, after)) changes.set(offset, after);
        const word = numbers.get(name);
        if (changes.size > 0 && word !== undefined) rows.push({ block, word, changes });
      }
    return rows.sort((one, other) => one.block - other.block || one.word - other.word);
  }

  #each(
    key: number,
    { words, entries, places }: DocumentWords,
    by: 1 | -1,
    change: (posting: ChangedPosting, stored: Posting) => void,
  ): void {
    const [block, offset] = [Math.floor(key / blockSize), key % blockSize];
    const reader = new PlaceReader(places);
    const isDraft = words.includes(draftWord);
    for (const [at, name] of words.entries()) {
      const word = this.#word(name);
      word.documents += by;
      if (isDraft) word.drafts += by;
      let postings = word.blocks.get(block);
      if (!postings) word.blocks.set(block, (postings = new Map()));
      let posting = postings.get(offset);
      if (!posting) postings.set(offset, (posting = { before: undefined, after: undefined }));
      change(posting, { entry: entries[at] ?? 0, places: reader.skip() });
    }
  }

  #word(name: string): ChangedWord {
    let word = this.#words.get(name);
    if (!word) this.#words.set(name, (word = { documents: 0, drafts: 0, blocks: new Map() }));
    return word;
  }
}

function isSame(one: Posting | undefined, other: Posting | undefined): boolean {
  if (!one || !other) return one === other;
  return one.entry === other.entry && Buffer.compare(one.places, other.places) === 0;
}
