import type { Database } from '../../base/sqliteDatabase.ts';
import type { CollectionDefinition } from '../../content/collectionFile.ts';
import type { ContentProblem, ContentWarning } from '../../content/document.ts';
import type { LibraryState } from '../changes.ts';
import type { DocumentIndex, DocumentPage, ListQuery, LocatedMetadata } from '../documentIndex.ts';
import {
  type FileRow,
  inOrder,
  isNarrowed,
  joinTerms,
  joinWarnings,
  maxTags,
  parseMetadata,
  pathRange,
  scopeName,
  type WrittenTerm,
} from '../documentRecord.ts';
import { maxNeighbours, nearestSlugs, reversed } from '../nearSlugs.ts';
import { type SearchStore, searchWith, slugsLike } from '../searchEngine.ts';
import { createSearchStore } from './wordTables.ts';

/** The reading part of `DocumentIndex` on one thread. Every call must run in a snapshot of the database. */
export type SqliteReader = Methods<Exclude<keyof DocumentIndex, 'generation' | 'onDidChange' | 'close'>> & {
  state(): LibraryState;
};

/** Only searches are asynchronous. */
type Methods<Name extends keyof DocumentIndex> = {
  readonly [One in Name]: DocumentIndex[One] extends (...parameters: infer Parameters) => infer Answer
    ? (...parameters: Parameters) => One extends 'search' | 'nearSlugs' ? Answer : Awaited<Answer>
    : never;
};

export function createSqliteReader(database: Database): SqliteReader {
  const storeFor = createSearchStore(database);
  const meta = database.prepare<{ value: string }>('SELECT value FROM meta WHERE name = ?');
  const metaJson = <T>(name: string) => JSON.parse(meta.get(name)?.value ?? '[]') as readonly T[];
  const visible = database.prepare<{ visible: number }>('SELECT visible FROM scopes WHERE name = ?');
  const problems = database.prepare<ContentProblem>(
    'SELECT path, problem AS message FROM files WHERE problem IS NOT NULL ORDER BY path',
  );
  const warned = database.prepare<Pick<FileRow, 'path' | 'warnings'>>(
    'SELECT path, warnings FROM files WHERE warnings IS NOT NULL',
  );
  return {
    ...createListReader(database),
    ...createDocumentReader(database),
    search: (query) => searchWith(storeFor(query.drafts), query),
    terms: createTermReader(database),
    nearSlugs: createNearReader(database, storeFor(false)),
    collections: () =>
      metaJson<CollectionDefinition>('collections').toSorted((one, other) =>
        one.name < other.name ? -1 : 1,
      ),
    summary: () => ({
      documents: visible.get(scopeName({}))?.visible ?? 0,
      problems: [...problems.all(), ...metaJson<ContentProblem>('collectionProblems')],
      warnings: joinWarnings(warned.all(), metaJson<ContentWarning>('linkWarnings')),
      isComplete: meta.get('isComplete') !== undefined,
    }),
    state: () => ({
      indexId: meta.get('indexId')?.value ?? '',
      changes: Number(meta.get('changes')?.value ?? 0),
    }),
  };
}

interface Stored {
  readonly key: number;
  readonly path: string;
  readonly metadata: string;
}

function createDocumentReader(
  database: Database,
): Methods<'lostFiles' | 'read' | 'metadataOf' | 'slugsOf' | 'slugsNamed' | 'changedAt' | 'slugsFrom'> {
  const bySlug = database.prepare<Stored>('SELECT key, path, metadata FROM documents WHERE slug = ?');
  const body = database.prepare<{ body: string }>('SELECT body FROM bodies WHERE key = ?');
  const byPath = database.prepare<{ slug: string }>(
    'SELECT slug FROM documents WHERE path = ? AND NOT draft',
  );
  const byName = database.prepare<{ slug: string }>(
    `SELECT slug FROM documents WHERE (long = ?1 OR short = ?1 OR (own = ?1 AND own <> '')) AND draft <= ?2
     ORDER BY long <> ?1, short <> ?1, CASE WHEN short = ?1 THEN length(path) - length(replace(path, '/', '')) END, path
     LIMIT 1`,
  );
  const changed = database.prepare<{ slug: string; changed: number }>(
    'SELECT slug, changed FROM documents WHERE slug IN (SELECT value FROM json_each(?))',
  );
  const from = database.prepare<{ slug: string }>(
    'SELECT slug FROM documents WHERE slug >= ? AND NOT draft ORDER BY slug LIMIT ?',
  );
  const lost = database.prepare<{ path: string }>(
    `SELECT files.path FROM files LEFT JOIN documents USING (slug)
     WHERE slug IS NOT NULL AND problem IS NULL AND content_hash <> ''
       AND json_extract(metadata, '$.contentHash') IS NOT content_hash ORDER BY files.path`,
  );
  return {
    lostFiles: () => lost.all().map(({ path }) => path),
    read: (slug) => {
      const row = bySlug.get(slug);
      return row && { ...located(row), body: body.get(row.key)?.body ?? '' };
    },
    metadataOf: (slugs) => slugs.flatMap((slug) => bySlug.get(slug) ?? []).map(located),
    slugsOf: (paths) =>
      new Map(paths.flatMap((path) => byPath.all(path).map(({ slug }) => [path, slug] as const))),
    slugsNamed: (names, { drafts }) =>
      new Map(
        names.flatMap((name) => byName.all(name, Number(drafts)).map(({ slug }) => [name, slug] as const)),
      ),
    changedAt: (slugs) =>
      new Map(changed.all(JSON.stringify(slugs)).map(({ slug, changed }) => [slug, changed])),
    slugsFrom: (prefix, limit) =>
      from.all(prefix, limit).flatMap(({ slug }) => (slug.startsWith(prefix) ? [slug] : [])),
  };
}

function located({ path, metadata }: Stored): LocatedMetadata {
  return { ...parseMetadata(metadata), path };
}

function createListReader(database: Database): Methods<'list' | 'select'> {
  const counts = database.prepare<{ scope: number; visible: number; drafts: number }>(
    'SELECT scope, visible, drafts FROM scopes WHERE name = ?',
  );
  const page = (direction: '' | 'DESC') =>
    database.prepare<{ key: number }>(
      `SELECT key FROM listing WHERE scope = ? AND draft <= ?
       ORDER BY rank ${direction}, place ${direction}, slug ${direction} LIMIT ? OFFSET ?`,
    );
  const [fromStart, fromEnd] = [page(''), page('DESC')];
  const byKey = database.prepare<Stored>('SELECT key, path, metadata FROM documents WHERE key = ?');
  const within = `FROM listing JOIN documents USING (key)
    WHERE scope = ? AND listing.draft <= ? AND path >= ? AND path < ? AND changed >= ?`;
  const countWithin = database.prepare<{ total: number }>(`SELECT count(*) AS total ${within}`);
  const pageWithin = database.prepare<Stored>(
    `SELECT key, path, metadata ${within} ORDER BY rank, place, listing.slug LIMIT ? OFFSET ?`,
  );
  /** Visits the whole list: folders and times have no list of their own. */
  const narrowed = (
    scope: number,
    { drafts, folder, changedSince = 0, limit, offset }: ListQuery,
  ): DocumentPage => {
    const asked = [scope, Number(drafts), ...pathRange(folder), changedSince];
    return {
      items: pageWithin.all(...asked, limit, offset).map(located),
      total: countWithin.get(...asked)?.total ?? 0,
    };
  };
  const rows = (keys: readonly { readonly key: number }[]) => keys.flatMap(({ key }) => byKey.get(key) ?? []);
  return {
    list: (query) => {
      const { limit, offset, drafts, ...filter } = query;
      const found = counts.get(scopeName(filter));
      if (found && isNarrowed(query)) return narrowed(found.scope, query);
      const total = found ? found.visible + (drafts ? found.drafts : 0) : 0;
      const taken = Math.max(0, Math.min(limit, total - offset));
      if (!found || taken === 0) return { items: [], total };
      // The second half is read from its end, so that at most half of the list is skipped.
      const isNearer = offset <= total / 2;
      const keys = isNearer
        ? fromStart.all(found.scope, Number(drafts), taken, offset)
        : fromEnd.all(found.scope, Number(drafts), taken, total - offset - taken).reverse();
      return { items: rows(keys).map(located), total };
    },
    select: ({ order, ...filter }) => {
      const found = counts.get(scopeName(filter));
      const keys = found ? fromStart.all(found.scope, 1, -1, 0) : [];
      return inOrder(rows(keys).map(located), order);
    },
  };
}

function createTermReader(database: Database): SqliteReader['terms'] {
  const tags = database.prepare<WrittenTerm>(
    `SELECT json_extract(tag.value, '$.slug') AS slug, json_extract(tag.value, '$.title') AS title, count(*) AS count
     FROM documents, json_each(metadata, '$.tags') AS tag WHERE tag.key < ${maxTags} AND draft <= ? GROUP BY 1, 2`,
  );
  const types = database.prepare<WrittenTerm>(
    `SELECT json_extract(metadata, '$.type') AS slug, json_extract(metadata, '$.type') AS title, count(*) AS count
     FROM documents WHERE json_extract(metadata, '$.type') IS NOT NULL AND draft <= ? GROUP BY 1`,
  );
  return (kind, { drafts }) => joinTerms((kind === 'tag' ? tags : types).all(Number(drafts)));
}

function createNearReader(database: Database, store: SearchStore): SqliteReader['nearSlugs'] {
  const sided = (column: 'slug' | 'reversed') => [
    database.prepare<{ slug: string }>(
      `SELECT slug FROM documents WHERE ${column} >= ? AND NOT draft ORDER BY ${column} LIMIT ${maxNeighbours}`,
    ),
    database.prepare<{ slug: string }>(
      `SELECT slug FROM documents WHERE ${column} < ? AND NOT draft ORDER BY ${column} DESC LIMIT ${maxNeighbours}`,
    ),
  ];
  const [bySlug, byEnd] = [sided('slug'), sided('reversed')];
  return async (slug, limit) => {
    const rows = [
      ...bySlug.flatMap((statement) => statement.all(slug)),
      ...byEnd.flatMap((statement) => statement.all(reversed(slug))),
    ];
    const sharing = await slugsLike(store, slug);
    return nearestSlugs(slug, [...rows.map(({ slug }) => slug), ...sharing], limit);
  };
}
