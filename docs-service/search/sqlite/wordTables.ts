import type { Database } from '../../base/sqliteDatabase.ts';
import type { DocumentTokens } from '../documentTokens.ts';
import { type AnalysedWords, analyseStored, storedTokens } from './analysedDocument.ts';
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
  const add = (sortKey: number, { title, text, marks, termStats }: AnalysedWords) => {
    insert.run(sortKey, title, text, marks);
    insertStats.run(sortKey, termStats);
  };
  const remove = (sortKey: number) => {
    for (const statement of removals) statement.run(sortKey);
  };
  return {
    add,
    remove,
    tokensOf: (key: number): DocumentTokens => {
      const row = stored.get(key);
      return row ? storedTokens(row) : { title: [], headings: [], text: [] };
    },
    move: (moved: SortKeyChange['moved']) => {
      for (const { key, from } of moved) {
        remove(from);
        setSortKey.run(null, key);
      }
      for (const { key, to } of moved) {
        const row = stored.get(key);
        setSortKey.run(to, key);
        if (row) add(to, analyseStored(row));
      }
    },
  };
}

/** FTS5 writes parts and joins them later. The fewer parts there are, the faster a search is. */
export function createWordParts(database: Database) {
  // FTS5 refuses the numbers of a statement's parameters, which may be no integers.
  const set = (what: string, value: number) =>
    database.exec(`INSERT INTO words (words, rank) VALUES ('${what}', ${value})`);
  const changes = database.prepare<{ count: number }>('SELECT total_changes() AS count');
  const total = () => changes.get()?.count ?? 0;
  const unused = database.prepare<{ freelist_count: number }>('PRAGMA freelist_count');
  /** Returns free pages as long as there are any. Not every file can, such as one from an older version. */
  const shrink = () => {
    for (let before = Number.POSITIVE_INFINITY; ; ) {
      const left = unused.get()?.freelist_count ?? 0;
      if (left === 0 || left >= before) return;
      before = left;
      database.exec(`PRAGMA incremental_vacuum(${joinedPages})`);
    }
  };
  const joinParts = (isUsual: boolean) => {
    set('automerge', isUsual ? usualParts : 0);
    set('crisismerge', isUsual ? maxParts : maxPartsOfBuilding);
  };
  return {
    prepare: (isComplete: boolean) => {
      // A piece of some hundred documents becomes one part of the index.
      set('hashsize', 16_000_000);
      // While the index is built, nothing is joined, because all of them are joined in the end.
      joinParts(isComplete);
    },
    /** Joins all parts into one, in short transactions, so that readers can go on. */
    join: () => {
      joinParts(true);
      // The first step treats all parts as one level; later steps continue. A step without work still counts itself.
      for (let pages = -joinedPages, before = total(); ; pages = joinedPages, before = total()) {
        set('merge', pages);
        if (total() - before < 2) break;
      }
      // For a moment, both the parts and the whole took room.
      shrink();
    },
  };
}

/** Parts of one level, before they are joined little by little. */
const usualParts = 4;
/** Parts of one level, before a change waits until they are joined. */
const maxParts = 16;
const maxPartsOfBuilding = 256;
const joinedPages = 2_000;
