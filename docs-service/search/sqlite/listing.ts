import type { Database } from '../../base/sqliteDatabase.ts';
import { type ListEntry, type ListedDocument, listEntries } from '../documentRecord.ts';
import { createRowInsertion } from './rowInsertion.ts';

/** The lists for readers, with their lengths. New entries are written at the end of the transaction. */
export function createListing(database: Database) {
  const scopes = createScopes(database);
  const added: (ListEntry & { readonly scope: number; readonly key: number })[] = [];
  const insertAll = createRowInsertion(database, 'INSERT INTO listing VALUES', 6);
  const remove = database.prepare(
    'DELETE FROM listing WHERE scope = ? AND rank = ? AND place = ? AND slug = ?',
  );
  return {
    add: (key: number, document: ListedDocument) => {
      for (const entry of listEntries(document)) added.push({ ...entry, scope: scopes.count(entry, 1), key });
    },
    remove: (document: ListedDocument) => {
      for (const entry of listEntries(document))
        remove.run(scopes.count(entry, -1), entry.rank, entry.place, entry.slug);
    },
    write: () => {
      scopes.write();
      // In their order, neighbours are on the same page of the file.
      added.sort((one, other) => one.scope - other.scope || one.rank - other.rank);
      insertAll(
        added.map(({ scope, rank, place, slug, draft, key }) => [
          scope,
          rank,
          place,
          slug,
          Number(draft),
          key,
        ]),
      );
      added.length = 0;
    },
    forget: () => {
      scopes.forget();
      added.length = 0;
    },
  };
}

interface Scope {
  readonly scope: number;
  visible: number;
  drafts: number;
}

/** The lists of one transaction, which are written once at its end. */
function createScopes(database: Database) {
  const find = database.prepare<Scope>('SELECT scope, visible, drafts FROM scopes WHERE name = ?');
  const newScope = database.prepare<Pick<Scope, 'scope'>>(
    'SELECT coalesce(max(scope), 0) + 1 AS scope FROM scopes',
  );
  const put = database.prepare('INSERT OR REPLACE INTO scopes VALUES (?, ?, ?, ?)');
  const changed = new Map<string, Scope>();
  const make = (name: string): Scope => {
    const made = { scope: newScope.get()?.scope ?? 1, visible: 0, drafts: 0 };
    put.run(made.scope, name, 0, 0);
    return made;
  };
  return {
    /** Returns the number of the list. */
    count: ({ name, draft }: ListEntry, change: 1 | -1) => {
      const known = changed.get(name) ?? { ...(find.get(name) ?? make(name)) };
      changed.set(name, known);
      known[draft ? 'drafts' : 'visible'] += change;
      return known.scope;
    },
    write: () => {
      for (const [name, { scope, visible, drafts }] of changed) put.run(scope, name, visible, drafts);
      changed.clear();
    },
    forget: () => changed.clear(),
  };
}
