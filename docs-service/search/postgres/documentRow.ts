import type { Document } from '../../content/document.ts';
import { documentToRecord } from '../documentRecord.ts';
import { type DocumentTokens, documentMarks, headingBreak } from '../documentTokens.ts';
import { reversed } from '../nearSlugs.ts';
import { documentTermStats } from '../relevance.ts';
import { pairMarks } from './wordPairs.ts';

/** A row of `docs_documents`, by its columns; the database ignores the rest of the record. */
export function documentToRow(
  document: Document,
  { tokens, changed }: { readonly tokens: DocumentTokens; readonly changed: number },
): object {
  const record = documentToRecord(document);
  return {
    ...record,
    reversed: reversed(record.slug),
    changed,
    term_stats: documentTermStats(tokens),
    words: wordVector(tokens, documentMarks(tokens, record)),
    title_words: spaced([tokens.title]),
    heading_words: spaced(tokens.headings),
    all_words: spaced([tokens.title, tokens.text]),
  };
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
