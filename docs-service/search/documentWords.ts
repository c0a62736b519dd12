import { createHash } from 'node:crypto';
import type { Document } from '../content/document.ts';
import { headingsOf } from '../content/headings.ts';
import { withoutScripts } from '../content/withoutScripts.ts';
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

/** What words are read from. */
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

/** How much a word counts in a short field, and how much the length of the field matters (BM25F's w and b). */
const fields = {
  title: { weight: 4, share: 0.2, usualLength: 5 },
  name: { weight: 3, share: 0.2, usualLength: 2 },
  headings: { weight: 1.5, share: 0.4, usualLength: 30 },
} as const;

/** Everything that the index stores of a document. Making it is half of the work of indexing, and needs no database. */
export interface AnalysedDocument {
  readonly record: DocumentRecord;
  readonly words: DocumentWords;
}

export function analyseDocument(document: Document): AnalysedDocument {
  const record = documentToRecord(document);
  return { record, words: analyseStored(record) };
}

/** The words of a document from what is stored of it. */
export function analyseStored({ metadata, ...stored }: StoredText): DocumentWords {
  const document = parseMetadata(metadata);
  return documentWords({ ...document, ...toListed(document), ...stored });
}

export type StoredText = Pick<DocumentRecord, 'path' | 'metadata' | 'body'>;

export function documentWords({ title, path, body, ...document }: WordSource): DocumentWords {
  const text = withoutScripts(body);
  const found = new Map<string, FoundWord>();
  countField(found, fields.name, fileName(path));
  countField(found, fields.headings, ...headingsOf(text));
  countField(found, fields.title, title);
  addPlaces(found, title, { begin: 0, most: textBegin - 1, counts: false });
  const length = addPlaces(found, text, { begin: textBegin, most: maxTextTokens, counts: true });
  addStems(found, stemLanguage(document.lang));
  found.set(anyWord, { ...newWord(), count: lengthMark(length) });
  for (const facet of documentFacets({ path, ...document })) found.set(facet, { ...newWord(), weight: 1 });
  return {
    words: [...found.keys()],
    entries: Uint32Array.from(found.values(), ({ weight, count }) => entryOf(weight, count)),
    places: encodePlaces(Array.from(found.values(), ({ places }) => places)),
    isDraft: document.draft,
  };
}

interface FoundWord {
  /** In the short fields. */
  weight: number;
  /** In the text. */
  count: number;
  /** Ascending. */
  readonly places: number[];
}

function newWord(): FoundWord {
  return { weight: 0, count: 0, places: [] };
}

function wordIn(found: Map<string, FoundWord>, token: string): FoundWord {
  let word = found.get(token);
  if (!word) found.set(token, (word = newWord()));
  return word;
}

function countField(
  found: Map<string, FoundWord>,
  { weight, share, usualLength }: (typeof fields)[keyof typeof fields],
  ...texts: readonly string[]
): void {
  const all = texts.flatMap((text) => [...words(text)]).slice(0, maxTextTokens);
  const one = weight / (1 - share + (share * all.length) / usualLength);
  for (const { token, joined = [] } of all)
    for (const name of [token, ...joined.map(({ token }) => token)]) wordIn(found, name).weight += one;
}

/** Returns the number of words. */
function addPlaces(
  found: Map<string, FoundWord>,
  text: string,
  { begin, most, counts }: { readonly begin: number; readonly most: number; readonly counts: boolean },
): number {
  let length = 0;
  const add = (token: string) => {
    const word = wordIn(found, token);
    word.places.push(begin + length);
    if (counts) word.count += 1;
  };
  for (const { token, joined = [] } of words(text)) {
    if (length === most) break;
    add(token);
    for (const one of joined) add(one.token);
    length += 1;
  }
  return length;
}

/** A stem counts what all of its forms count; nobody asks for its places. */
function addStems(found: Map<string, FoundWord>, language: string): void {
  for (const [token, { weight, count }] of [...found]) {
    const stem = stemWord(token, language);
    if (stem === undefined) continue;
    const word = wordIn(found, stem);
    word.weight += weight;
    word.count += count;
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

function documentFacets({
  slug,
  type,
  tags,
  draft,
  lang,
  path,
}: Omit<WordSource, 'title' | 'body'>): Set<string> {
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
  const some = [
    [type, 'type'],
    [tag, 'tag'],
    [folder, 'in'],
  ] as const;
  return some.flatMap(([value, kind]) => (value === undefined ? [] : [facet(kind, value)]));
}

/** The word of the documents with this part in their slug. */
export function slugWord(part: string): string {
  return `¬${part}`;
}

/** Any text, which a token cannot be. */
function facet(kind: 'type' | 'tag' | 'in', value: string): string {
  return `§${kind}:${createHash('sha256').update(value).digest('base64url').slice(0, 22)}`;
}
