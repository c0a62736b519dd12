import { type ListEntry, type ListedDocument, listEntries } from './documentRecord.ts';
import type { IndexDatabase } from './indexDatabase.ts';

/** How the lists change in one transaction. They are stored with their lengths, so that no page has to count. */
export class ListingChanges {
  readonly #added: (ListEntry & { readonly key: number })[] = [];
  readonly #removed: ListEntry[] = [];

  add(key: number, document: ListedDocument): void {
    for (const entry of listEntries(document)) this.#added.push({ ...entry, key });
  }

  remove(document: ListedDocument): void {
    this.#removed.push(...listEntries(document));
  }

  /** Must end the transaction. */
  async write(database: IndexDatabase): Promise<void> {
    const scopes = await this.#countScopes(database);
    const keyOf = ({ name, rank, place, slug }: ListEntry) => {
      return { scope: scopes.get(name) ?? 0, rank, place, slug };
    };
    await database.remove('docs_listing', this.#removed.map(keyOf));
    const added = this.#added.map((entry) => ({ ...keyOf(entry), draft: entry.draft, key: entry.key }));
    // In their order, neighbours are on the same page of the file.
    added.sort((one, other) => one.scope - other.scope || one.rank - other.rank);
    await database.insert('docs_listing', added);
  }

  /** The numbers of the lists by their names. */
  async #countScopes(database: IndexDatabase): Promise<ReadonlyMap<string, number>> {
    const changes = new Map<string, { visible: number; drafts: number }>();
    const count = ({ name, draft }: ListEntry, by: 1 | -1) => {
      const known = changes.get(name) ?? { visible: 0, drafts: 0 };
      changes.set(name, known);
      known[draft ? 'drafts' : 'visible'] += by;
    };
    for (const entry of this.#added) count(entry, 1);
    for (const entry of this.#removed) count(entry, -1);
    await database.insert(
      'docs_scopes',
      Array.from(changes, ([name, change]) => ({ name, ...change })),
      `ON CONFLICT (name) DO UPDATE
       SET visible = docs_scopes.visible + excluded.visible, drafts = docs_scopes.drafts + excluded.drafts`,
    );
    const rows = await database.rows<{ name: string; scope: number }>(
      `SELECT name, scope FROM docs_scopes WHERE ${database.dialect.any('name')}`,
      [...changes.keys()],
    );
    return new Map(rows.map(({ name, scope }) => [name, scope]));
  }
}
