import { createHash } from 'node:crypto';
import { basename, extname } from 'node:path/posix';
import type * as z from 'zod';
import { ContentError } from '../../protocol/base/contentError.ts';
import { isRecord } from '../../protocol/base/json.ts';
import type { Document, FileDetails, FileWarning, Tag } from './document.ts';
import { cascadesDraft, type DraftOptions, isDated, readDraftState } from './drafts.ts';
import { author, contentPath, description, language, text, title } from './fields.ts';
import { type FoundValue, type FrontMatter, readFrontMatter } from './frontMatter.ts';
import { tryFirstHeading } from './headings.ts';
import { isSlug, pathSlugs, trySlug } from './slug.ts';
import { type FileLinks, findWrittenLinks } from './writtenLinks.ts';
import { type Reading, readDate } from './writtenValue.ts';

/** In characters: a later heading is not the title. */
const farthestHeading = 65_536;

/** So many say enough. */
const maxWarnings = 20;

export interface ParsedDocument extends FileDetails {
  /** Its slug is only a proposal if the front matter names none. */
  readonly document: Document;
  readonly links: FileLinks;
  /** In the order of their lines. */
  readonly warnings: readonly FileWarning[];
}

/** Reads a Markdown file. `path` is relative to the content folder. Throws ContentError if it is not UTF-8. */
export function parseDocumentFile(path: string, bytes: Uint8Array, options: DraftOptions): ParsedDocument {
  const frontMatter = readFrontMatter(decodeUtf8(bytes));
  const { body, bodyLine, find, lineOf } = frontMatter;
  const warnings: FileWarning[] = [];
  const warn: Warn = (key, message) => warnings.push({ line: lineOf(key), message: `"${key}" ${message}` });
  const take = <Value>({ keys, read }: Field<Value>, found = find(keys)) => tryFirst(found, read, warn);
  const dates = datesOf(path, frontMatter);
  const state = readDraftState(frontMatter, { path, dates }, options);
  const { slug = pathSlugs(path).short, isNamed = false } = take(fields.slug) ?? {};
  const document = {
    path,
    body,
    slug,
    title:
      take(fields.title) ?? tryFirstHeading(body.slice(0, farthestHeading)) ?? basename(path, extname(path)),
    type: take(fields.type) ?? null,
    tags: tagsOf(path, find(tagKeys), warn),
    date: take(fields.date, dates) ?? null,
    updated: take(fields.updated) ?? null,
    lang: take(fields.lang) ?? null,
    authors: take(fields.authors) ?? [],
    description: take(fields.description) ?? null,
    cover: take(fields.cover) ?? null,
    draft: state.draft,
    contentHash: createHash('sha256').update(bytes).digest('hex'),
  };
  return {
    document,
    warnings: [...frontMatter.warnings, ...warnings, ...state.warnings]
      .sort((one, other) => one.line - other.line)
      .slice(0, maxWarnings),
    links: findWrittenLinks(path, body, bodyLine),
    ...(isNamed ? { named: { slug, line: lineOf('slug') } } : {}),
    ...(state.due === undefined ? {} : { due: state.due }),
    ...(basename(path) === '_index.md' && cascadesDraft(frontMatter) ? { cascades: true } : {}),
  };
}

/** The text of a file, with its byte order mark if it has one. */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new ContentError('The file is not valid UTF-8. Save it with the encoding UTF-8.', { cause });
  }
}

type Warn = (key: string, message: string) => void;

/** What a field of a document is read from: the first of these keys that has a usable value. */
interface Field<Value> {
  readonly keys: readonly string[];
  readonly read: (written: unknown) => Reading<Value>;
}

function tryFirst<Value>(
  found: readonly FoundValue[],
  read: Field<Value>['read'],
  warn: Warn,
): Value | undefined {
  for (const { key, value } of found) {
    if (value === '') continue;
    const reading = read(value);
    if (!('problem' in reading)) {
      if (reading.warning !== undefined) warn(key, reading.warning);
      return reading.value;
    }
    // Templates leave keys empty, and switch things off with "false".
    if (typeof value !== 'boolean') warn(key, `was left out: it ${reading.problem}.`);
  }
  return undefined;
}

/** A tag or a type. */
const term = text(100);

const fields = {
  title: { keys: ['title'], read: valid(title) },
  slug: { keys: ['slug'], read: readSlug },
  type: { keys: ['type'], read: valid(term) },
  date: {
    keys: ['date', 'publishDate', 'pubDate', 'published', 'created'],
    read: readDate,
  },
  updated: {
    keys: [
      ...['updated', 'lastmod', 'modified', 'last_modified_at', 'last_updated', 'last_update.date'],
      'date-modified',
    ],
    read: readDate,
  },
  authors: { keys: ['authors', 'author', 'by'], read: readAuthors },
  description: {
    keys: ['description', 'summary', 'excerpt', 'abstract', 'subtitle'],
    read: valid(description),
  },
  lang: { keys: ['lang', 'language', 'locale'], read: valid(language) },
  cover: { keys: ['cover', 'image', 'thumbnail'], read: valid(contentPath) },
} as const;

/** The tags of all these keys count. */
const tagKeys = ['tags', 'tag', 'categories', 'category', 'taxonomies.tags'];

function valid<Value>(schema: z.ZodType<Value>): Field<Value>['read'] {
  return (written) => {
    const { success, data, error } = schema.safeParse(written);
    return success ? { value: data } : { problem: error.issues[0]?.message ?? 'cannot be used' };
  };
}

function readSlug(written: unknown): Reading<{ readonly slug: string; readonly isNamed: boolean }> {
  const whole = typeof written === 'string' ? written.trim() : '';
  if (isSlug(whole)) return { value: { slug: whole, isNamed: true } };
  const slug = trySlug(whole.split('/').findLast((part) => part.trim() !== '') ?? '');
  if (slug === undefined) return { problem: 'must have a letter or a digit' };
  const warning = `is no slug. The document has "${slug}" instead, unless another one has it: write "slug: ${slug}".`;
  return { value: { slug, isNamed: false }, warning };
}

/** At most 100 names. Each is a text, or has a name. */
function readAuthors(written: unknown): Reading<readonly string[]> {
  const names = (Array.isArray(written) ? written : [written]).slice(0, 100).flatMap((one: unknown) => {
    const named = isRecord(one) ? (one['name'] ?? one['title'] ?? one['email']) : one;
    const read = author.safeParse(named);
    return read.success ? [read.data] : [];
  });
  return names.length > 0 ? { value: names } : { problem: 'must be names of at most 200 characters' };
}

/** When the document is published; the name of the file may say so too. */
function datesOf(path: string, { find }: FrontMatter): readonly FoundValue[] {
  const written = find(fields.date.keys).filter(({ key, value }) => key !== 'published' || isDated(value));
  const [inName = ''] = /^\d{4}-\d{2}-\d{2}(?=-)/.exec(basename(path)) ?? [];
  const isNeeded = 'value' in readDate(inName) && !written.some(({ value }) => 'value' in readDate(value));
  return isNeeded ? [...written, { key: 'date', value: inName }] : written;
}

function tagsOf(path: string, found: readonly FoundValue[], warn: Warn): readonly Tag[] {
  // Jekyll splits the texts of its posts at spaces.
  const separator = path.split('/').includes('_posts') ? /[\s,]+/ : ',';
  const tags = new Map<string, Tag>();
  for (const { key, value } of found) {
    const written: readonly unknown[] = Array.isArray(value)
      ? value
      : typeof value === 'string'
        ? value.split(separator).filter((part) => part.trim() !== '')
        : [value];
    for (const one of written) {
      const tag = tryTag(one);
      if (tag === undefined)
        warn(key, `was read without ${JSON.stringify(one).slice(0, 50)}, which is no tag.`);
      else if (tags.size < 100 && !tags.has(tag.slug)) tags.set(tag.slug, tag);
    }
  }
  return [...tags.values()];
}

/** A text, or a map with "slug", "title" or "label". */
function tryTag(written: unknown): Tag | undefined {
  const { slug, title, label }: Readonly<Record<string, unknown>> = isRecord(written)
    ? written
    : { title: written };
  const read = term.safeParse(title ?? label ?? slug);
  const made = typeof slug === 'string' && isSlug(slug) ? slug : trySlug(read.data ?? '');
  return read.success && made !== undefined ? { slug: made, title: read.data } : undefined;
}
