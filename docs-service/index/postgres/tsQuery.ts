import type { DocumentFilter } from '../documentIndex.ts';
import { filterFacets, headingMark, titleMark, tryBeginning } from '../documentTokens.ts';
import type { Clause, Query } from '../query.ts';
import type { Tier } from '../tier.ts';

/** A condition on documents with the values of its parameters. Nothing that a reader wrote stands in the condition. */
export interface Condition {
  readonly sql: string;
  readonly values: readonly Value[];
}

/**
 * The documents of one tier, or all that match. One tsquery finds words, from the index alone. Whether words stand side
 * by side is looked up in the words of what it found, because a tsvector keeps no more than 256 places of a word and
 * none after 16,383.
 */
export function searchCondition(query: Query, filter: DocumentFilter, tier?: Tier): Condition {
  const values: Value[] = [];
  const parameter = (value: Value) => `$${values.push(value)}`;
  const hasPhrase = (clause: Clause, mark = '') =>
    `strpos(${placesOf[mark]}, ${parameter(sideBySide(clause))}) > 0`;
  const matches = (words: string) => `words @@ ${parameter(words)}::tsquery`;
  const words: string[] = [];
  const conditions: string[] = [];

  const need = (clause: Clause) => {
    words.push(`(${lexemes(clause)})`);
    if (isPhrase(clause)) conditions.push(hasPhrase(clause));
  };
  const needAny = (clauses: readonly Clause[], mark: string) => {
    words.push(`(${clauses.map((clause) => `(${lexemes(clause, mark)})`).join(' | ')})`);
    if (!clauses.some(isPhrase)) return;
    const any = clauses.map((clause) =>
      isPhrase(clause) ? hasPhrase(clause, mark) : matches(lexemes(clause, mark)),
    );
    conditions.push(`(${any.join(' OR ')})`);
  };
  const exclude = (clauses: readonly Clause[], mark = '') => {
    for (const clause of clauses)
      if (isPhrase(clause)) conditions.push(`NOT ${hasPhrase(clause, mark)}`);
      else words.push(`!${lexemes(clause, mark)}`);
  };

  for (const clause of query.all) need(clause);
  exclude(query.none);
  if (tier === 'title') needAny(query.all, titleMark);
  if (tier === 'heading') needAny(query.all, headingMark);
  if (tier === 'heading' || tier === 'text') exclude(query.all, titleMark);
  if (tier === 'text') exclude(query.all, headingMark);
  if (words.length > 0) conditions.unshift(matches(words.join(' & ')));
  conditions.push(...filterConditions(filter, parameter));
  return { sql: conditions.join(' AND ') || 'true', values };
}

type Value = string | readonly string[];

function isPhrase({ tokens }: Clause): boolean {
  return tokens.length > 1;
}

export function listCondition(filter: DocumentFilter): Condition {
  const values: Value[] = [];
  const conditions = filterConditions(filter, (value) => `$${values.push(value)}`);
  return { sql: conditions.join(' AND ') || 'true', values };
}

/** The words that are looked for, as what documents are ranked by. */
export function rankQuery({ all }: Query): string {
  return all.map((clause) => `(${lexemes(clause)})`).join(' | ');
}

function filterConditions(filter: DocumentFilter, parameter: (value: readonly string[]) => string): string[] {
  const facets = filterFacets(filter);
  return [
    ...(facets.length === 0 ? [] : [`facets @> ${parameter(facets)}::text[]`]),
    ...(filter.drafts ? [] : ['NOT draft']),
  ];
}

/** Where the words of a document stand one after another, by the mark of what is looked for. */
const placesOf: Readonly<Record<string, string>> = {
  '': 'all_words',
  [titleMark]: 'title_words',
  [headingMark]: 'heading_words',
};

function lexemes(clause: Clause, mark = ''): string {
  const beginning = tryBeginning(clause);
  if (beginning !== undefined) return `'${mark}${beginning}'`;
  const words = clause.tokens.map((token) => `'${mark}${token}'`).join(' & ');
  return clause.prefix ? `${words}:*` : words;
}

function sideBySide({ tokens, prefix }: Clause): string {
  return ` ${tokens.join(' ')}${prefix ? '' : ' '}`;
}
