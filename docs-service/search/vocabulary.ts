import { editDistance } from '../../protocol/base/editDistance.ts';
import { maxTokenLength } from './analyser.ts';
import type { Clause, Correction } from './documentIndex.ts';
import { languageMark } from './documentWords.ts';
import type { Query } from './query.ts';
import { type Stem, tryStem } from './stems.ts';

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
  readonly maxLength: number;
  readonly limit: number;
}

/** Finds words of the library. Those that no visible document has are left out. */
export interface WordStore {
  words(names: readonly string[]): Promise<readonly WordRow[]> | readonly WordRow[];
  wordsFrom(ranges: readonly WordRange[]): Promise<readonly WordRow[]> | readonly WordRow[];
}

/** A clause with the words that stand for it. */
export interface KnownClause {
  readonly clause: Clause;
  /** How much a word counts, by its number. */
  readonly words: ReadonlyMap<number, number>;
  /** The words that may stand at each place of the phrase; undefined if it is none, or no document can have it. */
  readonly phrase: readonly (readonly number[])[] | undefined;
  /** At most so many documents have it. */
  readonly documents: number;
}

export interface KnownQuery {
  readonly some: readonly KnownClause[];
  readonly none: readonly KnownClause[];
  readonly corrected: readonly Correction[];
}

/** How much other forms of a word count, and a word that was probably meant. */
const formWeight = 0.9;
const meantWeight = 0.7;
const maxLanguages = 4;
const maxForms = 1_000;
/** So many words with a beginning stand for it. One letter begins too many of them. */
const maxBeginnings = { letter: 32, more: 64 };
/** So many words are held against an unknown one. */
const maxNear = 20_000;

/** Finds the words of the library that stand for those of a query. */
export async function findWords({ some, none }: Query, store: WordStore): Promise<KnownQuery> {
  const clauses = [...some, ...none];
  const names = clauses.flatMap(({ tokens, joined }) => [
    ...tokens,
    ...(joined === undefined ? [] : [joined]),
  ]);
  const exact = await store.words([...new Set(names)]);
  const flexible = some.flatMap((clause) => (isFlexible(clause) ? wholeWord(clause) : []));
  const stems = flexible.some(hasForms) ? await findStems(store) : [];
  const near = await store.wordsFrom([
    ...flexible.filter(hasForms).flatMap((word) => stems.map((stem) => formRange(word, stem))),
    ...clauses.filter(({ isBeginning }) => isBeginning).flatMap(beginningRanges),
  ]);
  const all = unique([...exact.toSorted((one, other) => (one.word < other.word ? -1 : 1)), ...near]);
  const library = { words: new Map(all.map((row) => [row.word, row])), near: all, stems };
  const known = clauses.map((clause) => knownClause(clause, library, some.includes(clause)));
  const unknown = known.filter(({ clause, documents }) => documents === 0 && isCorrectable(clause));
  const corrections = await findCorrections(unknown, { store, stems });
  const found = known.map((one) => corrections.get(one)?.known ?? one);
  return {
    some: found.slice(0, some.length),
    none: found.slice(some.length),
    corrected: Array.from(corrections.values(), ({ correction }) => correction),
  };
}

function isFlexible({ isQuoted, isBeginning }: Clause): boolean {
  return !isQuoted && !isBeginning;
}

/** The one word that stands for the whole clause, if there is one. */
function wholeWord({ tokens, joined }: Clause): readonly string[] {
  return joined === undefined ? (tokens.length === 1 ? tokens : []) : [joined];
}

function hasForms(word: string): boolean {
  return /^\p{L}[\p{L}\p{M}]{2,}$/u.test(word);
}

/** For the commonest languages of the library. */
async function findStems(store: WordStore): Promise<readonly Stem[]> {
  const range = { beginning: languageMark, maxLength: maxTokenLength, limit: maxLanguages };
  const rows = await store.wordsFrom([range]);
  const stems = await Promise.all(rows.map(({ word }) => tryStem(word.slice(languageMark.length))));
  return stems.filter((stem) => stem !== undefined);
}

/** Where the forms of a word are. The end of a stem may differ from that of the word, as in `happy` and `happi`. */
function formRange(word: string, stem: Stem): WordRange {
  const common = stem(word);
  const beginning = common.length > 3 ? common.slice(0, -1) : common;
  return { beginning, maxLength: Math.max(word.length, common.length) + 7, limit: maxForms };
}

function beginningRanges({ tokens, joined }: Clause): readonly WordRange[] {
  const beginnings = new Set([tokens.at(-1) ?? '', ...(joined === undefined ? [] : [joined])]);
  return Array.from(beginnings, (beginning) => {
    const limit = [...beginning].length === 1 ? maxBeginnings.letter : maxBeginnings.more;
    return { beginning, maxLength: maxTokenLength, limit };
  });
}

/** What was found of the words of the library. */
interface Library {
  readonly words: ReadonlyMap<string, WordRow>;
  readonly near: readonly WordRow[];
  readonly stems: readonly Stem[];
}

function knownClause(clause: Clause, library: Library, isWanted: boolean): KnownClause {
  const rows = new Map<WordRow, number>();
  for (const word of wholeWord(clause)) {
    const exact = library.words.get(word);
    if (isWanted && isFlexible(clause)) for (const row of formsOf(word, library)) rows.set(row, formWeight);
    if (clause.isBeginning) for (const row of beginningsOf(word, library)) rows.set(row, 1);
    else if (exact) rows.set(exact, 1);
  }
  const phrase = clause.tokens.map((token, at): readonly WordRow[] => {
    const isOpen = clause.isBeginning && at === clause.tokens.length - 1;
    const exact = library.words.get(token);
    return isOpen ? beginningsOf(token, library) : exact ? [exact] : [];
  });
  return toKnown(clause, rows, clause.tokens.length > 1 ? phrase : []);
}

function toKnown(
  clause: Clause,
  rows: ReadonlyMap<WordRow, number>,
  phrase: readonly (readonly WordRow[])[],
): KnownClause {
  const sum = (some: Iterable<WordRow>) => [...some].reduce((all, { documents }) => all + documents, 0);
  const isPhrase = phrase.length > 0 && phrase.every((some) => some.length > 0);
  return {
    clause: { ...clause, forms: Array.from(rows.keys(), ({ word }) => word) },
    words: new Map(Array.from(rows, ([{ id }, weight]) => [id, weight])),
    phrase: isPhrase ? phrase.map((some) => some.map(({ id }) => id)) : undefined,
    documents: sum(rows.keys()) + (isPhrase ? Math.min(...phrase.map(sum)) : 0),
  };
}

function formsOf(word: string, { near, stems }: Pick<Library, 'near' | 'stems'>): readonly WordRow[] {
  if (!hasForms(word)) return [];
  const known = stems.map((stem) => ({ stem, common: stem(word), ...formRange(word, stem) }));
  return near.filter((row) =>
    known.some(
      ({ stem, common, beginning }) =>
        row.word.startsWith(beginning) && hasForms(row.word) && stem(row.word) === common,
    ),
  );
}

function beginningsOf(beginning: string, { near }: Library): readonly WordRow[] {
  return near.filter(({ word }) => word.startsWith(beginning));
}

function unique(rows: readonly WordRow[]): readonly WordRow[] {
  return [...new Map(rows.map((row) => [row.id, row])).values()];
}

/** Short words and numbers resemble too many others. */
function isCorrectable(clause: Clause): boolean {
  const [word = ''] = wholeWord(clause);
  return isFlexible(clause) && /^\p{L}{4,}$/u.test(word);
}

/** The nearest words of the library in place of those that it does not have. */
async function findCorrections(
  unknown: readonly KnownClause[],
  { store, stems }: { readonly store: WordStore; readonly stems: readonly Stem[] },
) {
  const found = new Map<KnownClause, { readonly known: KnownClause; readonly correction: Correction }>();
  for (const one of unknown) {
    const [word = ''] = wholeWord(one.clause);
    // Few people mistype the first letter.
    const [beginning = ''] = word;
    const near = await store.wordsFrom([{ beginning, maxLength: word.length + 4, limit: maxNear }]);
    const meant = nearest(word, near);
    if (!meant) continue;
    const rows = new Map(formsOf(meant.word, { near, stems }).map((row) => [row, meantWeight * formWeight]));
    rows.set(meant, meantWeight);
    const correction = { written: one.clause.written, meant: meant.word };
    found.set(one, { known: toKnown(one.clause, rows, []), correction });
  }
  return found;
}

/** The nearest word, and the commonest of several: one change away or, from eight letters on, two. */
function nearest(word: string, rows: readonly WordRow[]): WordRow | undefined {
  const letters = lettersOf(word);
  let best: WordRow | undefined;
  let least = word.length < 8 ? 1 : 2;
  for (const row of rows) {
    if (Math.abs(row.word.length - word.length) > least) continue;
    // Each change adds or removes at most two different letters.
    if (bitsOf(letters ^ lettersOf(row.word)) > 2 * least) continue;
    const distance = editDistance(word, row.word);
    if (distance < least || (distance === least && best === undefined)) [best, least] = [row, distance];
  }
  return best;
}

/** Which letters a word has, in 32 bits. */
function lettersOf(word: string): number {
  let letters = 0;
  for (let at = 0; at < word.length; at++) letters |= 1 << (word.charCodeAt(at) & 31);
  return letters;
}

function bitsOf(number: number): number {
  let bits = 0;
  for (let left = number; left !== 0; left &= left - 1) bits += 1;
  return bits;
}
