import type { Database } from '../../base/sqliteDatabase.ts';
import { type DocumentRecord, documentToRecord, parseMetadata } from '../documentRecord.ts';
import { type DocumentTokens, documentMarks, documentTokens } from '../documentTokens.ts';
import { documentFigures } from '../relevance.ts';
import type { Labelling } from './slugLabels.ts';

/** The search index and the ranking figures, by label. */
export function createWords(database: Database) {
  const insert = database.prepare('INSERT INTO words (rowid, title, text, marks) VALUES (?, ?, ?, ?)');
  const insertFigures = database.prepare('INSERT INTO figures VALUES (?, ?)');
  const removals = [
    database.prepare('DELETE FROM words WHERE rowid = ?'),
    database.prepare('DELETE FROM figures WHERE label = ?'),
  ];
  const relabel = database.prepare('UPDATE documents SET label = ? WHERE key = ?');
  const stored = database.prepare<{ metadata: string; body: string }>(
    'SELECT metadata, body FROM documents JOIN bodies USING (key) WHERE key = ?',
  );
  const add = (label: number, record: WordSource, tokens: DocumentTokens) => {
    const marks = documentMarks(tokens, record);
    insert.run(label, tokens.title.join(' '), tokens.text.join(' '), marks.join(' '));
    insertFigures.run(label, documentFigures(tokens));
  };
  const remove = (label: number) => {
    for (const statement of removals) statement.run(label);
  };
  return {
    add,
    remove,
    tokensOf: (key: number): DocumentTokens => {
      const row = stored.get(key);
      return row ? tokensOf(row) : { title: [], headings: [], text: [] };
    },
    move: (moved: Labelling['moved']) => {
      for (const { key, from } of moved) {
        remove(from);
        relabel.run(null, key);
      }
      for (const { key, to } of moved) {
        const row = stored.get(key);
        relabel.run(to, key);
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
