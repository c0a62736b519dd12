import { createHash } from 'node:crypto';
import type {
  ContentWarning,
  Document,
  DocumentMetadata,
  FileDetails,
  FileWarning,
} from '../content/document.ts';
import { pathSlugs } from '../content/slug.ts';
import type { FileLinks } from '../content/writtenLinks.ts';
import type {
  DocumentFilter,
  IndexChanges,
  IndexedFile,
  LocatedMetadata,
  Selection,
  Term,
} from './documentIndex.ts';

/** Further tags of a document are in no list. */
export const maxTags = 200;

export interface ListedDocument {
  readonly slug: string;
  readonly type: string | null;
  /** The slugs of its tags, each once. */
  readonly tags: readonly string[];
  readonly draft: boolean;
  /** Lists begin with the lowest. */
  readonly rank: number;
  /** Orders documents of one rank before their slugs do; empty if the document has a date. */
  readonly place: string;
}

export interface DocumentRecord extends ListedDocument {
  readonly path: string;
  /**
   * The forms of the slug that the path gives, by which the document is found too. `own` is empty if it is the same as
   * `short`.
   */
  readonly own: string;
  readonly short: string;
  readonly long: string;
  /** `DocumentMetadata` in JSON. */
  readonly metadata: string;
  readonly body: string;
}

export function documentToRecord({ path, body, ...metadata }: Document): DocumentRecord {
  const { own, short, long } = pathSlugs(path);
  const stored = { path: storable(path), metadata: JSON.stringify(metadata), body: storable(body) };
  return { ...toListed(metadata), own: own === short ? '' : own, short, long, ...stored };
}

export function toListed(metadata: DocumentMetadata): ListedDocument {
  const { slug, type, draft, date } = metadata;
  const tags = [...new Set(metadata.tags.map((tag) => tag.slug))].slice(0, maxTags);
  return { slug, type, tags, draft, rank: listRank(date), place: placeOf(metadata) };
}

export function parseMetadata(json: string): DocumentMetadata {
  return JSON.parse(json) as DocumentMetadata;
}

/** Documents without a date come after all others. */
const undatedRank = 9e15;

/** Newest first: milliseconds before 1970. */
function listRank(date: string | null): number {
  const instant = tryInstant(date);
  return instant === undefined ? undatedRank : -instant;
}

/** In milliseconds since 1970. A date without a time is midnight UTC; a time without a zone is UTC. */
export function tryInstant(date: string | null): number | undefined {
  if (date === null) return undefined;
  const hasZone = /(?:z|[+-]\d\d:?\d\d)$/i.test(date) || !/\d[t ]\d/i.test(date);
  const instant = Date.parse(hasZone ? date : `${date}Z`);
  return Number.isNaN(instant) ? undefined : instant;
}

/** PostgreSQL cannot store the character 0, and UTF-8 cannot store half characters. */
export function storable(text: string): string {
  return (text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text).replace(/\p{Surrogate}/gu, '\ufffd');
}

/** A file as both engines store it. */
export interface FileRow {
  readonly path: string;
  readonly look: string;
  readonly content_hash: string;
  readonly slug: string | null;
  readonly problem: string | null;
  /** As JSON; null if there are none, so that files with warnings are found fast. */
  readonly warnings: string | null;
  readonly details: string;
}

export function fileToRow({ path, look, contentHash, slug, problem, ...file }: IndexedFile): FileRow {
  const { warnings, links, ...details } = file;
  return {
    path: storable(path),
    look,
    content_hash: contentHash,
    slug: slug && storable(slug),
    problem: problem && storable(problem),
    warnings: warnings.length === 0 ? null : JSON.stringify(warnings),
    details: JSON.stringify({ ...links, ...details }),
  };
}

export function rowToFile({ content_hash, warnings, details, ...row }: FileRow): IndexedFile {
  // Only this program writes the columns.
  const { anchors, links, ...more } = JSON.parse(details) as Partial<FileLinks> & Omit<FileDetails, 'links'>;
  const known = anchors && links ? { ...more, links: { anchors, links } } : more;
  return { ...row, contentHash: content_hash, warnings: parseWarnings(warnings), ...known };
}

function parseWarnings(json: string | null): readonly FileWarning[] {
  return json === null ? [] : (JSON.parse(json) as FileWarning[]);
}

export type FileRemarks = Pick<FileRow, 'path' | 'problem' | 'warnings'>;

/** Whether readers can see a difference. A file that is not there has no remarks. */
export function isOther(one: FileRemarks | undefined, other: FileRemarks | undefined): boolean {
  const remarks = (row?: FileRemarks) => JSON.stringify([row?.problem ?? null, row?.warnings ?? null]);
  return remarks(one) !== remarks(other);
}

/** What else changes, by the names under which both engines store it as JSON. */
export function metaOf(changes: Omit<IndexChanges, 'put'>) {
  const { collections, collectionProblems, linkWarnings, reading, isComplete } = changes;
  return Object.entries({ collections, collectionProblems, linkWarnings, reading, isComplete }).flatMap(
    ([name, value]) => (value === undefined ? [] : [[name, JSON.stringify(value)] as const]),
  );
}

/** All warnings of the library, by path and line: those of single files, and those that depend on other files. */
export function joinWarnings(
  files: readonly Pick<FileRow, 'path' | 'warnings'>[],
  links: readonly ContentWarning[],
): readonly ContentWarning[] {
  const ofFiles = files.flatMap(({ path, warnings }) =>
    parseWarnings(warnings).map((warning) => ({ path, ...warning })),
  );
  return [...ofFiles, ...links].sort((one, other) => {
    if (one.path !== other.path) return one.path < other.path ? -1 : 1;
    return one.line - other.line;
  });
}

/** Orders documents. Those without a date are last in either order of dates, by title; equal ones are by slug. */
export function inOrder(
  documents: readonly LocatedMetadata[],
  order: Selection['order'],
): readonly LocatedMetadata[] {
  const rankOf = ({ date }: LocatedMetadata) => {
    const rank = listRank(date);
    return order === '-date' || rank === undatedRank ? rank : -rank;
  };
  const keyed = documents.map((document) => ({
    document,
    rank: order === 'title' ? 0 : rankOf(document),
    place: Buffer.from(order === 'title' ? titleKey(document.title) : placeOf(document)),
    slug: Buffer.from(document.slug),
  }));
  return keyed
    .sort(
      (one, other) =>
        one.rank - other.rank ||
        Buffer.compare(one.place, other.place) ||
        Buffer.compare(one.slug, other.slug),
    )
    .map(({ document }) => document);
}

/** Of all dates of the documents, as their authors wrote it; null if there is none. */
export function newestDate(documents: readonly LocatedMetadata[]): string | null {
  const dates = documents.flatMap(({ date, updated }) => [date, updated]);
  return dates.reduce((newest, date) => (listRank(date) < listRank(newest) ? date : newest), null);
}

function placeOf({ date, title }: Pick<DocumentMetadata, 'date' | 'title'>): string {
  return listRank(date) === undatedRank ? titleKey(title) : '';
}

/**
 * Text whose bytes ascend as a person sorts titles: by letters without their accents and by the value of numbers; signs
 * only separate words. It depends on no locale, so every engine and every version of Node gives the same order.
 */
function titleKey(title: string): string {
  const letters = title
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase();
  const words = letters.replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ').trim();
  return storable(words.replace(/\d+/g, numberKey).slice(0, 100));
}

/** A number with more digits comes later. */
function numberKey(digits: string): string {
  const number = digits.replace(/^0+(?=\d)/, '');
  return String(number.length).padStart(3, '0') + number;
}

/** Of the documents with one tag, or one type: how many write its title in this way. */
export interface WrittenTerm {
  readonly slug: string;
  readonly title: string;
  readonly count: number;
}

/** The most used first, each with the title that most documents give it. */
export function joinTerms(written: readonly WrittenTerm[]): readonly Term[] {
  const terms = new Map<string, Term>();
  for (const { slug, title, count } of written.toSorted(byUse)) {
    const known = terms.get(slug);
    terms.set(slug, { slug, title: known?.title ?? title, count: (known?.count ?? 0) + count });
  }
  return [...terms.values()].sort(byUse);
}

function byUse(one: WrittenTerm, other: WrittenTerm): number {
  const keyOf = ({ title, slug }: WrittenTerm) => Buffer.from(`${titleKey(title)}\n${slug}\n${title}`);
  return other.count - one.count || Buffer.compare(keyOf(one), keyOf(other));
}

/** Whether a document has the type and the tag of a filter. */
export function isOfKind(
  document: DocumentMetadata,
  { type, tag }: Pick<DocumentFilter, 'type' | 'tag'>,
): boolean {
  const hasTag = tag === undefined || document.tags.some(({ slug }) => slug === tag);
  return hasTag && (type === undefined || document.type === type);
}

/** Whether a filter has a part for which no list is kept. */
export function isNarrowed({ folder, changedSince }: DocumentFilter): boolean {
  return folder !== undefined || changedSince !== undefined;
}

/** The paths below a folder, as a range: from the first one, up to but without the second. */
export function pathRange(folder: string | undefined): readonly [from: string, to: string] {
  // The sign after the slash.
  return folder === undefined ? ['', '\u{10ffff}'] : [folder, `${folder.slice(0, -1)}0`];
}

/** The entry of a document in one of the lists, by the name of the list. */
export interface ListEntry extends Pick<ListedDocument, 'slug' | 'draft' | 'rank' | 'place'> {
  readonly name: string;
}

/** In the list of all documents, in those of its type and its tags, and in those of its type with each tag. */
export function listEntries({ type, tags, ...entry }: ListedDocument): readonly ListEntry[] {
  const types = type === null ? [{}] : [{}, { type }];
  const filters = types.flatMap((typed) => [typed, ...tags.map((tag) => ({ ...typed, tag }))]);
  return filters.map((filter) => ({ ...entry, name: scopeName(filter) }));
}

/** The list that a filter asks for. Drafts are in it too. A type may be longer than a key of PostgreSQL may be. */
export function scopeName({ type, tag }: Pick<DocumentFilter, 'type' | 'tag'>): string {
  const name = JSON.stringify([type ?? null, tag ?? null]);
  return createHash('sha256').update(name).digest('base64url').slice(0, 22);
}
