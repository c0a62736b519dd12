import type { Database } from '../../base/sqliteDatabase.ts';
import type { DocumentMetadata } from '../../content/document.ts';
import { type DocumentRecord, documentToRecord, scopeNames } from '../documentRecord.ts';
import { createRowInsertion } from './rowInsertion.ts';

/** The lists for readers, with their lengths. New entries are written at the end of the transaction. */
export function createListing(database: Database) {
  const scopes = createScopes(database);
  const added: ListEntry[] = [];
  const insertAll = createRowInsertion(database, 'INSERT INTO listing VALUES', 6);
  const remove = database.prepare(
    'DELETE FROM listing WHERE scope = ? AND rank = ? AND place = ? AND slug = ?',
  );
  return {
    add: (key: number, { rank, place, slug, ...record }: DocumentRecord) => {
      const draft = Number(record.draft);
      for (const name of scopeNames(record))
        added.push({ scope: scopes.count(name, draft, 1), rank, place, slug, draft, key });
    },
    remove: (metadata: DocumentMetadata) => {
      const { slug, rank, place, ...record } = documentToRecord({ ...metadata, path: '', body: '' });
      for (const name of scopeNames(record))
        remove.run(scopes.count(name, Number(record.draft), -1), rank, place, slug);
    },
    write: () => {
      scopes.write();
      // In their order, neighbours are on the same page of the file.
      added.sort((one, other) => one.scope - other.scope || one.rank - other.rank);
      insertAll(
        added.map(({ scope, rank, place, slug, draft, key }) => [scope, rank, place, slug, draft, key]),
      );
      added.length = 0;
    },
    forget: () => {
      scopes.forget();
      added.length = 0;
    },
  };
}

interface ListEntry {
  readonly scope: number;
  readonly rank: number;
  readonly place: string;
  readonly slug: string;
  readonly draft: number;
  readonly key: number;
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
    count: (name: string, draft: number, change: 1 | -1) => {
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
