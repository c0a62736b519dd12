import { Type } from 'typebox';
import { withoutUndefined } from '../../protocol/base/withoutUndefined.ts';
import { pageParameters } from '../base/pageParameters.ts';
import type { DocumentFilter } from '../search/documentIndex.ts';
import { defineTool } from './tool.ts';

const usualLimit = 10;

export const searchDocs = defineTool({
  name: 'search_docs',
  title: 'Search documents',
  description:
    'Finds documents of this library, the most relevant first, each with an excerpt around the matching words. ' +
    'The query takes words (all must be in the document), "phrases in quotes", -excluded words and prefix*. ' +
    'Read what you find with get_doc_markdown.',
  input: Type.Object(
    {
      query: Type.String({
        minLength: 1,
        maxLength: 1_000,
        description:
          'Words, "phrases", -exclusions and prefix*. Few significant words find more than a sentence.',
      }),
      type: Type.Optional(
        Type.String({ minLength: 1, maxLength: 100, description: 'Only documents of this type.' }),
      ),
      tag: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 100,
          description: 'Only documents with the tag of this slug.',
        }),
      ),
      ...pageParameters({ usual: usualLimit, max: 50 }),
    },
    { additionalProperties: false },
  ),
  output: Type.Object({
    results: Type.Array(
      Type.Object({
        slug: Type.String({ description: 'Names the document for get_doc_markdown.' }),
        title: Type.String(),
        type: Type.Union([Type.String(), Type.Null()]),
        snippet: Type.String({ description: 'An excerpt in Markdown.' }),
        tags: Type.Array(Type.Object({ slug: Type.String(), title: Type.String() })),
      }),
    ),
    total: Type.Integer({ description: 'How many documents were found, on all pages.' }),
    approximate: Type.Optional(Type.Boolean({ description: 'More documents matched than were ranked.' })),
    limit: Type.Integer(),
    offset: Type.Integer(),
    notice: Type.Optional(Type.String({ description: 'Why documents may be missing.' })),
  }),
  async call({ query, type, tag, limit = usualLimit, offset = 0 }, library) {
    const filter = withoutUndefined<Pick<DocumentFilter, 'type' | 'tag'>>({ type, tag });
    const { index, drafts } = library;
    const [{ items, total, approximate }, notice] = await Promise.all([
      index.search({ ...filter, text: query, drafts, limit, offset }),
      library.notice(),
    ]);
    return withoutUndefined({
      results: await Promise.all(
        items.map(async ({ document, snippet }) => ({
          slug: document.slug,
          title: document.title,
          type: document.type,
          snippet: await harmless(snippet),
          tags: document.tags.map((one) => ({ slug: one.slug, title: one.title })),
        })),
      ),
      total,
      ...(approximate ? { approximate } : {}),
      limit,
      offset,
      notice,
    });
  },
});

/** An excerpt begins and ends anywhere, so it is sanitised by itself. It is left out if nobody could render it. */
async function harmless(excerpt: string): Promise<string> {
  const { sanitiseMarkdown } = await import('../formats/markdown/sanitisedMarkdown.ts');
  try {
    return sanitiseMarkdown(excerpt);
  } catch (error) {
    if (error instanceof Error && error.name === 'UnrenderableError') return '';
    throw error;
  }
}
