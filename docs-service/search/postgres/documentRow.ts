import type { Document } from '../../content/document.ts';
import { documentToRecord } from '../documentRecord.ts';
import { type DocumentTokens, documentMarks, headingBreak } from '../documentTokens.ts';
import { reversed } from '../nearSlugs.ts';
import { documentTermStats } from '../relevance.ts';
import { pairMarks } from './wordPairs.ts';

/** The columns of `docs_documents` with their types, in the order of `documentToRow`. */
export const documentColumns: Readonly<Record<string, string>> = {
  slug: 'text',
  reversed: 'text',
  path: 'text',
  own: 'text',
  short: 'text',
  long: 'text',
  draft: 'boolean',
  changed: 'bigint',
  term_stats: 'text',
  metadata: 'text',
  body: 'text',
  words: 'tsvector',
  title_words: 'text',
  heading_words: 'text',
  all_words: 'text',
};

export function documentToRow(
  document: Document,
  { tokens, changed }: { readonly tokens: DocumentTokens; readonly changed: number },
): readonly (string | boolean | number)[] {
  const { slug, path, own, short, long, draft, metadata, body, type, tags } = documentToRecord(document);
  return [
    slug,
    reversed(slug),
    path,
    own,
    short,
    long,
    draft,
    changed,
    documentTermStats(tokens),
    metadata,
    body,
    wordVector(tokens, documentMarks(tokens, { slug, type, tags, draft })),
    spaced([tokens.title]),
    spaced(tokens.headings),
    spaced([tokens.title, tokens.text]),
  ];
}

/** With a space around each word, and a non-word between parts that must not form a phrase. */
function spaced(parts: readonly (readonly string[])[]): string {
  return parts.map((part) => ` ${part.join(' ')} `).join(headingBreak);
}

/** In PostgreSQL's notation for a tsvector, without places. No token has a character that must be quoted. */
function wordVector({ title, text }: DocumentTokens, marks: readonly string[]): string {
  const all = new Set([...title, ...text, ...marks, ...pairMarks(title), ...pairMarks(text)]);
  return Array.from(all, (token) => `'${token}'`).join(' ');
}
