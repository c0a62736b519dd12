import { editDistance } from '../../protocol/base/editDistance.ts';
import { maxTokenLength } from './analyser.ts';
import type { Clause, Correction } from './documentIndex.ts';
import type { Query } from './query.ts';
import type { SearchStore, WordRange, WordRow } from './searchStore.ts';
import { formWords, stemMark } from './stems.ts';

/** A clause with the words that stand for it. */
export interface KnownClause {
  readonly clause: Clause;
  readonly words: readonly CountedWord[];
  /** The phrases that stand for it: several only where the last word is a beginning. */
  readonly phrases: readonly (readonly number[])[];
  /** At most so many documents have it. */
  readonly documents: number;
}

export interface CountedWord {
  readonly id: number;
  /** How much it counts. */
  readonly weight: number;
  /** How much it counts where its stem was counted before; as much as elsewhere by default. */
  readonly more?: number;
}

/** How much other forms of a word count, and a word that was probably meant. */
const formWeight = 0.9;
const meantWeight = 0.7;
/** So many words with a beginning stand for it. One letter begins too many of them. */
const maxBeginnings = { letter: 32, more: 64 };
/** So many words are held against an unknown one. */
const maxNear = 20_000;

/** Finds the words of the library that stand for those of a query. */
export async function findWords({ some, none }: Query, store: SearchStore, languages: readonly string[]) {
  const clauses = [...some, ...none];
  const names = clauses.flatMap(({ tokens, joined }) => [tokens, joined ?? []].flat());
  const formsOf = (clause: Clause) =>
    isFlexible(clause) ? wholeWord(clause).flatMap((word) => formWords(word, languages)) : [];
  const forms = new Map(some.map((clause) => [clause, formsOf(clause)]));
  const exact = await store.words([...new Set([...names, ...[...forms.values()].flat()])]);
  const words = new Map(exact.map((row) => [row.word, row]));
  const begun = await store.wordsFrom(clauses.filter(({ isBeginning }) => isBeginning).flatMap(rangesOf));
  const rowsOf = (word: string, isOpen: boolean) =>
    isOpen ? begun.filter((row) => row.word.startsWith(word)) : [words.get(word) ?? []].flat();
  const known = clauses.map((clause) => {
    const { tokens, isBeginning } = clause;
    const phrase = tokens.map((token, at) => rowsOf(token, isBeginning && at === tokens.length - 1));
    return toKnown(clause, {
      whole: wholeWord(clause).flatMap((word) => rowsOf(word, isBeginning)),
      forms: (forms.get(clause) ?? []).flatMap((form) => words.get(form) ?? []),
      ...{ languages, phrase: tokens.length > 1 ? phrase : [] },
    });
  });
  const unknown = known.filter(({ clause, documents }) => documents === 0 && isCorrectable(clause));
  const corrections = await findCorrections(unknown, { store, languages });
  const found = known.map((one) => corrections.get(one)?.known ?? one);
  const corrected = Array.from(corrections.values(), ({ correction }): Correction => correction);
  return { some: found.slice(0, some.length), none: found.slice(some.length), corrected };
}

function isFlexible({ isQuoted, isBeginning }: Clause): boolean {
  return !isQuoted && !isBeginning;
}

/** The one word that stands for the whole clause, if there is one. */
function wholeWord({ tokens, joined }: Clause): readonly string[] {
  return joined === undefined ? (tokens.length === 1 ? tokens : []) : [joined];
}

const anyLength = { minLength: 1, maxLength: maxTokenLength };

function rangesOf({ tokens, joined }: Clause): readonly WordRange[] {
  const beginnings = new Set([tokens.at(-1) ?? '', ...(joined === undefined ? [] : [joined])]);
  return Array.from(beginnings, (beginning) => {
    const limit = [...beginning].length === 1 ? maxBeginnings.letter : maxBeginnings.more;
    return { ...anyLength, beginning, limit };
  });
}

/** A clause of one word, and of nothing else that stands for it. */
export function wordClause(row: WordRow): KnownClause {
  const clause = { written: row.word, tokens: [row.word], isQuoted: false, isBeginning: false, count: 1 };
  return toKnown(clause, { whole: [row], forms: [], languages: [] });
}

interface Rows {
  readonly whole: readonly WordRow[];
  readonly forms: readonly WordRow[];
  readonly languages: readonly string[];
  readonly phrase?: readonly (readonly WordRow[])[];
  readonly weight?: number;
}

function toKnown(clause: Clause, { whole, forms, languages, phrase = [], weight = 1 }: Rows): KnownClause {
  const sum = (some: readonly WordRow[]) => some.reduce((all, { documents }) => all + documents, 0);
  const isPhrase = phrase.length > 0 && phrase.every((some) => some.length > 0);
  const formed = weight * formWeight;
  const isCounted = ({ word }: WordRow) =>
    forms.length > 0 && !forms.some((form) => form.word === stemMark + word);
  return {
    clause: { ...clause, forms: [...whole, ...forms].map(({ word }) => word), languages },
    words: [
      ...forms.map(({ id }) => ({ id, weight: formed })),
      ...whole.map((row) => ({ id: row.id, weight, more: isCounted(row) ? weight - formed : weight })),
    ],
    phrases: isPhrase
      ? (phrase.at(-1) ?? []).map(({ id }) => [...phrase.slice(0, -1).flatMap(([one]) => one?.id ?? []), id])
      : [],
    documents: sum([...whole, ...forms]) + (isPhrase ? Math.min(...phrase.map(sum)) : 0),
  };
}

/** Short words and numbers resemble too many others. */
function isCorrectable(clause: Clause): boolean {
  const [word = ''] = wholeWord(clause);
  return isFlexible(clause) && /^\p{L}{4,}$/u.test(word);
}

/** The nearest words of the library in place of those that it does not have. */
async function findCorrections(
  unknown: readonly KnownClause[],
  { store, languages }: { readonly store: SearchStore; readonly languages: readonly string[] },
) {
  const found = new Map<KnownClause, { readonly known: KnownClause; readonly correction: Correction }>();
  for (const one of unknown) {
    const [word = ''] = wholeWord(one.clause);
    // One change or, from eight letters on, two. Few people mistype the first letter.
    const [beginning = ''] = word;
    const most = word.length < 8 ? 1 : 2;
    const lengths = { minLength: word.length - most, maxLength: word.length + most };
    const meant = nearest(word, most, await store.wordsFrom([{ beginning, ...lengths, limit: maxNear }]));
    if (!meant) continue;
    const forms = await store.words(formWords(meant.word, languages));
    const correction = { written: one.clause.written, meant: meant.word };
    found.set(one, {
      known: toKnown(one.clause, { whole: [meant], forms, languages, weight: meantWeight }),
      correction,
    });
  }
  return found;
}

/** The nearest word, and the commonest of several. */
function nearest(word: string, most: number, rows: readonly WordRow[]): WordRow | undefined {
  const letters = lettersOf(word);
  let best: WordRow | undefined;
  let least = most;
  for (const row of rows) {
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
