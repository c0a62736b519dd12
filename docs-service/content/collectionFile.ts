import { basename, extname } from 'node:path/posix';
import * as z from 'zod';
import { ContentError, parseYamlMap } from '../../protocol/base/yaml.ts';
import { decodeUtf8 } from './documentFile.ts';
import { author, contentPath, description, language, parseFields, slug, text } from './fields.ts';
import { isSlug, trySlug } from './slug.ts';

/** The content of `collections/*.yaml`, checked. The documents are looked up when they are needed. */
export interface CollectionDefinition {
  /** Names the collection in addresses: `isSlug` holds for it, and it is unique in the library. */
  readonly name: string;
  readonly title: string;
  /**
   * Slugs in order; or a type, the slug of a tag, or both; or the folder that they are in or below, from the content
   * folder, with a final slash, and empty for the content folder itself.
   */
  readonly docs:
    | readonly string[]
    | { readonly type?: string; readonly tag?: string }
    | { readonly folder: string };
  /**
   * `listed` is the order of `docs`, for a folder that of its author, and for a query the same as `-date`. `tree` is
   * the order in the sidebar.
   */
  readonly order: (typeof orders)[number];
  /** The list of pages, such as a `SUMMARY.md`, that says which documents it has; a path from the content folder. */
  readonly summary?: string;
  readonly author: string | null;
  readonly lang: string | null;
  /** A picture, as a path from the content folder. */
  readonly cover: string | null;
  readonly description: string | null;
  /** Whether strangers may read it in the browser, its documents included. */
  readonly public?: true;
}

const orders = ['date', '-date', 'title', 'listed', 'tree'] as const;

/** In bytes: a few thousand slugs. */
const maxBytes = 65_536;
const maxSlugs = 5_000;

export interface ParsedCollection {
  readonly collection: CollectionDefinition;
  /** Why something was left out; the collection is served without it. */
  readonly problem: string | null;
}

/** Reads a file of `collections/`. Throws ContentError. */
export function parseCollectionFile(path: string, bytes: Uint8Array): ParsedCollection {
  if (bytes.length > maxBytes)
    throw new ContentError(`A collection's file has at most ${maxBytes} bytes. Split the collection.`);
  const { cover: writtenCover, ...written } = parseWritten(decodeUtf8(bytes).replace(/^\ufeff/, ''));
  const fields = parseFields(collectionFields, written);
  const name = fields.name ?? trySlug(basename(path, extname(path)));
  if (name === undefined) throw new ContentError('Add "name: some-name" to the file.');
  const cover = contentPath.nullish().safeParse(writtenCover);
  return {
    collection: {
      name,
      title: fields.title ?? name,
      docs: fields.docs ?? fields.query ?? (fields.summary ? [] : { folder: folderOf(fields.path ?? '') }),
      order: fields.order ?? 'listed',
      author: fields.author ?? null,
      lang: fields.lang ?? null,
      cover: cover.data ?? null,
      description: fields.description ?? null,
      ...(fields.summary ? { summary: fields.summary } : {}),
      ...(fields.public ? { public: true } : {}),
    },
    problem: cover.success ? null : `"cover" was left out: ${cover.error.issues[0]?.message}`,
  };
}

function folderOf(path: string): string {
  return path
    .normalize('NFC')
    .replace(/^(?:\.?\/)+|\/+$/g, '')
    .replace(/(?<=.)$/, '/');
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
    path: text(1_000).nullish(),
    summary: contentPath.nullish(),
    order: z.enum(orders, { error: 'must be one of date, -date, title, listed and tree' }).nullish(),
    author: author.nullish(),
    lang: language.nullish(),
    description: description.nullish(),
    public: z.boolean({ error: 'must be true or false' }).nullish(),
  })
  .refine((one) => [one.docs, one.query, one.path, one.summary].filter(Boolean).length === 1, {
    path: ['docs'],
    message:
      'must be a list of slugs, or there must be a "query" with "type" or "tag", a "path" or a "summary" instead',
  });

/** One check for all slugs: a schema for each of thousands takes long. */
function tryProblemOfSlugs(written: unknown): string | undefined {
  if (!Array.isArray(written)) return undefined;
  if (written.length > maxSlugs) return `must have at most ${maxSlugs} slugs`;
  const wrong: unknown = written.find((one) => !isSlug(textOf(one)));
  return wrong === undefined
    ? undefined
    : `must be a list of slugs, and "${textOf(wrong).slice(0, 100)}" is not one`;
}

function textOf(written: unknown): string {
  return typeof written === 'string' ? written.trim() : '';
}

/**
 * The usual list of a collection: "docs:" and then one "- slug" a line. Only this list can make a file long, and it
 * needs no YAML parser. Any other list stays in the rest. `lineInFile` maps a line of the rest to its line in the file;
 * both are counted from 1.
 */
function takePlainSlugs(text: string) {
  const lines = text.split(/\r?\n/);
  const key = lines.findIndex((line) => /^docs:[ \t]*(?:#.*)?$/.test(line));
  const slugs: string[] = [];
  let end = key + 1;
  for (; key >= 0 && end < lines.length; end++) {
    const slug = itemForm.exec(lines[end] ?? '')?.[1];
    if (slug !== undefined) slugs.push(slug);
    else if (!/^[ \t]*(?:#.*)?$/.test(lines[end] ?? '')) break;
  }
  if (slugs.length === 0 || /^[ \t-]/.test(lines[end] ?? ''))
    return { slugs: [], rest: text, lineInFile: (line: number) => line };
  return {
    slugs,
    rest: [...lines.slice(0, key), ...lines.slice(end)].join('\n'),
    lineInFile: (line: number) => (line <= key ? line : line + end - key),
  };
}

/** None of its characters has a meaning in YAML. */
const itemForm = /^[ \t]*-[ \t]+([^\s#'"&*!|>%@`[\]{},?:-][^\s#'"&*!|>%@`[\]{},?:]*)[ \t]*(?:[ \t]#.*)?$/;
