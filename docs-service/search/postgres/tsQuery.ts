import type { DocumentFilter } from '../documentIndex.ts';
import {
  anyFacet,
  draftFacet,
  filterFacets,
  headingMark,
  titleMark,
  tryBeginning,
} from '../documentTokens.ts';
import type { Clause, Query } from '../query.ts';

/** A condition on documents with the values of its parameters. It contains no text from a reader. */
export interface Condition {
  /** The part that the index alone decides. */
  readonly words: string;
  /** The part that is checked in the remaining documents: whether words are adjacent. Empty if there is none. */
  readonly texts: string;
  readonly values: readonly string[];
}

/** The documents that have part of the query in that place or, without a place, all that match. */
export function searchCondition(
  query: Query,
  filter: DocumentFilter,
  place?: 'title' | 'heading',
): Condition {
  const values: string[] = [];
  const parameter = (value: string) => `$${values.push(value)}`;
  const hasPhrase = (clause: Clause, mark = '') =>
    `strpos(${placesOf[mark]}, ${parameter(sideBySide(clause))}) > 0`;
  const words: string[] = filterFacets(filter).map(quoted);
  const texts: string[] = [];
  // Each parameter must occur in the condition, even if only phrases are excluded.
  const all = parameter('');

  if (place !== undefined) {
    const mark = place === 'title' ? titleMark : headingMark;
    words.push(`(${query.all.map((clause) => `(${lexemes(clause, mark)})`).join(' | ')})`);
    if (query.all.some(isPhrase)) {
      const any = query.all.map((clause) =>
        isPhrase(clause) ? hasPhrase(clause, mark) : `words @@ ${parameter(lexemes(clause, mark))}::tsquery`,
      );
      texts.push(`(${any.join(' OR ')})`);
    }
  }
  // The words of a title are also words of the document; very long headings are cut.
  const isImplied = place === 'title' && query.all.length === 1;
  for (const clause of isImplied ? [] : query.all) {
    words.push(`(${lexemes(clause)})`);
    if (isPhrase(clause)) texts.push(hasPhrase(clause));
  }
  if (words.length === 0) words.push(quoted(anyFacet));
  if (!filter.drafts) words.push(`!${quoted(draftFacet)}`);
  for (const clause of query.none)
    if (isPhrase(clause)) texts.push(`NOT ${hasPhrase(clause)}`);
    else words.push(`!${lexemes(clause)}`);
  values[0] = words.join(' & ');
  return { words: `words @@ ${all}::tsquery`, texts: texts.join(' AND '), values };
}

function isPhrase({ tokens }: Clause): boolean {
  return tokens.length > 1;
}

function quoted(lexeme: string): string {
  return `'${lexeme}'`;
}

/** The columns with the words of a document in order, by the mark of what is searched. */
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
