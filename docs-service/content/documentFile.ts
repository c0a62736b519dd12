import { createHash } from 'node:crypto';
import { basename } from 'node:path/posix';
import type * as z from 'zod';
import { isRecord, withoutUndefined } from '../../protocol/base/json.ts';
import { ContentError } from '../../protocol/base/yaml.ts';
import { toCanonicalText } from './dialects/canonicalText.ts';
import type { TreeMarks } from './dialects/dialect.ts';
import type { IncludeFile } from './dialects/includes.ts';
import type { Document, FileDetails, FileWarning, ListedPlace, Tag, WarningKind } from './document.ts';
import { cascadesDraft, type DraftOptions, isDated, readDraftState } from './drafts.ts';
import {
  author,
  contentPath,
  description,
  language,
  readDate,
  text,
  title,
  type ValueReading,
} from './fields.ts';
import { type FoundValue, type FrontMatter, readFrontMatter } from './frontMatter.ts';
import { plainTitle, titlesIn } from './headings.ts';
import { pagesInToctrees } from './navigation.ts';
import { documentEnding, isSlug, nameNumber, pathSlugs, readableName, trySlug } from './slug.ts';
import { type FileLinks, findWrittenLinks } from './writtenLinks.ts';

/** In characters: a later heading is not the title. */
const farthestHeading = 65_536;

/** So many say enough. */
const maxWarnings = 20;

export interface ParsedDocument extends FileDetails {
  readonly document: Document;
  readonly links: FileLinks;
  readonly warnings: readonly FileWarning[];
}

/** What a file is read with besides its bytes. */
export interface ReadingOptions extends DraftOptions {
  /** What the content folder says about the program of its files. */
  readonly tree?: TreeMarks | undefined;
  readonly include?: IncludeFile | undefined;
  /** The title of the whole library, for the page of its folder. */
  readonly libraryTitle?: string | undefined;
  /** Whether its second heading is its title, because many documents have the first one. */
  readonly isRetitled?: boolean;
  /** What lists of its program say about it and its folder. */
  readonly listed?: ListedPlace & Pick<Document, 'folder'>;
}

/** Reads a Markdown file. `path` is relative to the content folder. Throws ContentError if it is not UTF-8. */
export function parseDocumentFile(path: string, bytes: Uint8Array, options: ReadingOptions): ParsedDocument {
  const frontMatter = readFrontMatter(decodeUtf8(bytes));
  const { find, lineOf } = frontMatter;
  const warnings: FileWarning[] = frontMatter.warnings.map((one) => ({ ...one, kind: 'front-matter' }));
  const warn: Warn = (key, message, kind = 'value') =>
    warnings.push({ kind, line: lineOf(key), message: `"${key}" ${message}`, about: key });
  const take = <Value>({ keys, read }: Field<Value>, found = find(keys)) => tryFirst(found, read, warn);
  const dates = datesOf(path, frontMatter);
  const state = readDraftState(frontMatter, { path, dates }, options);
  const { slug = pathSlugs(path).short, isNamed = false } = take(fields.slug) ?? {};
  const read = readText(path, frontMatter, take(fields.title), options);
  const { named, text: body, prose, dialect } = read;
  const titles = titlesIn(body.slice(0, farthestHeading));
  const [heading, nextHeading] = titles;
  const isRetitled = options.isRetitled === true && named === undefined && nextHeading !== undefined;
  const sourceHash = hashOf(bytes);
  const order = take(fields.order) ?? nameNumber(path);
  const isOwn = body === frontMatter.body && !isRetitled;
  const isHidden =
    says(find(hiddenKeys), true) || find(['sidebar_class_name']).some(({ value }) => value === 'hidden');
  const document = withoutUndefined<Document>({
    ...{ path, body, slug },
    title: named ?? (isRetitled ? nextHeading : heading) ?? readableName(path, options.libraryTitle),
    ...options.listed,
    label: options.listed?.label ?? take(fields.label),
    order: order === noOrder ? undefined : order,
    hidden: options.listed?.hidden || isHidden || undefined,
    aliases: unlessEmpty(aliasesOf(find, isNamed)),
    targets: unlessEmpty([...dialect.targets].slice(0, maxTargets)),
    type: take(fields.type) ?? null,
    tags: tagsOf(path, [...find(tagKeys), { key: 'tags', value: [...dialect.tags] }], warn),
    date: take(fields.date, dates) ?? null,
    updated: take(fields.updated) ?? null,
    lang: take(fields.lang) ?? nameLanguage(path, options.tree) ?? null,
    authors: take(fields.authors) ?? [],
    description: take(fields.description) ?? null,
    cover: take(fields.cover) ?? null,
    draft: state.draft,
    contentHash: isOwn ? sourceHash : hashOf(`${sourceHash}${isRetitled}${body}`),
  });
  return withoutUndefined<ParsedDocument>({
    document,
    warnings: [...warnings, ...state.warnings, ...dialect.warnings()]
      .sort((one, other) => one.line - other.line)
      .slice(0, maxWarnings),
    links: findWrittenLinks(path, body, read.lineOf, prose),
    named: isNamed ? { slug, line: lineOf('slug') } : undefined,
    due: state.due,
    headings: named === undefined && titles.length > 0 ? titles : undefined,
    isRetitled: isRetitled || undefined,
    navigation: options.listed && JSON.stringify(options.listed),
    sourceHash: isOwn ? undefined : sourceHash,
    unnamed: unlessEmpty([...dialect.unnamed].slice(0, maxUnnamed)),
    unplaced: unlessEmpty([...dialect.unplaced].slice(0, maxUnnamed)),
    aliases: document.aliases,
    targets: document.targets,
    toctree: unlessEmpty(pagesInToctrees(frontMatter.body)),
    cascades: (basename(path) === '_index.md' && cascadesDraft(frontMatter)) || undefined,
  });
}

/** The text in its canonical form, and its title, which the first line of a page of mdBook may give. */
function readText(
  path: string,
  { body, bodyLine, find }: FrontMatter,
  title: string | undefined,
  { tree, include }: ReadingOptions,
) {
  const [bookTitle = ''] = /^\{\{#title [^{}\n]{1,500}\}\}/m.exec(body) ?? [];
  const named = title ?? (bookTitle === '' ? undefined : bookTitle.slice(9, -2).trim());
  const written = {
    ...{ path, body: body.replace(bookTitle, ''), tree },
    lineOf: (line: number) => line + bodyLine - 1,
    title: named ?? (/\.title\b/.test(body) ? writtenTitle(path, body) : undefined),
    isVerbatim: says(find(['render_with_liquid']), false) || says(find(['vPre']), true),
  };
  return { named, ...toCanonicalText(written, include) };
}

function hashOf(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function unlessEmpty<Value>(list: readonly Value[]): readonly Value[] | undefined {
  return list.length === 0 ? undefined : list;
}

/** The language of `about.fr.md`, if there is an `about.md` too. */
function nameLanguage(path: string, tree: TreeMarks | undefined): string | undefined {
  const [, stem, written, ending] = /^(.+)\.([a-z]{2}(?:[-_][a-z]{2,4})?)(\.\w+)$/i.exec(path) ?? [];
  if (stem === undefined || !tree?.isDocument?.(stem + ending)) return undefined;
  const { data = '' } = language.safeParse(written);
  // A name such as `node.js.md` has no language.
  return data !== '' && languageNames.of(data) !== undefined ? data : undefined;
}

const languageNames = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });

function writtenTitle(path: string, body: string): string {
  const [heading = ''] = titlesIn(body.slice(0, farthestHeading));
  return plainTitle(heading.replace(/\{\{[^{}]*\}\}|\{[^{}]*\}/g, '')) || readableName(path);
}

/**
 * The text of a file as others may include it: without front matter. Undefined for a draft.
 * @param isTitled whether a title from there is its first heading
 */
export function tryIncludable(
  path: string,
  bytes: Uint8Array,
  options: DraftOptions,
  isTitled = false,
): string | undefined {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  if (!documentEnding.test(path)) return text;
  const frontMatter = readFrontMatter(text);
  const { draft } = readDraftState(frontMatter, { path, dates: datesOf(path, frontMatter) }, options);
  if (draft) return undefined;
  const found = isTitled ? frontMatter.find(fields.title.keys) : [];
  const named = tryFirst(found, fields.title.read, () => undefined);
  return named === undefined ? frontMatter.body : `# ${named}\n\n${frontMatter.body}`;
}

/** The text of a file, with its byte order mark if it has one. */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new ContentError('The file is not valid UTF-8. Save it with the encoding UTF-8.', { cause });
  }
}

const maxUnnamed = 200;
const maxTargets = 500;

type Warn = (key: string, message: string, kind?: WarningKind) => void;

function says(found: readonly FoundValue[], truth: boolean): boolean {
  return found.some(({ value }) => value === truth || value === String(truth));
}

/** What a field of a document is read from: the first of these keys that has a usable value. */
interface Field<Value> {
  readonly keys: readonly string[];
  readonly read: (written: unknown, key: string) => ValueReading<Value>;
}

function tryFirst<Value>(
  found: readonly FoundValue[],
  read: Field<Value>['read'],
  warn: Warn,
): Value | undefined {
  for (const { key, value } of found) {
    // The page of a folder is that already.
    if (value === '' || (key === 'slug' && value === '/')) continue;
    const reading = read(value, key);
    if (!('problem' in reading)) {
      if (reading.warning !== undefined) warn(key, reading.warning, key === 'slug' ? 'slug' : 'value');
      return reading.value;
    }
    // Templates leave keys empty, and switch things off with "false".
    if (typeof value !== 'boolean') warn(key, `was left out: it ${reading.problem}.`);
  }
  return undefined;
}

const term = text(100);

const fields = {
  title: field('title', valid(title)),
  label: field(
    'sidebar_label sidebar.label linkTitle nav_title navTitle sidebarTitle short_title',
    valid(title),
  ),
  order: field('order sidebar_position sidebar.order weight nav_order position menu_order', readOrder),
  slug: field('slug', readSlug),
  type: field('type', valid(term)),
  date: field('date publishDate pubDate published created', readDate),
  updated: field(
    'updated lastmod modified last_modified_at last_updated last_update.date date-modified',
    readDate,
  ),
  authors: field('authors author by', readAuthors),
  description: field('description summary excerpt abstract subtitle', valid(description)),
  lang: field('lang language locale', valid(language)),
  cover: field('cover image thumbnail', valid(contentPath)),
};

function field<Value>(keys: string, read: Field<Value>['read']): Field<Value> {
  return { keys: keys.split(' '), read };
}

/** Documents that are read by their addresses alone. */
const hiddenKeys = ['hidden', 'unlisted', 'nav_exclude', 'toc_hide', 'bookHidden', 'sidebar.hidden'];

/** Other addresses and names of the document, at most 50. */
function aliasesOf(find: FrontMatter['find'], isNamed: boolean): readonly string[] {
  const found = find(['aliases', 'alias', 'redirect_from', 'permalink', 'url', 'slug', 'id']).flatMap(
    ({ key, value }) => {
      const texts: readonly unknown[] = Array.isArray(value) ? value : [value];
      return texts.flatMap((one) => {
        const text = typeof one === 'string' ? one.trim() : '';
        if (text === '' || text.length > 500 || /[\u0000-\u001f\\]|^[a-z]+:|:\w/i.test(text)) return [];
        return key === 'slug' && (isNamed || !text.includes('/')) ? [] : [text];
      });
    },
  );
  return [...new Set(found)].slice(0, 50);
}

const tagKeys = ['tags', 'tag', 'categories', 'category', 'taxonomies.tags'];

function valid<Value>(schema: z.ZodType<Value>): Field<Value>['read'] {
  return (written) => {
    const { success, data, error } = schema.safeParse(written);
    return success ? { value: data } : { problem: error.issues[0]?.message ?? 'cannot be used' };
  };
}

function readSlug(written: unknown): ValueReading<{ readonly slug: string; readonly isNamed: boolean }> {
  const whole = typeof written === 'string' ? written.trim() : '';
  if (isSlug(whole)) return { value: { slug: whole, isNamed: true } };
  const slug = trySlug(whole.split('/').findLast((part) => part.trim() !== '') ?? '');
  if (slug === undefined) return { problem: 'must have a letter or a digit' };
  const warning = `is no slug. The document has "${slug}" instead, unless another one has it: write "slug: ${slug}".`;
  return { value: { slug, isNamed: false }, warning };
}

/** Zero is none for Hugo, which calls it a weight. */
function readOrder(written: unknown, key: string): ValueReading<number> {
  const number = typeof written === 'string' && written.trim() !== '' ? Number(written) : Number.NaN;
  if (key === 'weight' && number === 0) return { value: noOrder };
  return Number.isFinite(number) ? { value: number } : { problem: 'must be a number' };
}

const noOrder = Number.POSITIVE_INFINITY;

/** At most 100 names. Each is a text, or has a name. */
function readAuthors(written: unknown): ValueReading<readonly string[]> {
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
