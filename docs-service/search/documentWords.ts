import { createHash } from 'node:crypto';
import type { Document } from '../content/document.ts';
import { headingsOf } from '../content/headings.ts';
import { withoutScripts } from '../content/markdownLines.ts';
import { analyse, words } from './analyser.ts';
import type { DocumentFilter } from './documentIndex.ts';
import {
  type DocumentRecord,
  documentToRecord,
  type ListedDocument,
  parseMetadata,
  toListed,
} from './documentRecord.ts';
import { encodePlaces, entryOf } from './postings.ts';
import { stemLanguage, stemWord } from './stems.ts';

/** The words that find a document, with what the index stores of each. Names are in no text. */
export interface DocumentWords {
  readonly words: readonly string[];
  /** One for each word, without the number of the document. */
  readonly entries: Uint32Array;
  /** Where the words are, one after another. */
  readonly places: Uint8Array;
  readonly isDraft: boolean;
}

export interface WordSource extends Pick<ListedDocument, 'slug' | 'type' | 'tags' | 'draft'> {
  readonly title: string;
  readonly lang: string | null;
  readonly path: string;
  readonly body: string;
}

/** The word of every document. Its count is the length of the document, as `lengthMark` has it. */
export const anyWord = '';
export const draftWord = '§draft';
/** Before the languages of the library. */
export const languageMark = '§lang:';

/** Words of a text beyond this cannot be found. */
const maxTextTokens = 100_000;
/** The place of the first word of the text; those of the title are before it. */
const textBegin = 256;

/**
 * The constants of BM25F: how much a word counts in a short field and how much the length of the field matters (w and
 * b), the latter for the text (b), and how soon more of a word stops mattering (k).
 */
export const [textShare, saturation] = [0.65, 3];
const fields = {
  title: { weight: 4, share: 0.2, usualLength: 5 },
  name: { weight: 3, share: 0.2, usualLength: 2 },
  headings: { weight: 1.5, share: 0.4, usualLength: 30 },
} as const;

/** Everything that the index stores of a document. Making it is half of the work of indexing, and needs no database. */
export function analyseDocument(document: Document) {
  const record: DocumentRecord = documentToRecord(document);
  return { record, words: analyseStored(record) };
}

export type AnalysedDocument = ReturnType<typeof analyseDocument>;

export function analyseStored({ metadata, ...stored }: StoredText): DocumentWords {
  const document = parseMetadata(metadata);
  return documentWords({ ...document, ...toListed(document), ...stored });
}

export type StoredText = Pick<DocumentRecord, 'path' | 'metadata' | 'body'>;

export function documentWords(document: WordSource): DocumentWords {
  const { title, path, body } = document;
  const text = withoutScripts(body);
  const counts = new WordCounts();
  counts.addField(fields.name, fileName(path));
  counts.addField(fields.headings, ...headingsOf(text));
  counts.addField(fields.title, title);
  counts.addPlaces(title, 0, textBegin - 1, false);
  const length = counts.addPlaces(text, textBegin, maxTextTokens, true);
  counts.addStems(stemLanguage(document.lang));
  counts.add(anyWord, 0, lengthMark(length));
  for (const facet of documentFacets(document)) counts.add(facet, 1, 0);
  return { ...counts.encode(), isDraft: document.draft };
}

/** Counts the words of a document, which have numbers here. */
class WordCounts {
  readonly #numbers = new Map<string, number>();
  /** By the numbers of the words: how much they count in the short fields, and how often they are in the text. */
  readonly #weights: number[] = [];
  readonly #counts: number[] = [];
  /** Ascending, with the number of the word at each. */
  readonly #places: number[] = [];
  readonly #placed: number[] = [];

  add(word: string, weight: number, count: number): number {
    const known = this.#numbers.get(word);
    if (known === undefined) {
      this.#numbers.set(word, this.#weights.length);
      this.#counts.push(count);
      return this.#weights.push(weight) - 1;
    }
    this.#weights[known] = (this.#weights[known] ?? 0) + weight;
    this.#counts[known] = (this.#counts[known] ?? 0) + count;
    return known;
  }

  addField({ weight, share, usualLength }: (typeof fields)[keyof typeof fields], ...texts: string[]): void {
    const all = texts.flatMap((text) => [...words(text)]).slice(0, maxTextTokens);
    const one = weight / (1 - share + (share * all.length) / usualLength);
    for (const { token, joined = [] } of all)
      for (const name of [token, ...joined.map(({ token }) => token)]) this.add(name, one, 0);
  }

  addPlaces(text: string, begin: number, most: number, isText: boolean): number {
    let length = 0;
    for (const { token, joined } of words(text)) {
      if (length === most) break;
      this.#place(token, begin + length, isText);
      if (joined) for (const one of joined) this.#place(one.token, begin + length, isText);
      length += 1;
    }
    return length;
  }

  #place(token: string, place: number, isText: boolean): void {
    this.#placed.push(this.add(token, 0, isText ? 1 : 0));
    this.#places.push(place);
  }

  /** A stem counts what all of its forms count; nobody asks for its places. */
  addStems(language: string): void {
    for (const [word, number] of [...this.#numbers]) {
      const stem = stemWord(word, language);
      if (stem !== undefined) this.add(stem, this.#weights[number] ?? 0, this.#counts[number] ?? 0);
    }
  }

  encode(): Pick<DocumentWords, 'words' | 'entries' | 'places'> {
    return {
      words: [...this.#numbers.keys()],
      entries: Uint32Array.from(this.#weights, (weight, at) => entryOf(weight, this.#counts[at] ?? 0)),
      places: encodePlaces(this.#weights.length, this.#placed, this.#places),
    };
  }
}

/** Without its ending. `index` and `readme` are called as their folder. */
function fileName(path: string): string {
  const [file = '', folder = ''] = path.split('/').reverse();
  const name = file.replace(/(?<=.)\.\w+$/, '');
  return /^_?(?:index|readme)$/i.test(name) ? folder : name;
}

/** A length in 8 bits, which is exact to some percent. */
export function lengthMark(length: number): number {
  return 1 + Math.min(254, Math.round(lengthSteps * Math.log2(length + 1)));
}

export function markToLength(mark: number): number {
  return lengths[mark] ?? 0;
}

const lengthSteps = 14;
const lengths = Float64Array.from({ length: 256 }, (_, mark) => 2 ** ((mark - 1) / lengthSteps) - 1);

function documentFacets({ slug, type, tags, draft, lang, path }: WordSource): Set<string> {
  const folders = [...path.matchAll(/\//g)].slice(0, maxFolders);
  return new Set([
    ...(draft ? [draftWord] : []),
    ...(type === null ? [] : [facet('type', type)]),
    ...tags.map((tag) => facet('tag', tag)),
    ...folders.map(({ index }) => facet('in', path.slice(0, index + 1))),
    ...analyse(slug).map(slugWord),
    languageMark + stemLanguage(lang),
  ]);
}

/** Documents in deeper folders are only found by the upper ones. */
const maxFolders = 32;

/** The words that a document must have to pass a filter. */
export function filterWords({ type, tag, folder }: DocumentFilter): string[] {
  const some = Object.entries({ type, tag, in: folder });
  return some.flatMap(([kind, value]) => (value === undefined ? [] : [facet(kind, value)]));
}

/** The word of the documents with this part in their slug. */
export function slugWord(part: string): string {
  return `¬${part}`;
}

/** Any text, which a token cannot be. */
function facet(kind: string, value: string): string {
  const known = knownFacets.get(value);
  if (known !== undefined) return `§${kind}:${known}`;
  if (knownFacets.size === maxKnownFacets) knownFacets.clear();
  const name = createHash('sha256').update(value).digest('base64url').slice(0, 22);
  knownFacets.set(value, name);
  return `§${kind}:${name}`;
}

const knownFacets = new Map<string, string>();
const maxKnownFacets = 10_000;
