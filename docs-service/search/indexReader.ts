import type { CollectionDefinition } from '../content/collectionFile.ts';
import type { ContentProblem, ContentWarning, Document } from '../content/document.ts';
import type {
  DocumentFilter,
  DocumentPage,
  IndexSummary,
  ListQuery,
  LocatedMetadata,
  Queries,
  SearchPage,
  SearchQuery,
  Selection,
  Term,
} from './documentIndex.ts';
import {
  type FileRow,
  inOrder,
  isNarrowed,
  joinTerms,
  joinWarnings,
  parseMetadata,
  pathRange,
  scopeName,
  storable,
  type WrittenTerm,
} from './documentRecord.ts';
import { type IndexDatabase, readMeta } from './indexDatabase.ts';
import { maxNeighbours, nearestSlugs, reversed } from './nearSlugs.ts';
import { searchWith, slugsLike } from './searchEngine.ts';
import { type KeptStatistics, SearchStore } from './searchStore.ts';

interface DocumentRow {
  readonly path: string;
  readonly metadata: string;
}

interface Scope {
  readonly scope: number;
  readonly visible: number;
  readonly drafts: number;
}

export class IndexReader implements Queries {
  readonly #database: IndexDatabase;
  readonly #kept: KeptStatistics;

  constructor(database: IndexDatabase, kept: KeptStatistics = new Map()) {
    [this.#database, this.#kept] = [database, kept];
  }

  search(query: SearchQuery): Promise<SearchPage> {
    return searchWith(new SearchStore(this.#database, this.#kept, query.drafts), query);
  }

  async list(query: ListQuery): Promise<DocumentPage> {
    const found = await this.#scope(query);
    if (!found) return { items: [], total: 0 };
    if (isNarrowed(query)) return this.#narrowed(found.scope, query);
    const { limit, offset, drafts } = query;
    const total = found.visible + (drafts ? found.drafts : 0);
    const taken = Math.max(0, Math.min(limit, total - offset));
    if (taken === 0) return { items: [], total };
    // The second half is read from its end, so that at most half of the list is skipped.
    const isNearer = offset <= total / 2;
    const order = isNearer ? '' : 'DESC';
    const rows = await this.#database.rows<DocumentRow>(
      `SELECT path, metadata FROM (
         SELECT key, rank, place, slug FROM docs_listing WHERE scope = ? AND draft <= ?
         ORDER BY rank ${order}, place ${order}, slug ${order} LIMIT ? OFFSET ?
       ) AS page JOIN docs_documents USING (key) ORDER BY page.rank, page.place, page.slug`,
      ...[found.scope, drafts, taken, isNearer ? offset : total - offset - taken],
    );
    return { items: rows.map(located), total };
  }

  /** Visits the whole list: folders and times have no list of their own. */
  async #narrowed(
    scope: number,
    { drafts, folder, changedSince = 0, limit, offset }: ListQuery,
  ): Promise<DocumentPage> {
    const within = `FROM docs_listing JOIN docs_documents USING (key)
      WHERE scope = ? AND docs_listing.draft <= ? AND path >= ? AND path < ? AND changed >= ?`;
    const paths = pathRange(folder === undefined ? folder : storable(folder));
    const asked = [scope, drafts, ...paths, changedSince] as const;
    const counting = `SELECT count(*) AS total ${within}`;
    const [counted] = await this.#database.rows<{ total: number }>(counting, ...asked);
    const rows = await this.#database.rows<DocumentRow>(
      `SELECT path, metadata ${within} ORDER BY rank, place, docs_listing.slug LIMIT ? OFFSET ?`,
      ...[...asked, limit, offset],
    );
    return { items: rows.map(located), total: counted?.total ?? 0 };
  }

  /** The list that a filter asks for, if any document was ever in it. */
  async #scope(filter: Pick<DocumentFilter, 'type' | 'tag'>): Promise<Scope | undefined> {
    const statement = 'SELECT scope, visible, drafts FROM docs_scopes WHERE name = ?';
    return (await this.#database.rows<Scope>(statement, scopeName(filter)))[0];
  }

  async select({ order, ...filter }: Selection): Promise<readonly LocatedMetadata[]> {
    const found = await this.#scope(filter);
    const rows = await this.#database.rows<DocumentRow>(
      'SELECT path, metadata FROM docs_listing JOIN docs_documents USING (key) WHERE scope = ?',
      found?.scope ?? 0,
    );
    return inOrder(rows.map(located), order);
  }

  async read(slug: string): Promise<Document | undefined> {
    const [row] = await this.#database.rows<DocumentRow & { readonly body: string }>(
      'SELECT path, metadata, body FROM docs_documents JOIN docs_bodies USING (key) WHERE slug = ?',
      storable(slug),
    );
    return row && { ...located(row), body: row.body };
  }

  async metadataOf(slugs: readonly string[]): Promise<readonly LocatedMetadata[]> {
    const rows = await this.#database.rows<DocumentRow & { readonly slug: string }>(
      `SELECT slug, path, metadata FROM docs_documents WHERE ${this.#database.dialect.any('slug')}`,
      slugs.map(storable),
    );
    const bySlug = new Map(rows.map((row) => [row.slug, row]));
    return slugs.flatMap((slug) => bySlug.get(storable(slug)) ?? []).map(located);
  }

  async slugsOf(paths: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const rows = await this.#database.rows<{ path: string; slug: string }>(
      `SELECT path, slug FROM docs_documents WHERE ${this.#database.dialect.any('path')} AND draft <= ? ORDER BY slug`,
      ...[paths.map(storable), false],
    );
    return new Map(rows.map(({ path, slug }) => [path, slug]));
  }

  async slugsNamed(
    names: readonly string[],
    { drafts }: { readonly drafts: boolean },
  ): Promise<ReadonlyMap<string, string>> {
    const slugs = new Map<string, string>();
    for (const written of names) {
      const name = storable(written);
      const [found] = await this.#database.rows<{ slug: string }>(
        `SELECT slug FROM docs_documents WHERE (long = ? OR short = ? OR (own = ? AND own <> '')) AND draft <= ?
         ORDER BY long <> ?, short <> ?,
           CASE WHEN short = ? THEN length(path) - length(replace(path, '/', '')) END, path LIMIT 1`,
        ...[name, name, name, drafts, name, name, name],
      );
      if (found) slugs.set(written, found.slug);
    }
    return slugs;
  }

  async changedAt(slugs: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#database.rows<{ slug: string; changed: number }>(
      `SELECT slug, changed FROM docs_documents WHERE ${this.#database.dialect.any('slug')}`,
      slugs.map(storable),
    );
    return new Map(rows.map(({ slug, changed }) => [slug, changed]));
  }

  async nearSlugs(slug: string, limit: number): Promise<readonly string[]> {
    const wrong = storable(slug);
    const near: string[] = [];
    for (const [column, value] of Object.entries({ slug: wrong, reversed: reversed(wrong) }))
      for (const [comparison, order] of Object.entries({ '>=': '', '<': 'DESC' })) {
        const rows = await this.#database.rows<{ slug: string }>(
          `SELECT slug FROM docs_documents WHERE ${column} ${comparison} ? AND draft <= ?
           ORDER BY ${column} ${order} LIMIT ${maxNeighbours}`,
          ...[value, false],
        );
        near.push(...rows.map((row) => row.slug));
      }
    const sharing = await slugsLike(new SearchStore(this.#database, this.#kept, false), wrong);
    return nearestSlugs(slug, [...near, ...sharing], limit);
  }

  async slugsFrom(prefix: string, limit: number): Promise<readonly string[]> {
    const rows = await this.#database.rows<{ slug: string }>(
      'SELECT slug FROM docs_documents WHERE slug >= ? AND draft <= ? ORDER BY slug LIMIT ?',
      ...[storable(prefix), false, limit],
    );
    return rows.flatMap(({ slug }) => (slug.startsWith(prefix) ? [slug] : []));
  }

  async terms(kind: 'tag' | 'type', { drafts }: { readonly drafts: boolean }): Promise<readonly Term[]> {
    const { tags, metadata } = this.#database.dialect;
    const types = `SELECT ${metadata('type')} AS slug, ${metadata('type')} AS title, draft FROM docs_documents`;
    const rows = await this.#database.rows<WrittenTerm>(
      `SELECT slug, title, count(*) AS count FROM (${kind === 'tag' ? tags : types}) AS terms
       WHERE slug IS NOT NULL AND draft <= ? GROUP BY slug, title`,
      drafts,
    );
    return joinTerms(rows);
  }

  async collections(): Promise<readonly CollectionDefinition[]> {
    const collections = await this.#metaList<CollectionDefinition>('collections');
    return collections.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  }

  async summary(): Promise<IndexSummary> {
    const problems = await this.#database.rows<ContentProblem>(
      'SELECT path, problem AS message FROM docs_files WHERE problem IS NOT NULL ORDER BY path',
    );
    const warned = await this.#database.rows<Pick<FileRow, 'path' | 'warnings'>>(
      'SELECT path, warnings FROM docs_files WHERE warnings IS NOT NULL',
    );
    return {
      documents: (await this.#scope({}))?.visible ?? 0,
      problems: [...problems, ...(await this.#metaList<ContentProblem>('collectionProblems'))],
      warnings: joinWarnings(warned, await this.#metaList<ContentWarning>('linkWarnings')),
      isComplete: (await readMeta(this.#database, 'isComplete')) !== undefined,
    };
  }

  async lostFiles(): Promise<readonly string[]> {
    const rows = await this.#database.rows<{ path: string; hash: string; metadata: string | null }>(
      `SELECT docs_files.path, content_hash AS hash, metadata FROM docs_files LEFT JOIN docs_documents USING (slug)
       WHERE slug IS NOT NULL AND problem IS NULL AND content_hash <> '' ORDER BY docs_files.path`,
    );
    return rows.flatMap(({ path, hash, metadata }) =>
      metadata !== null && parseMetadata(metadata).contentHash === hash ? [] : [path],
    );
  }

  async #metaList<T>(name: string): Promise<readonly T[]> {
    return JSON.parse((await readMeta(this.#database, name)) ?? '[]') as readonly T[];
  }
}

function located({ path, metadata }: DocumentRow): LocatedMetadata {
  return { ...parseMetadata(metadata), path };
}
