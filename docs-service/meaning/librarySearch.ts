import type { DocumentIndex, SearchPage, SearchQuery } from '../search/documentIndex.ts';
import { isNarrowed } from '../search/documentRecord.ts';
import { parseQuery, questionOf } from '../search/query.ts';
import type { Meaning } from './meaning.ts';

/** By what documents are found: their words, their meaning, or either. */
export const searchModes = ['text', 'meaning', 'both'] as const;
export type SearchMode = (typeof searchModes)[number];

/** A search, by text and by meaning where that is on. */
export type LibrarySearch = ReturnType<typeof createLibrarySearch>;

/** So many of the nearest sections count. */
const count = 100;
/** So many are looked at where filters, exclusions or phrases may leave most of them out. */
const manySections = 2_000;

export function createLibrarySearch(index: DocumentIndex, meaning?: Pick<Meaning, 'generation' | 'nearest'>) {
  /** `isTextAlone` if the meaning was to count, too, but the runner cannot be asked now. */
  const searchIndex = async (query: SearchQuery, isTextAlone: boolean) => ({
    ...(await index.search(query)),
    isTextAlone,
  });
  return {
    /** Grows whenever the same search may have another answer. */
    get generation() {
      return index.generation + (meaning?.generation ?? 0);
    },
    /** Whether documents can be found by their meaning. */
    hasMeaning: meaning !== undefined,
    /** As the index searches. Without a mode, by everything that is on. */
    async search(query: Omit<SearchQuery, 'near'>, mode: SearchMode = meaning ? 'both' : 'text') {
      const question = questionOf(query.text);
      if (!meaning || mode === 'text' || question === '') return searchIndex(query, false);
      const looked = isNarrowing(query) ? manySections : count;
      const sections = await meaning.nearest(question, { drafts: query.drafts, count: looked });
      if (sections === undefined) return searchIndex(query, true);
      const near = { sections, count, isAlone: mode === 'meaning' };
      return searchIndex({ ...query, near }, false);
    },
  };
}

function isNarrowing(query: Omit<SearchQuery, 'near'>): boolean {
  const { some, none } = parseQuery(query.text);
  const hasFacets = query.type !== undefined || query.tag !== undefined;
  return hasFacets || isNarrowed(query) || none.length > 0 || some.some(({ isQuoted }) => isQuoted);
}

/** What programs and agents are told of a search, beside what it found. */
export function fieldsOf({ total, allWords, corrected, approximate }: SearchPage) {
  return {
    total,
    allWords,
    ...(corrected.length > 0 ? { corrected: [...corrected] } : {}),
    ...(approximate ? { approximate } : {}),
  };
}
