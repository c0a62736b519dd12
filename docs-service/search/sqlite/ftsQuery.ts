import type { DocumentFilter } from '../documentIndex.ts';
import {
  anyFacet,
  draftFacet,
  filterFacets,
  headingMark,
  slugMark,
  titleMark,
  tryBeginning,
} from '../documentTokens.ts';
import type { Clause, Query } from '../query.ts';
import type { Tier } from '../tier.ts';

/** The FTS5 query for the documents of one tier, or of all. It contains no text from the reader. */
export function ftsQuery(query: Query, filter: DocumentFilter, tier?: Tier): string {
  const inTitle = query.all.map((clause) => phrase(clause, titleMark));
  const inHeadings = query.all.map((clause) => phrase(clause, headingMark));
  const all = [...query.all.map((clause) => phrase(clause)), ...filterFacets(filter).map(quoted)];
  const none = [
    ...query.none.map((clause) => phrase(clause)),
    ...(filter.drafts ? [] : [quoted(draftFacet)]),
  ];
  if (tier === 'title') all.push(`(${inTitle.join(' OR ')})`);
  if (tier === 'heading') all.push(`(${inHeadings.join(' OR ')})`);
  if (tier === 'heading' || tier === 'text') none.push(...inTitle);
  if (tier === 'text') none.push(...inHeadings);
  const found = all.length === 0 ? quoted(anyFacet) : all.join(' AND ');
  return none.length === 0 ? found : `(${found}) NOT (${none.join(' OR ')})`;
}

/** Documents that are not drafts and have all these words in their slugs. */
export function slugQuery(parts: readonly string[]): string {
  return `(${parts.map((part) => quoted(slugMark + part)).join(' AND ')}) NOT ${quoted(draftFacet)}`;
}

function phrase(clause: Clause, mark = ''): string {
  const beginning = tryBeginning(clause);
  if (beginning !== undefined) return quoted(mark + beginning);
  const { tokens, prefix } = clause;
  return quoted(tokens.map((token) => mark + token).join(' ')) + (prefix ? '*' : '');
}

function quoted(text: string): string {
  return `"${text}"`;
}
