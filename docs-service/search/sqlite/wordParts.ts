import type { Database } from '../../base/sqliteDatabase.ts';

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
  let isPrepared = false;
  return {
    /** Before the first change, because a process that only reads must write nothing. */
    prepare: (isComplete: boolean) => {
      if (isPrepared) return;
      isPrepared = true;
      // A piece of some hundred documents becomes one part of the index.
      set('hashsize', 16_000_000);
      // While the index is built, parts are joined later, because all of them are joined in the end.
      set('automerge', isComplete ? usualParts : mostParts);
    },
    /** Joins all parts into one, in short transactions, so that readers can go on. */
    join: () => {
      set('automerge', usualParts);
      // The first step treats all parts as one level; later steps continue. A step without work still counts itself.
      for (let pages = -joinedPages, before = total(); ; pages = joinedPages, before = total()) {
        set('merge', pages);
        if (total() - before < 2) break;
      }
      // Both the parts and the whole took room for a moment.
      shrink();
    },
  };
}

/** Parts of one level, before they are joined automatically. */
const usualParts = 4;
const mostParts = 16;
const joinedPages = 2_000;
