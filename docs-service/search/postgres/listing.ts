import { createHash } from 'node:crypto';
import type pg from 'pg';
import type { DocumentMetadata } from '../../content/document.ts';
import type { DocumentFilter, ListQuery } from '../documentIndex.ts';
import { type ListEntry, listEntries, scopeName, storable, toListed } from '../documentRecord.ts';

/** How the lists change in one transaction. They are stored with their lengths, so that no page has to count. */
export function createListingChanges() {
  const [added, removed]: [ListEntry[], ListEntry[]] = [[], []];
  return {
    add: (metadata: DocumentMetadata) => void added.push(...entriesOf(metadata)),
    remove: (metadata: DocumentMetadata) => void removed.push(...entriesOf(metadata)),
    write: async (client: pg.ClientBase) => {
      if (added.length + removed.length === 0) return;
      const scopes = await countScopes(client, added, removed);
      const rows = (entries: readonly ListEntry[]) =>
        entries.map(({ name, ...entry }) => ({ ...entry, scope: scopes.get(name) }));
      await client.query(
        `DELETE FROM docs_listing USING json_populate_recordset(NULL::docs_listing, $1) AS old
         WHERE docs_listing.scope = old.scope AND docs_listing.rank = old.rank
           AND docs_listing.place = old.place AND docs_listing.slug = old.slug`,
        [JSON.stringify(rows(removed))],
      );
      await insertRows(client, 'docs_listing', rows(added));
    },
  };
}

/** The rows have a value for each column, by its name. */
export async function insertRows(
  client: pg.ClientBase,
  table: string,
  rows: readonly object[],
  more = '',
): Promise<void> {
  await client.query(
    `INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, $1) ${more}`,
    [JSON.stringify(rows)],
  );
}

function entriesOf(metadata: DocumentMetadata): readonly ListEntry[] {
  return listEntries(toListed(metadata)).map((entry) => ({ ...entry, name: digest(entry.name) }));
}

/** A type may be longer than an entry of a tree may be. */
function digest(name: string): string {
  return createHash('sha256').update(name).digest('hex').slice(0, 32);
}

/** The numbers of the lists by their names. */
async function countScopes(
  client: pg.ClientBase,
  added: readonly ListEntry[],
  removed: readonly ListEntry[],
): Promise<ReadonlyMap<string, number>> {
  const changes = new Map<string, { visible: number; drafts: number }>();
  const change = ({ name, draft }: ListEntry, by: 1 | -1) => {
    const known = changes.get(name) ?? { visible: 0, drafts: 0 };
    changes.set(name, known);
    known[draft ? 'drafts' : 'visible'] += by;
  };
  for (const entry of added) change(entry, 1);
  for (const entry of removed) change(entry, -1);
  const { rows } = await client.query<{ name: string; scope: number }>(
    `INSERT INTO docs_scopes (name, visible, drafts) SELECT * FROM unnest($1::text[], $2::int[], $3::int[])
     ON CONFLICT (name) DO UPDATE
     SET visible = docs_scopes.visible + excluded.visible, drafts = docs_scopes.drafts + excluded.drafts
     RETURNING name, scope`,
    [
      [...changes.keys()],
      [...changes.values()].map(({ visible }) => visible),
      [...changes.values()].map(({ drafts }) => drafts),
    ],
  );
  return new Map(rows.map(({ name, scope }) => [name, scope]));
}

export interface ListedScope {
  readonly scope: number;
  readonly visible: number;
  readonly drafts: number;
}

/** The list that a filter asks for, if any document was ever in it. */
export async function tryFindScope(
  client: pg.ClientBase,
  filter: Pick<DocumentFilter, 'type' | 'tag'>,
): Promise<ListedScope | undefined> {
  const { rows } = await client.query<ListedScope>(
    'SELECT scope, visible, drafts FROM docs_scopes WHERE name = $1',
    [digest(scopeName(filter))],
  );
  return rows[0];
}

/** A document of a list, as its row has it. */
export interface ListedRow {
  readonly path: string;
  readonly metadata: string;
}

/** A page of a list. The second half of a list is read from its end, so that at most half is skipped. */
export async function readPage(
  client: pg.ClientBase,
  { scope, visible, drafts }: ListedScope,
  { limit, offset, drafts: hasDrafts }: ListQuery,
): Promise<readonly ListedRow[]> {
  const total = visible + (hasDrafts ? drafts : 0);
  const taken = Math.max(0, Math.min(limit, total - offset));
  if (taken === 0) return [];
  const isNearer = offset <= total / 2;
  const descending = isNearer ? '' : 'DESC';
  const { rows } = await client.query<ListedRow>(
    `SELECT path, metadata FROM (
       SELECT rank, place, slug FROM docs_listing WHERE scope = $1 ${hasDrafts ? '' : 'AND NOT draft'}
       ORDER BY rank ${descending}, place ${descending}, slug ${descending} LIMIT $2 OFFSET $3
     ) AS page JOIN docs_documents USING (slug) ORDER BY rank, place, slug`,
    [scope, taken, isNearer ? offset : total - offset - taken],
  );
  return rows;
}

/** The same for a filter that has no list of its own: the whole list is visited. */
export async function readNarrowedPage(
  client: pg.ClientBase,
  { scope }: ListedScope,
  { limit, offset, drafts, folder = '', changedSince = 0 }: ListQuery,
): Promise<{ readonly rows: readonly ListedRow[]; readonly total: number }> {
  const within = `FROM docs_listing JOIN docs_documents USING (slug)
    WHERE scope = $1 ${drafts ? '' : 'AND NOT docs_listing.draft'} AND starts_with(path, $2) AND changed >= $3`;
  const asked = [scope, storable(folder), changedSince];
  const counted = await client.query<{ total: number }>(`SELECT count(*)::int AS total ${within}`, asked);
  const { rows } = await client.query<ListedRow>(
    `SELECT path, metadata ${within} ORDER BY rank, place, slug LIMIT $4 OFFSET $5`,
    [...asked, limit, offset],
  );
  return { rows, total: counted.rows[0]?.total ?? 0 };
}
