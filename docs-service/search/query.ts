import { type AnalysedWord, isUnspaced, words } from './analyser.ts';
import { type Clause, QueryError } from './documentIndex.ts';

/** What a reader searches for: documents with some of `some`, and with none of `none`. */
export interface Query {
  readonly some: readonly Clause[];
  readonly none: readonly Clause[];
}

/**
 * Reads words, `"phrases"`, `-not`, `-"not a phrase"` and `prefix*`, separated by spaces. One dash excludes; more of
 * them, as in `--port`, are text. Anything else in the text only separates words. In scripts without spaces, each pair
 * of letters of a run is a word. It throws `QueryError` only for a text that is too long or has too many words.
 */
export function parseQuery(text: string): Query {
  if (text.length > maxQueryLength)
    throw new QueryError(`The query is longer than ${maxQueryLength} characters. Shorten it.`);
  const [some, none] = [new Map<string, Clause>(), new Map<string, Clause>()];
  for (const { isExcluded, ...term } of terms(text))
    for (const clause of clausesOf(term, isExcluded)) {
      const { tokens, isQuoted, isBeginning } = clause;
      const name = `${isQuoted} ${isBeginning} ${tokens.join(' ')}`;
      const clauses = isExcluded ? none : some;
      clauses.set(name, { ...clause, count: (clauses.get(name)?.count ?? 0) + 1 });
    }
  const query = { some: [...some.values()], none: [...none.values()] };
  const count = [...query.some, ...query.none].reduce((sum, { tokens }) => sum + tokens.length, 0);
  if (count > maxTokens)
    throw new QueryError(`The query has more than ${maxTokens} words. Leave some of them out.`);
  return query;
}

/** What a reader asks about, without what only narrows the search: for a comparison of meanings. */
export function questionOf(text: string): string {
  const asked = [...terms(text)].filter(({ isExcluded }) => !isExcluded);
  return asked
    .map(({ content, isBeginning }) => (isBeginning ? content.replace(/\*$/, '') : content))
    .join(' ')
    .trim();
}

const maxQueryLength = 1_000;
const maxTokens = 64;

interface Term {
  readonly content: string;
  readonly isExcluded: boolean;
  readonly isQuoted: boolean;
  readonly isBeginning: boolean;
}

function* terms(text: string): Generator<Term> {
  // A phrase that is not closed reaches to the end.
  const pattern =
    /(?<!\S)(-?)["“”„«»]([^"“”„«»]*)(?:["“”„«»]|$)|["“”„«»]([^"“”„«»]*)(?:["“”„«»]|$)|([^\s"“”„«»]+)/gu;
  for (const [, dash = '', first, later, word = ''] of text.matchAll(pattern)) {
    const phrase = first ?? later;
    if (phrase !== undefined) {
      yield { content: phrase, isExcluded: dash !== '', isQuoted: true, isBeginning: false };
      continue;
    }
    const isExcluded = /^-[^-]/.test(word);
    yield { content: word, isExcluded, isQuoted: false, isBeginning: /[\p{L}\p{M}\p{N}]\*$/u.test(word) };
  }
}

function* clausesOf(
  { content, isQuoted, isBeginning }: Omit<Term, 'isExcluded'>,
  isExcluded: boolean,
): Generator<Clause> {
  const found = [...words(content)];
  const clause = (some: readonly AnalysedWord[], isLast: boolean) =>
    tryClause(some, { content, isQuoted, isBeginning: isBeginning && isLast });
  if (isQuoted || isExcluded) {
    const whole = clause(found, true);
    return whole && (yield whole);
  }
  for (const part of partsOf(found)) {
    const one = clause(part, part.at(-1) === found.at(-1));
    if (one) yield one;
  }
}

/** The words that are searched each by itself: compounds, and pairs of letters. */
function* partsOf(found: readonly AnalysedWord[]): Generator<readonly AnalysedWord[]> {
  let part: AnalysedWord[] = [];
  for (const [at, word] of found.entries()) {
    const isPair = isUnspaced(word.token);
    if (part.length > 0 && (!word.isInside || isPair || isUnspaced(part[0]?.token ?? ''))) {
      yield part;
      part = [];
    }
    // The last letter of a run is in the pair before it.
    if (!(word.isTail && found[at - 1]?.end === word.end)) part.push(word);
  }
  yield part;
}

function tryClause(
  found: readonly AnalysedWord[],
  { content, ...term }: Pick<Clause, 'isQuoted' | 'isBeginning'> & { readonly content: string },
): Clause | undefined {
  const [first, last] = [found[0], found.at(-1)];
  if (!first || !last) return undefined;
  const written = content.slice(first.start, last.end);
  const whole = { written, tokens: found.map(({ token }) => token), count: 1, ...term };
  if (last.isTail) {
    // The run may continue in the document. There its last letter begins a pair, with which the pair before it ends.
    const isPaired = found.at(-2)?.end === last.end;
    return isPaired
      ? { ...whole, tokens: whole.tokens.slice(0, -1), isBeginning: false }
      : { ...whole, isBeginning: true };
  }
  const joined = first.joined?.find(({ end }) => end >= last.end);
  if (joined === undefined) return whole;
  // A sign belongs to the name: `C++` is not `C`.
  return found.length === 1
    ? {
        ...whole,
        written: content.slice(joined.end - joined.token.length, joined.end),
        tokens: [joined.token],
      }
    : { ...whole, joined: joined.token };
}
