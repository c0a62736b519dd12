import { createHash } from 'node:crypto';
import { basename, extname } from 'node:path/posix';
import * as z from 'zod';
import { ContentError } from '../../protocol/base/contentError.ts';
import { parseFrontMatter } from '../../protocol/base/frontMatter.ts';
import type { Document, FileWarning, Tag } from './document.ts';
import { author, contentPath, description, language, parseFields, slug, text } from './fields.ts';
import { tryFirstHeading } from './headings.ts';
import { tryPathSlugs, trySlug } from './slug.ts';
import { type FileLinks, findWrittenLinks } from './writtenLinks.ts';
import { readDate, readDraft, type WrittenValue } from './writtenValue.ts';

/** In characters: a later heading is not the title. */
const farthestHeading = 65_536;

export interface ParsedDocument {
  /** Its slug is only a proposal if the front matter names none. */
  readonly document: Document;
  /** Whether the front matter names the slug. */
  readonly namesSlug: boolean;
  /** Why something was left out, or why the document is a draft; it is served nevertheless. */
  readonly problem: string | null;
  readonly warnings: readonly FileWarning[];
  readonly links: FileLinks;
}

/** Reads a Markdown file. `path` is relative to the content folder. Throws ContentError. */
export function parseDocumentFile(path: string, bytes: Uint8Array): ParsedDocument {
  const { values, body, bodyLine, lineOf } = parseFrontMatter(decodeUtf8(bytes));
  const { cover: writtenCover, date, updated, draft, ...written } = values;
  const fields = parseFields(frontMatter, written);
  const cover = contentPath.nullish().safeParse(writtenCover);
  const read = { date: readDate(date), updated: readDate(updated), draft: readDraft(draft) };
  const unclear = unclearIn(read);
  return {
    document: {
      path,
      body,
      slug: fields.slug ?? shortSlugOf(path),
      title: fields.title ?? tryFirstHeading(body.slice(0, farthestHeading)) ?? basename(path, extname(path)),
      type: fields.type ?? null,
      tags: fields.tags ?? [],
      date: read.date.value,
      updated: read.updated.value,
      lang: fields.lang ?? null,
      authors: fields.authors ?? [],
      description: fields.description ?? null,
      cover: cover.data ?? null,
      // A document that may not be ready must not be published by mistake.
      draft: read.draft.value || unclear !== null,
      contentHash: createHash('sha256').update(bytes).digest('hex'),
    },
    namesSlug: typeof fields.slug === 'string',
    problem: joined([
      cover.success ? null : `"cover" was left out: ${cover.error.issues[0]?.message}.`,
      unclear && `${unclear} Until then the document is a draft.`,
    ]),
    warnings: warningsOf(read, lineOf),
    links: findWrittenLinks(path, body, bodyLine),
  };
}

type WrittenValues = Readonly<Record<string, WrittenValue<unknown>>>;

/** Null if the meaning of all values is clear. */
function unclearIn(values: WrittenValues): string | null {
  const sentences = Object.entries(values).flatMap(([key, { problem }]) =>
    problem === undefined ? [] : [`"${key}" ${problem}`],
  );
  return sentences.length === 0 ? null : `${sentences.join('; ')}.`;
}

function warningsOf(values: WrittenValues, lineOf: (key: string) => number): readonly FileWarning[] {
  return Object.entries(values)
    .flatMap(([key, { warning }]) =>
      warning === undefined ? [] : [{ line: lineOf(key), message: `"${key}" ${warning}` }],
    )
    .sort((one, other) => one.line - other.line);
}

function joined(sentences: readonly (string | null)[]): string | null {
  return sentences.filter((sentence) => sentence !== null).join(' ') || null;
}

/** The text of a file, without a byte order mark. */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new ContentError('The file is not valid UTF-8. Save it with the encoding UTF-8.', { cause });
  }
}

/** YAML reads a key without a value as `null`, so `null` counts as missing. */
const frontMatter = z.object({
  title: text(500).nullish(),
  slug: slug.nullish(),
  type: text(100).nullish(),
  tags: z
    .union([z.array(z.unknown()), text(100).transform((one): unknown[] => [one])])
    .transform((written, context) => tagsOf(written, context))
    .nullish(),
  lang: language.nullish(),
  authors: z.union([z.array(author).max(100), author.transform((one) => [one])]).nullish(),
  description: description.nullish(),
});

const tagObject = z.object({ slug, title: text(100).nullish() });

function tagsOf(written: readonly unknown[], context: z.RefinementCtx): readonly Tag[] {
  const tags = new Map<string, Tag>();
  for (const [at, value] of written.slice(0, 100).entries()) {
    const tag = tryTag(value);
    if (tag === undefined)
      context.addIssue({ code: 'custom', path: [at], message: 'must be a text, or have "slug" and "title"' });
    else if (!tags.has(tag.slug)) tags.set(tag.slug, tag);
  }
  return [...tags.values()];
}

function tryTag(value: unknown): Tag | undefined {
  const named = tagObject.safeParse(value);
  if (named.success) return { slug: named.data.slug, title: named.data.title ?? named.data.slug };
  const title = text(100).safeParse(value);
  const made = title.success ? trySlug(title.data) : undefined;
  return title.success && made !== undefined ? { slug: made, title: title.data } : undefined;
}

function shortSlugOf(path: string): string {
  const slugs = tryPathSlugs(path);
  if (slugs === undefined)
    throw new ContentError(
      'The file\'s name contains nothing that a slug could have. Add "slug: some-name" to its front matter.',
    );
  return slugs.short;
}
