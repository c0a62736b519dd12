import type { Database } from '../../base/sqliteDatabase.ts';
import { type DocumentRecord, documentToRecord, parseMetadata } from '../documentRecord.ts';
import { type DocumentTokens, documentMarks, documentTokens } from '../documentTokens.ts';
import { documentTermStats } from '../relevance.ts';
import type { SortKeyChange } from './sortKeys.ts';

/** The search index and the term statistics, by sort key. */
export function createWords(database: Database) {
  const insert = database.prepare('INSERT INTO words (rowid, title, text, marks) VALUES (?, ?, ?, ?)');
  const insertStats = database.prepare('INSERT INTO term_stats VALUES (?, ?)');
  const removals = [
    database.prepare('DELETE FROM words WHERE rowid = ?'),
    database.prepare('DELETE FROM term_stats WHERE sort_key = ?'),
  ];
  const setSortKey = database.prepare('UPDATE documents SET sort_key = ? WHERE key = ?');
  const stored = database.prepare<{ metadata: string; body: string }>(
    'SELECT metadata, body FROM documents JOIN bodies USING (key) WHERE key = ?',
  );
  const add = (sortKey: number, record: WordSource, tokens: DocumentTokens) => {
    const marks = documentMarks(tokens, record);
    insert.run(sortKey, tokens.title.join(' '), tokens.text.join(' '), marks.join(' '));
    insertStats.run(sortKey, documentTermStats(tokens));
  };
  const remove = (sortKey: number) => {
    for (const statement of removals) statement.run(sortKey);
  };
  return {
    add,
    remove,
    tokensOf: (key: number): DocumentTokens => {
      const row = stored.get(key);
      return row ? tokensOf(row) : { title: [], headings: [], text: [] };
    },
    move: (moved: SortKeyChange['moved']) => {
      for (const { key, from } of moved) {
        remove(from);
        setSortKey.run(null, key);
      }
      for (const { key, to } of moved) {
        const row = stored.get(key);
        setSortKey.run(to, key);
        if (row) add(to, wordSource(row), tokensOf(row));
      }
    },
  };
}

export function tokensOf({ metadata, body }: Pick<DocumentRecord, 'metadata' | 'body'>): DocumentTokens {
  return documentTokens(parseMetadata(metadata).title, body);
}

type WordSource = Pick<DocumentRecord, 'slug' | 'type' | 'tags' | 'draft'>;

function wordSource({ metadata, body }: { readonly metadata: string; readonly body: string }): WordSource {
  return documentToRecord({ ...parseMetadata(metadata), path: '', body });
}
