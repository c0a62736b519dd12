import type { ContentWarning, Document, DocumentMetadata, FileWarning } from '../content/document.ts';
import { tryPathSlugs } from '../content/slug.ts';
import type { FileLinks } from '../content/writtenLinks.ts';
import type { DocumentFilter, LocatedMetadata, Selection } from './documentIndex.ts';
import { maxTags } from './documentTokens.ts';

/** A document as both engines store it. */
export interface DocumentRecord {
  readonly slug: string;
  readonly path: string;
  /**
   * The forms of the slug that the path gives, by which the document is found too; empty if it gives none. `own` is
   * also empty if it is the same as `short`.
   */
  readonly own: string;
  readonly short: string;
  readonly long: string;
  /** `DocumentMetadata` in JSON. */
  readonly metadata: string;
  readonly body: string;
  readonly type: string | null;
  /** The slugs of its tags, each once. */
  readonly tags: readonly string[];
  readonly draft: boolean;
  /** Lists begin with the lowest. */
  readonly rank: number;
}

export function documentToRecord({ path, body, ...metadata }: Document): DocumentRecord {
  const { own, short, long } = tryPathSlugs(path) ?? { own: '', short: '', long: '' };
  return {
    slug: metadata.slug,
    path: storable(path),
    own: own === short ? '' : own,
    short,
    long,
    metadata: JSON.stringify(metadata),
    body: storable(body),
    type: metadata.type,
    tags: [...new Set(metadata.tags.map(({ slug }) => slug))].slice(0, maxTags),
    draft: metadata.draft,
    rank: listRank(metadata.date),
  };
}

export function parseMetadata(json: string): DocumentMetadata {
  return JSON.parse(json) as DocumentMetadata;
}

/** Documents without a date come after all others. */
const undatedRank = 9e15;

/** Newest first: milliseconds before 1970. A date without a time is midnight UTC; a time without a zone is UTC. */
function listRank(date: string | null): number {
  if (date === null) return undatedRank;
  const hasZone = /(?:z|[+-]\d\d:?\d\d)$/i.test(date) || !/\d[t ]\d/i.test(date);
  const instant = Date.parse(hasZone ? date : `${date}Z`);
  return Number.isNaN(instant) ? undatedRank : -instant;
}

/** PostgreSQL cannot store the character 0, and UTF-8 cannot store half characters. */
export function storable(text: string): string {
  return (text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text).replace(/\p{Surrogate}/gu, '\ufffd');
}

/** A file with its warnings as JSON, as both engines store them. */
export interface WarnedFile {
  readonly path: string;
  readonly warnings: string;
}

/** Null if there are none, so that files with warnings are found fast. */
export function warningsToJson(warnings: readonly FileWarning[]): string | null {
  return warnings.length === 0 ? null : JSON.stringify(warnings);
}

export function parseWarnings(json: string | null): readonly FileWarning[] {
  // Only this program writes the column.
  return json === null ? [] : (JSON.parse(json) as FileWarning[]);
}

/** Null if the file has none. */
export function linksToJson(links: FileLinks | undefined): string | null {
  return links === undefined ? null : JSON.stringify(links);
}

export function parseLinks(json: string | null): { readonly links?: FileLinks } {
  // Only this program writes the column.
  return json === null ? {} : { links: JSON.parse(json) as FileLinks };
}

/** All warnings of the library, by path and line: those of single files, and those that depend on other files. */
export function joinWarnings(
  files: readonly WarnedFile[],
  links: readonly ContentWarning[],
): readonly ContentWarning[] {
  const ofFiles = files.flatMap(({ path, warnings }) =>
    parseWarnings(warnings).map((warning) => ({ path, ...warning })),
  );
  return [...ofFiles, ...links].sort(byPlace);
}

function byPlace(one: ContentWarning, other: ContentWarning): number {
  if (one.path !== other.path) return one.path < other.path ? -1 : 1;
  return one.line - other.line;
}

/** Orders documents. Those without a date are last in either order of dates, and equal ones are ordered by slug. */
export function inOrder(
  documents: readonly LocatedMetadata[],
  order: Selection['order'],
): readonly LocatedMetadata[] {
  if (order === '-date')
    return bySlug(documents).sort((one, other) => listRank(one.date) - listRank(other.date));
  if (order === 'title') {
    const { compare } = new Intl.Collator('en', { numeric: true });
    return bySlug(documents).sort((one, other) => compare(one.title, other.title));
  }
  return bySlug(documents).sort((one, other) => oldestFirst(one) - oldestFirst(other));
}

function oldestFirst({ date }: LocatedMetadata): number {
  const rank = listRank(date);
  return rank === undatedRank ? undatedRank : -rank;
}

function bySlug(documents: readonly LocatedMetadata[]): LocatedMetadata[] {
  const keyed = documents.map((document) => ({ document, key: Buffer.from(document.slug) }));
  return keyed.sort((one, other) => Buffer.compare(one.key, other.key)).map(({ document }) => document);
}

/** The lists that a document is in: all of them, those of its type, of its tags, and of its type with each tag. */
export function scopeNames({ type, tags }: ScopedDocument): string[] {
  const types = type === null ? [{}] : [{}, { type }];
  return types.flatMap((typed) => [scopeName(typed), ...tags.map((tag) => scopeName({ ...typed, tag }))]);
}

interface ScopedDocument {
  readonly type: string | null;
  readonly tags: readonly string[];
}

/** The list that a filter asks for. Drafts are in it too. */
export function scopeName({ type, tag }: Pick<DocumentFilter, 'type' | 'tag'>): string {
  return JSON.stringify([type ?? null, tag ?? null]);
}
