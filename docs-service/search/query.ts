import { type AnalysedWord, words } from './analyser.ts';
import { QueryError } from './documentIndex.ts';

/** What a reader searches for: documents with all of `all` and with none of `none`. */
export interface Query {
  readonly all: readonly Clause[];
  readonly none: readonly Clause[];
  /** Those of `all` that the reader wrote in quotes. */
  readonly quoted: readonly Clause[];
}

/** Adjacent tokens, at least one. */
export interface Clause {
  readonly tokens: readonly string[];
  /** Whether the last token is the beginning of a word. */
  readonly prefix: boolean;
}

/**
 * Reads words, `"phrases"`, `-not`, `-"not a phrase"` and `prefix*`, separated by spaces. Anything else in the text
 * only separates words. A word of several tokens, such as `well-known`, is a phrase. In scripts without spaces, a word
 * is any part of a run of letters. It throws `QueryError` only for a text that is too long or has too many words.
 */
export function parseQuery(text: string): Query {
  if (text.length > maxQueryLength)
    throw new QueryError(`The query is longer than ${maxQueryLength} characters. Shorten it.`);
  const all = new Map<string, Clause>();
  const none = new Map<string, Clause>();
  const quoted = new Map<string, Clause>();
  for (const { content, isExcluded, isQuoted, prefix } of terms(text)) {
    const clause = tryClause([...words(content)], prefix);
    if (!clause) continue;
    const name = `${clause.prefix} ${clause.tokens.join(' ')}`;
    (isExcluded ? none : all).set(name, clause);
    if (isQuoted && !isExcluded) quoted.set(name, clause);
  }
  const query = { all: [...all.values()], none: [...none.values()], quoted: [...quoted.values()] };
  if (tokenCount(query) > maxTokens)
    throw new QueryError(`The query has more than ${maxTokens} words. Leave some of them out.`);
  return query;
}

/** Whether there is nothing to search for. Such a query finds nothing. */
export function isEmptyQuery({ all, none }: Query): boolean {
  return all.length === 0 && none.length === 0;
}

/** What a reader asks about, without what only narrows the search: for a comparison of meanings. */
export function questionOf(text: string): string {
  const asked = [...terms(text)].filter(({ isExcluded }) => !isExcluded);
  return asked
    .map(({ content, prefix }) => (prefix ? content.replace(/\*$/, '') : content))
    .join(' ')
    .trim();
}

/** In UTF-16 units. */
const maxQueryLength = 1_000;
const maxTokens = 64;

interface Term {
  readonly content: string;
  readonly isExcluded: boolean;
  readonly isQuoted: boolean;
  readonly prefix: boolean;
}

function* terms(text: string): Generator<Term> {
  // A phrase that is not closed reaches to the end.
  const pattern = /(-*)(?:["“”„«»]([^"“”„«»]*)(?:["“”„«»]|$)|([^\s"“”„«»]+))/gu;
  for (const [, dashes = '', phrase, word = ''] of text.matchAll(pattern)) {
    const isExcluded = dashes !== '' || (phrase === undefined && word.startsWith('-'));
    const isQuoted = phrase !== undefined;
    if (isQuoted) yield { content: phrase, isExcluded, isQuoted, prefix: false };
    else yield { content: word, isExcluded, isQuoted, prefix: /[\p{L}\p{M}\p{N}]\*$/u.test(word) };
  }
}

function tryClause(found: readonly AnalysedWord[], prefix: boolean): Clause | undefined {
  const tokens = found.map(({ token }) => token);
  const last = found.at(-1);
  if (!last?.isTail) return last && { tokens, prefix };
  // The run may continue in the document. There its last letter begins a pair, with which the pair before it ends.
  const isPaired = found.at(-2)?.end === last.end;
  return isPaired ? { tokens: tokens.slice(0, -1), prefix: false } : { tokens, prefix: true };
}

function tokenCount({ all, none }: Query): number {
  return [...all, ...none].reduce((count, { tokens }) => count + tokens.length, 0);
}
