import type { Database } from '../../sqliteDatabase.ts';
import type { Query } from '../query.ts';
import { type Sample, scoredWords, wordHash } from '../relevance.ts';

/** Rows that count no word. */
const documentsRow = -1;
const lengthRow = -2;

export function createSampleReader(database: Database): (query: Query) => Sample {
  const some = database.prepare<{ word: number; count: number }>(
    'SELECT word, count FROM sample WHERE word IN (SELECT value FROM json_each(?))',
  );
  return (query) => {
    const rows = some.all(JSON.stringify([documentsRow, lengthRow, ...scoredWords(query)]));
    const having = new Map(rows.map(({ word, count }) => [word, count]));
    return { documents: having.get(documentsRow) ?? 0, length: having.get(lengthRow) ?? 0, having };
  };
}

/** Counts the words of the sampled documents. What one transaction changes is written once, at its end. */
export function createSampleWriter(database: Database) {
  const add = database.prepare(
    'INSERT INTO sample VALUES (?, ?) ON CONFLICT (word) DO UPDATE SET count = count + excluded.count',
  );
  const clean = database.prepare('DELETE FROM sample WHERE word = ? AND count = 0');
  const changes = new Map<number, number>();
  const change = (word: number, by: number) => changes.set(word, (changes.get(word) ?? 0) + by);
  return {
    /** One document more, or less. */
    count: (tokens: { readonly title: readonly string[]; readonly text: readonly string[] }, by: 1 | -1) => {
      change(documentsRow, by);
      change(lengthRow, by * (tokens.title.length + tokens.text.length));
      for (const word of new Set([...tokens.title, ...tokens.text].map(wordHash))) change(word, by);
    },
    write: () => {
      for (const [word, by] of [...changes].sort(([one], [other]) => one - other)) {
        if (by !== 0) add.run(word, by);
        if (by < 0) clean.run(word);
      }
      changes.clear();
    },
    forget: () => changes.clear(),
  };
}
