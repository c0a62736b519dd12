import { Type } from 'typebox';
import { withoutUndefined } from '../../protocol/base/withoutUndefined.ts';
import { pageParameters } from '../base/pageParameters.ts';
import { type SearchMode, searchModes } from '../meaning/librarySearch.ts';
import type { DocumentFilter } from '../search/documentIndex.ts';
import { defineTool, ToolError } from './tool.ts';

const usualLimit = 10;

export const searchDocs = defineTool({
  name: 'search_docs',
  title: 'Search documents',
  description:
    'Finds documents of this library, the most relevant first, each with an excerpt around the matching words. ' +
    'The query takes words (all must be in the document), "phrases in quotes", -excluded words and prefix*. ' +
    'Read what you find with get_doc_markdown, and cite its address.',
  input: Type.Object(
    {
      query: Type.String({
        minLength: 1,
        maxLength: 1_000,
        description:
          'Words, "phrases", -exclusions and prefix*. Few significant words find more than a sentence.',
      }),
      type: Type.Optional(Type.String({ maxLength: 100, description: 'Only documents of this type.' })),
      tag: Type.Optional(
        Type.String({ maxLength: 100, description: 'Only documents with the tag of this slug.' }),
      ),
      mode: Type.Optional(
        Type.Unsafe<SearchMode>({
          type: 'string',
          enum: [...searchModes],
          description:
            'What finds documents: their words, their meaning (then ask in a sentence), or both (default, where it is on).',
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
        section: Type.Optional(
          Type.String({ description: 'The id of the section of the excerpt, for get_doc_markdown.' }),
        ),
        address: Type.String({ description: 'Where the document or the section is: cite it.' }),
        tags: Type.Array(Type.Object({ slug: Type.String(), title: Type.String() })),
        matched: Type.Unsafe<SearchMode>({
          type: 'string',
          enum: ['text', 'meaning', 'both'],
          description: 'What found it: its words, its meaning, or both.',
        }),
      }),
    ),
    total: Type.Integer({ description: 'How many documents were found, on all pages.' }),
    approximate: Type.Optional(Type.Boolean({ description: 'More documents matched than were ranked.' })),
    limit: Type.Integer(),
    offset: Type.Integer(),
    notice: Type.Optional(Type.String({ description: 'Why documents may be missing.' })),
  }),
  async call({ query, type, tag, mode, limit = usualLimit, offset = 0 }, library) {
    const filter = withoutUndefined<Pick<DocumentFilter, 'type' | 'tag'>>({ type, tag });
    const { search, drafts } = library;
    if (mode === 'meaning' && !search.hasMeaning)
      throw new ToolError(
        'This library cannot be searched by meaning. Leave "mode" out, or set it to "text".',
      );
    const wanted = { ...filter, text: query, drafts, limit, offset };
    const { items, total, approximate, isTextAlone } = await search.search(wanted, mode);
    const notices = [isTextAlone ? byTextAlone : undefined, total === 0 ? nothingFound : undefined].filter(
      Boolean,
    );
    return withoutUndefined({
      results: await Promise.all(
        items.map(async ({ document, snippet, section, matched }) => ({
          slug: document.slug,
          title: document.title,
          type: document.type,
          snippet: await excerptOf(snippet),
          ...(section ? { section: section.id } : {}),
          address: library.addressOf(document.slug, section?.id),
          tags: document.tags.map((one) => ({ slug: one.slug, title: one.title })),
          matched,
        })),
      ),
      total,
      ...(approximate ? { approximate } : {}),
      limit,
      offset,
      notice: notices.length === 0 ? undefined : notices.join(' '),
    });
  },
});

const byTextAlone =
  'Meaning cannot be compared at the moment, so this was found by words alone. Try other words, or ask again soon.';

const nothingFound =
  'Nothing has all of these words. Try fewer or other words. If nothing fits, say that the documents do not answer the question.';

/** An excerpt begins and ends anywhere, so it is sanitised by itself. It is left out if nobody could render it. */
export async function excerptOf(excerpt: string): Promise<string> {
  const { sanitiseMarkdown } = await import('../formats/markdown/sanitisedMarkdown.ts');
  try {
    return sanitiseMarkdown(excerpt);
  } catch (error) {
    if (error instanceof Error && error.name === 'UnrenderableError') return '';
    throw error;
  }
}
