import { createHash } from 'node:crypto';
import { basename, extname } from 'node:path/posix';
import { z } from 'zod';
import { tryFirstHeading } from '../index/headings.ts';
import { ContentError } from './contentError.ts';
import type { Document, Tag } from './document.ts';
import { author, contentPath, description, isoDate, language, parseFields, slug, text } from './fields.ts';
import { parseFrontMatter } from './frontMatter.ts';
import { trySlug } from './slug.ts';

/** In characters: a later heading is not the title. */
const farthestHeading = 65_536;

export interface ParsedDocument {
  readonly document: Document;
  /** Why something was left out; the document is served without it. */
  readonly problem: string | null;
}

/** Reads a Markdown file. `path` is relative to the content folder. Throws ContentError. */
export function parseDocumentFile(path: string, bytes: Uint8Array): ParsedDocument {
  const { values, body } = parseFrontMatter(decodeUtf8(bytes));
  const { cover: writtenCover, ...written } = values;
  const fields = parseFields(frontMatter, written);
  const cover = contentPath.nullish().safeParse(writtenCover);
  return {
    document: {
      path,
      body,
      slug: fields.slug ?? slugOfPath(path),
      title: fields.title ?? tryFirstHeading(body.slice(0, farthestHeading)) ?? basename(path, extname(path)),
      type: fields.type ?? null,
      tags: fields.tags ?? [],
      date: fields.date ?? null,
      updated: fields.updated ?? null,
      lang: fields.lang ?? null,
      authors: fields.authors ?? [],
      description: fields.description ?? null,
      cover: cover.data ?? null,
      draft: fields.draft ?? false,
      contentHash: createHash('sha256').update(bytes).digest('hex'),
    },
    problem: cover.success ? null : `"cover" was left out: ${cover.error.issues[0]?.message}`,
  };
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
  date: isoDate.nullish(),
  updated: isoDate.nullish(),
  draft: z.boolean({ error: 'must be true or false' }).nullish(),
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

function slugOfPath(path: string): string {
  const made = trySlug(basename(path, extname(path)));
  if (made === undefined)
    throw new ContentError(
      'The file\'s name contains nothing that a slug could have. Add "slug: some-name" to its front matter.',
    );
  return made;
}
