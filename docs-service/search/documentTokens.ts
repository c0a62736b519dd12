import { createHash } from 'node:crypto';
import { headingsOf } from '../content/headings.ts';
import { analyse, firstLetter, isAscii, isUnspaced, words } from './analyser.ts';
import type { DocumentFilter } from './documentIndex.ts';
import type { ListedDocument } from './documentRecord.ts';
import type { Clause } from './query.ts';
import { withoutScripts } from './withoutScripts.ts';

/** The tokens that find a document, on both engines. */
export interface DocumentTokens {
  readonly title: readonly string[];
  readonly headings: readonly (readonly string[])[];
  readonly text: readonly string[];
}

/**
 * The words of a title are indexed twice: plain, and after this mark, which no word has. So the documents with a word
 * in the title are one short list of the index. Headings have their own mark, and so do filters.
 */
export const titleMark = '†';
export const headingMark = '‡';
/** Before the words of a slug. */
export const slugMark = '¬';
/** Keeps the words of two headings from forming a phrase. */
export const headingBreak = '¦';
/** Before the first letters of words, so that `a*` is one entry of the index and not thousands. */
const beginningMark = '»';
/** Beginnings up to this length have an entry of their own; a longer one has fewer words. In code points. */
const maxBeginningLength = 3;
/** A facet of every document, for queries that have only exclusions. */
export const anyFacet = '§any';
export const draftFacet = '§draft';

/** Words of a text beyond these bounds cannot be found. PostgreSQL holds 1 MB of words for a document. */
const maxTextTokens = 100_000;
const maxDistinctBytes = 400_000;

export function documentTokens(title: string, body: string): DocumentTokens {
  const budget = { tokens: maxTextTokens, bytes: maxDistinctBytes };
  const titleTokens = taken(title, budget, { mark: titleMark, seen: new Set() });
  const text = withoutScripts(body);
  const inHeadings = { mark: headingMark, seen: new Set<string>() };
  const headings = headingsOf(text).map((heading) => taken(heading, budget, inHeadings));
  return { title: titleTokens, headings, text: taken(text, budget, { mark: '', seen: new Set() }) };
}

interface Budget {
  tokens: number;
  bytes: number;
}

/** The tokens of a text, as far as the budget has room for them. */
function taken(
  text: string,
  budget: Budget,
  { mark, seen }: { readonly mark: string; readonly seen: Set<string> },
): readonly string[] {
  const tokens: string[] = [];
  for (const { token } of words(text)) {
    if (budget.tokens <= 0 || budget.bytes <= 0) break;
    if (!seen.has(token)) {
      seen.add(token);
      const length = isAscii(token) ? token.length : Buffer.byteLength(token);
      // A marked token is indexed beside the plain one.
      budget.bytes -= mark === '' ? length : Buffer.byteLength(mark) + 2 * length;
    }
    budget.tokens--;
    tokens.push(token);
  }
  return tokens;
}

/** The entries besides the plain words of a document: its words by their place, their beginnings, and its facets. */
export function documentMarks({ title, headings, text }: DocumentTokens, document: ListedDocument): string[] {
  const marked = (tokens: Iterable<string>, mark: string) => Array.from(tokens, (token) => mark + token);
  const inHeadings = headings.flat();
  return [
    ...marked(title, titleMark),
    ...headings.flatMap((heading) => [headingBreak, ...marked(heading, headingMark)]),
    headingBreak,
    ...marked(beginningsOf(title), titleMark),
    ...marked(beginningsOf(inHeadings), headingMark),
    ...beginningsOf([...title, ...text]),
    ...documentFacets(document),
  ];
}

function documentFacets({ slug, type, tags, draft }: ListedDocument): string[] {
  const typed = type === null ? [] : [typeFacet(type)];
  const parts = [...new Set(analyse(slug))].map((part) => slugMark + part);
  return [anyFacet, ...(draft ? [draftFacet] : []), ...typed, ...tags.map(tagFacet), ...parts];
}

/** The facets that a document must have to pass a filter; `draftFacet` leaves drafts out. */
export function filterFacets({ type, tag }: DocumentFilter): string[] {
  return [...(type === undefined ? [] : [typeFacet(type)]), ...(tag === undefined ? [] : [tagFacet(tag)])];
}

function typeFacet(type: string): string {
  return `§type${digest(type)}`;
}

function tagFacet(tag: string): string {
  return `§tag${digest(tag)}`;
}

/** A type may be any text, which a token cannot be. */
function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** The entries of the index for the beginnings of words, each once. */
function beginningsOf(tokens: Iterable<string>): Set<string> {
  const beginnings = new Set<string>();
  for (const token of new Set(tokens)) {
    // Only the first letter of a pair is searched as a beginning.
    const start = isUnspaced(token) ? firstLetter(token) : token;
    let end = 0;
    for (let letters = 0; letters < maxBeginningLength && end < start.length; letters++) {
      end += (start.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
      beginnings.add(start.slice(0, end));
    }
  }
  return new Set(Array.from(beginnings, (beginning) => beginningMark + beginning));
}

/** The entry of the index for the beginning of a word, if it is short enough to have one. */
export function tryBeginning({ tokens, prefix }: Clause): string | undefined {
  const [token = ''] = tokens;
  const hasEntry = prefix && tokens.length === 1 && [...token].length <= maxBeginningLength;
  return hasEntry ? beginningMark + token : undefined;
}
