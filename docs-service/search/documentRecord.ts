import type { Document, DocumentMetadata } from '../content/document.ts';
import { tryPathSlugs } from '../content/pathSlugs.ts';
import { mostTags } from './documentTokens.ts';

/** A document as both engines store it. */
export interface DocumentRecord {
  readonly slug: string;
  readonly path: string;
  /**
   * The forms of the slug that the path gives, by which the document is found too; empty if it gives none. `own` is also
   * empty if it is the same as `short`.
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
    tags: [...new Set(metadata.tags.map(({ slug }) => slug))].slice(0, mostTags),
    draft: metadata.draft,
    rank: listRank(metadata.date),
  };
}

export function parseMetadata(json: string): DocumentMetadata {
  return JSON.parse(json) as DocumentMetadata;
}

/** Documents without a date come after all others. */
export const undatedRank = 9e15;

/** Newest first: milliseconds before 1970. A date without a time is midnight UTC; a time without a zone is UTC. */
export function listRank(date: string | null): number {
  if (date === null) return undatedRank;
  const hasZone = /(?:z|[+-]\d\d:?\d\d)$/i.test(date) || !/\d[t ]\d/i.test(date);
  const instant = Date.parse(hasZone ? date : `${date}Z`);
  return Number.isNaN(instant) ? undatedRank : -instant;
}

/** PostgreSQL cannot store the character 0, and UTF-8 cannot store half characters. */
export function storable(text: string): string {
  return (text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text).replace(/\p{Surrogate}/gu, '\ufffd');
}
