import type { Document } from '../../content/document.ts';
import { documentToRecord } from '../documentRecord.ts';
import {
  type DocumentTokens,
  documentFacets,
  documentMarks,
  documentTokens,
  headingBreak,
} from '../documentTokens.ts';
import { reversed } from '../nearSlugs.ts';

/** The columns of `docs_documents` with their types, in the order of `documentToRow`. */
export const documentColumns: Readonly<Record<string, string>> = {
  slug: 'text',
  reversed: 'text',
  path: 'text',
  draft: 'boolean',
  rank: 'bigint',
  facets: 'text[]',
  metadata: 'text',
  body: 'text',
  words: 'tsvector',
  title_words: 'text',
  heading_words: 'text',
  all_words: 'text',
};

export function documentToRow(document: Document): readonly (string | number | boolean)[] {
  const { slug, path, draft, rank, metadata, body, type, tags } = documentToRecord(document);
  const tokens = documentTokens(document.title, body);
  const facets = documentFacets({ slug, type, tags, draft });
  return [
    slug,
    reversed(slug),
    path,
    draft,
    rank,
    // No facet has a character that an array would have to quote.
    `{${facets.join(',')}}`,
    metadata,
    body,
    wordVector(tokens, documentMarks(tokens, { slug, type, tags, draft })),
    spaced([tokens.title]),
    spaced(tokens.headings),
    spaced([tokens.title, tokens.text]),
  ];
}

/** With a space before and after each word, and something that is no word between what makes no phrase. */
function spaced(parts: readonly (readonly string[])[]): string {
  return parts.map((part) => ` ${part.join(' ')} `).join(headingBreak);
}

/** The places of a word only count it, for ranks. More than these are not kept. */
const mostPlaces = 256;
const lastPlace = 16_383;

/** As PostgreSQL writes a tsvector. No token has a character that must be quoted. */
function wordVector({ title, text }: DocumentTokens, marks: readonly string[]): string {
  const places = new Map<string, number[]>();
  for (const [index, token] of [...title, ...text].entries()) {
    const known = places.get(token);
    if (!known) places.set(token, [Math.min(index + 1, lastPlace)]);
    else if (known.length < mostPlaces && index < lastPlace) known.push(index + 1);
  }
  const plain = Array.from(places, ([token, at]) => `'${token}':${at.join(',')}`);
  const marked = Array.from(new Set(marks), (mark) => `'${mark}'`);
  return [...plain, ...marked].join(' ');
}
