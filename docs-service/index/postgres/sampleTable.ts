import type pg from 'pg';
import { wordHash } from '../relevance.ts';

/** Rows of `docs_sample` that count no word. */
export const documentsRow = -1;
export const lengthRow = -2;

/** How the counts of sampled words change in one transaction. */
export interface SampleChanges {
  /** One document more, or less. */
  count(tokens: { readonly title: readonly string[]; readonly text: readonly string[] }, by: 1 | -1): void;
  write(client: pg.ClientBase): Promise<void>;
}

export function createSampleChanges(): SampleChanges {
  const changes = new Map<number, number>();
  const change = (word: number, by: number) => changes.set(word, (changes.get(word) ?? 0) + by);
  return {
    count: ({ title, text }, by) => {
      change(documentsRow, by);
      change(lengthRow, by * (title.length + text.length));
      for (const word of new Set([...title, ...text].map(wordHash))) change(word, by);
    },
    write: async (client) => {
      const changed = [...changes].filter(([, by]) => by !== 0);
      if (changed.length === 0) return;
      await client.query(
        `INSERT INTO docs_sample SELECT * FROM unnest($1::int[], $2::bigint[])
         ON CONFLICT (word) DO UPDATE SET count = docs_sample.count + excluded.count`,
        [changed.map(([word]) => word), changed.map(([, by]) => by)],
      );
    },
  };
}
