import type pg from 'pg';
import type { CollectionDefinition } from '../../content/collectionFile.ts';
import type { ContentProblem, ContentWarning } from '../../content/document.ts';
import type { DocumentIndex, LocatedMetadata } from '../documentIndex.ts';
import {
  type FileRow,
  inOrder,
  isNarrowed,
  joinTerms,
  joinWarnings,
  maxTags,
  parseMetadata,
  storable,
  type WrittenTerm,
} from '../documentRecord.ts';
import { maxNeighbours, nearestSlugs, reversed } from '../nearSlugs.ts';
import { searchWith, slugsLike } from '../searchEngine.ts';
import { type ListedRow, readNarrowedPage, readPage, tryFindScope } from './listing.ts';
import { tryReadMeta } from './postgresWriter.ts';
import { createSearchStore } from './wordTables.ts';

/** How the index answers. Each of these must run in a transaction that sees one state. */
export const reader: Reader = {
  search: (client, query) => searchWith(createSearchStore(client, query.drafts), query),

  async list(client, query) {
    const found = await tryFindScope(client, query);
    if (!found) return { items: [], total: 0 };
    if (isNarrowed(query)) {
      const { rows, total } = await readNarrowedPage(client, found, query);
      return { items: rows.map(located), total };
    }
    const rows = await readPage(client, found, query);
    return { items: rows.map(located), total: found.visible + (query.drafts ? found.drafts : 0) };
  },

  async terms(client, kind, { drafts }) {
    const terms =
      kind === 'tag'
        ? `SELECT tag ->> 'slug' AS slug, tag ->> 'title' AS title
         FROM docs_documents CROSS JOIN LATERAL json_array_elements(${safeMetadata} -> 'tags')
         WITH ORDINALITY AS tags (tag, place) WHERE place <= ${maxTags} AND (NOT draft OR $1)`
        : `SELECT ${safeMetadata} ->> 'type' AS slug, ${safeMetadata} ->> 'type' AS title
         FROM docs_documents WHERE NOT draft OR $1`;
    const { rows } = await client.query<WrittenTerm>(
      `SELECT slug, title, count(*)::int AS count FROM (${terms}) AS terms WHERE slug IS NOT NULL GROUP BY slug, title`,
      [drafts],
    );
    return joinTerms(rows);
  },

  async read(client, slug) {
    const { rows } = await client.query<{ path: string; metadata: string; body: string }>(
      'SELECT path, metadata, body FROM docs_documents WHERE slug = $1',
      [storable(slug)],
    );
    const [row] = rows;
    return row && { ...parseMetadata(row.metadata), path: row.path, body: row.body };
  },

  async metadataOf(client, slugs) {
    const { rows } = await client.query<ListedRow>(
      `SELECT path, metadata FROM docs_documents JOIN unnest($1::text[]) WITH ORDINALITY AS asked (slug, place)
     USING (slug) ORDER BY place`,
      [slugs.map(storable)],
    );
    return rows.map(located);
  },

  async select(client, { order, ...filter }) {
    const found = await tryFindScope(client, filter);
    const { rows } = await client.query<ListedRow>(
      'SELECT path, metadata FROM docs_documents JOIN docs_listing USING (slug) WHERE scope = $1',
      [found?.scope ?? 0],
    );
    return inOrder(rows.map(located), order);
  },

  async slugsOf(client, paths) {
    const { rows } = await client.query<{ path: string; slug: string }>(
      'SELECT path, slug FROM docs_documents WHERE path = ANY ($1) AND NOT draft ORDER BY slug',
      [paths.map(storable)],
    );
    return new Map(rows.map(({ path, slug }) => [path, slug]));
  },

  async slugsNamed(client, names, { drafts }) {
    const { rows } = await client.query<{ name: string; slug: string }>(
      `SELECT name, slug FROM unnest($1::text[]) AS asked (name) CROSS JOIN LATERAL (
       SELECT slug FROM docs_documents
       WHERE (long = name OR short = name OR (own = name AND own <> '')) AND draft <= $2
       ORDER BY long <> name, short <> name,
         CASE WHEN short = name THEN length(path) - length(replace(path, '/', '')) END, path COLLATE "C"
       LIMIT 1
     ) AS found`,
      [names.map(storable), drafts],
    );
    return new Map(rows.map(({ name, slug }) => [name, slug]));
  },

  async nearSlugs(client, slug, limit) {
    const wrong = storable(slug);
    const side = (column: string, comparison: string, order: string) =>
      `(SELECT slug FROM docs_documents WHERE ${column} ${comparison} ORDER BY ${column} ${order} LIMIT ${maxNeighbours})`;
    const { rows } = await client.query<{ slug: string }>(
      [
        side('slug', '>= $1 AND NOT draft', ''),
        side('slug', '< $1 AND NOT draft', 'DESC'),
        side('reversed', '>= $2 AND NOT draft', ''),
        side('reversed', '< $2 AND NOT draft', 'DESC'),
      ].join(' UNION ALL '),
      [wrong, reversed(wrong)],
    );
    const sharing = await slugsLike(createSearchStore(client, false), wrong);
    return nearestSlugs(slug, [...rows.map(({ slug }) => slug), ...sharing], limit);
  },

  async changedAt(client, slugs) {
    const { rows } = await client.query<{ slug: string; changed: string }>(
      'SELECT slug, changed FROM docs_documents WHERE slug = ANY ($1)',
      [slugs.map(storable)],
    );
    return new Map(rows.map(({ slug, changed }) => [slug, Number(changed)]));
  },

  async slugsFrom(client, prefix, limit) {
    const { rows } = await client.query<{ slug: string }>(
      'SELECT slug FROM docs_documents WHERE slug >= $1 AND NOT draft ORDER BY slug LIMIT $2',
      [storable(prefix), limit],
    );
    return rows.flatMap(({ slug }) => (slug.startsWith(prefix) ? [slug] : []));
  },

  async collections(client) {
    const collections = await metaOf<CollectionDefinition>(client, 'collections');
    return collections.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  },

  async summary(client) {
    const all = await tryFindScope(client, {});
    const problems = await client.query<ContentProblem>(
      'SELECT path, problem AS message FROM docs_files WHERE problem IS NOT NULL ORDER BY path',
    );
    const warned = await client.query<Pick<FileRow, 'path' | 'warnings'>>(
      'SELECT path, warnings FROM docs_files WHERE warnings IS NOT NULL',
    );
    return {
      documents: all?.visible ?? 0,
      problems: [...problems.rows, ...(await metaOf<ContentProblem>(client, 'collectionProblems'))],
      warnings: joinWarnings(warned.rows, await metaOf<ContentWarning>(client, 'linkWarnings')),
      isComplete: (await tryReadMeta(client, 'isComplete')) !== undefined,
    };
  },

  async lostFiles(client) {
    const { rows } = await client.query<{ path: string }>(
      `SELECT docs_files.path FROM docs_files LEFT JOIN docs_documents USING (slug)
     WHERE slug IS NOT NULL AND problem IS NULL AND content_hash <> ''
       AND ${safeMetadata} ->> 'contentHash' IS DISTINCT FROM content_hash ORDER BY docs_files.path`,
    );
    return rows.map(({ path }) => path);
  },
};

/** The methods of the index that read it, with a connection in front of their parameters. */
type Reader = {
  readonly [Name in Exclude<keyof DocumentIndex, 'generation' | 'onDidChange' | 'close'>]: (
    client: pg.ClientBase,
    ...parameters: Parameters<DocumentIndex[Name]>
  ) => ReturnType<DocumentIndex[Name]>;
};

function located({ path, metadata }: ListedRow): LocatedMetadata {
  return { ...parseMetadata(metadata), path };
}

/** Of the characters that JSON escapes, PostgreSQL takes neither NUL nor half a character. */
const safeMetadata = String.raw`regexp_replace(metadata, '\\u(0000|d[89a-f]..)', '?', 'g')::json`;

async function metaOf<T>(client: pg.ClientBase, name: string): Promise<readonly T[]> {
  return JSON.parse((await tryReadMeta(client, name)) ?? '[]') as readonly T[];
}
