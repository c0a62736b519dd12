import { basename, extname } from 'node:path/posix';
import { z } from 'zod';
import type { CollectionDefinition } from './collection.ts';
import { ContentError } from './contentError.ts';
import { decodeUtf8 } from './documentFile.ts';
import { author, contentPath, description, language, parseFields, slug, text } from './fields.ts';
import { takePlainSlugs } from './plainSlugs.ts';
import { isSlug, trySlug } from './slug.ts';
import { parseYamlMap } from './yamlMap.ts';

/** In bytes: a few thousand slugs. */
const longest = 65_536;
const mostSlugs = 5_000;

export interface ParsedCollection {
  readonly collection: CollectionDefinition;
  /** Why something was left out; the collection is served without it. */
  readonly problem: string | null;
}

/** Reads a file of `collections/`. Throws ContentError. */
export function parseCollectionFile(path: string, bytes: Uint8Array): ParsedCollection {
  if (bytes.length > longest)
    throw new ContentError(`A collection's file has at most ${longest} bytes. Split the collection.`);
  const { cover: writtenCover, ...written } = parseWritten(decodeUtf8(bytes));
  const fields = parseFields(collectionFields, written);
  const name = fields.name ?? trySlug(basename(path, extname(path)));
  if (name === undefined) throw new ContentError('Add "name: some-name" to the file.');
  const cover = contentPath.nullish().safeParse(writtenCover);
  return {
    collection: {
      name,
      title: fields.title ?? name,
      docs: fields.docs ?? fields.query ?? [],
      order: fields.order ?? 'listed',
      author: fields.author ?? null,
      lang: fields.lang ?? null,
      cover: cover.data ?? null,
      description: fields.description ?? null,
    },
    problem: cover.success ? null : `"cover" was left out: ${cover.error.issues[0]?.message}`,
  };
}

function parseWritten(text: string): Readonly<Record<string, unknown>> {
  const { slugs, rest, lineInFile } = takePlainSlugs(text);
  const values = parseYamlMap(rest, 'The file', lineInFile);
  if (slugs.length === 0) return values;
  if ('docs' in values) throw new ContentError('The key "docs" occurs twice. Make one list of both.');
  return { ...values, docs: slugs };
}

const query = z
  .object({ type: text(100).nullish(), tag: slug.nullish() })
  .refine(({ type, tag }) => Boolean(type ?? tag), 'must have "type" or "tag"')
  .transform(({ type, tag }) => ({ ...(type ? { type } : {}), ...(tag ? { tag } : {}) }));

const slugs = z
  .array(z.unknown())
  .refine((written) => tryProblemOfSlugs(written) === undefined)
  .transform((written) => written.map(textOf));

const collectionFields = z
  .object({
    name: slug.nullish(),
    title: text(500).nullish(),
    docs: z
      .union([slugs, query], {
        error: ({ input }) =>
          tryProblemOfSlugs(input) ?? 'must be a list of slugs, or a query with "type" or "tag"',
      })
      .nullish(),
    query: query.nullish(),
    order: z
      .enum(['date', '-date', 'title', 'listed'], { error: 'must be one of date, -date, title and listed' })
      .nullish(),
    author: author.nullish(),
    lang: language.nullish(),
    description: description.nullish(),
  })
  .refine(({ docs, query: asked }) => Boolean(docs) !== Boolean(asked), {
    path: ['docs'],
    message: 'must be a list of slugs, or there must be a "query" with "type" or "tag" instead',
  });

/** One check for all slugs: a schema for each of thousands takes long. */
function tryProblemOfSlugs(written: unknown): string | undefined {
  if (!Array.isArray(written)) return undefined;
  if (written.length > mostSlugs) return `must have at most ${mostSlugs} slugs`;
  const wrong: unknown = written.find((one) => !isSlug(textOf(one)));
  return wrong === undefined
    ? undefined
    : `must be a list of slugs, and "${textOf(wrong).slice(0, 100)}" is not one`;
}

function textOf(written: unknown): string {
  return typeof written === 'string' ? written.trim() : '';
}
