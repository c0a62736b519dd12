import { Type } from 'typebox';
import { withoutUndefined } from '../../protocol/base/json.ts';
import { oneOf, pageParameters, searchFields } from '../base/parameters.ts';
import { fieldsOf, searchModes } from '../meaning/librarySearch.ts';
import type { DocumentFilter, SearchPage } from '../search/documentIndex.ts';
import { defineTool, ToolError } from './tool.ts';

const usualLimit = 10;

export const searchDocs = defineTool({
  name: 'search_docs',
  title: 'Search documents',
  description:
    'Finds documents of this library, the most relevant first, each with an excerpt around the matching words. ' +
    'A question in words is fine: any of the words finds a document, in any of their forms. ' +
    'The query also takes "phrases in quotes", -excluded words and prefix*. ' +
    'Read what you find with get_doc_markdown, and cite its address.',
  input: {
    query: Type.String({
      minLength: 1,
      maxLength: 1_000,
      description:
        'A question or words. What is in "quotes" must occur as it is written; -word excludes; prefix*.',
    }),
    type: Type.Optional(Type.String({ maxLength: 100, description: 'Only documents of this type.' })),
    tag: Type.Optional(
      Type.String({ maxLength: 100, description: 'Only documents with the tag of this slug.' }),
    ),
    mode: Type.Optional(
      oneOf(
        searchModes,
        'What finds documents: their words, their meaning (then ask in a sentence), or both (default, where it is on).',
      ),
    ),
    ...pageParameters({ usual: usualLimit, max: 50 }),
  },
  output: {
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
        matched: oneOf(searchModes, 'What found it: its words, its meaning, or both.'),
        missing: Type.Optional(
          Type.Array(Type.String(), { description: 'The words of the query that it does not have.' }),
        ),
      }),
    ),
    total: Type.Integer({ description: 'How many documents were found, on all pages.' }),
    ...searchFields,
    limit: Type.Integer(),
    offset: Type.Integer(),
    notice: Type.Optional(Type.String({ description: 'What to know about this answer.' })),
  },
  async call({ query, type, tag, mode, limit = usualLimit, offset = 0 }, library) {
    const filter = withoutUndefined<Pick<DocumentFilter, 'type' | 'tag'>>({ type, tag });
    const { search, drafts } = library;
    if (mode === 'meaning' && !search.hasMeaning)
      throw new ToolError(
        'This library cannot be searched by meaning. Leave "mode" out, or set it to "text".',
      );
    const wanted = { ...filter, text: query, drafts, limit, offset };
    const found = await search.search(wanted, mode);
    const notices = [found.isTextAlone ? byTextAlone : '', ...noticesOf(found, query)];
    return withoutUndefined({
      results: await Promise.all(
        found.items.map(async ({ document, snippet, section, matched, missing }) => ({
          slug: document.slug,
          title: document.title,
          type: document.type,
          snippet: await excerptOf(snippet),
          ...(section ? { section: section.id } : {}),
          address: library.addressOf(document.slug, section?.id),
          tags: document.tags.map((one) => ({ slug: one.slug, title: one.title })),
          matched,
          ...(missing.length > 0 ? { missing: [...missing] } : {}),
        })),
      ),
      ...fieldsOf(found),
      limit,
      offset,
      notice: notices.filter(Boolean).join(' ') || undefined,
    });
  },
});

const byTextAlone = 'Meaning cannot be compared at the moment, so this was found by words alone.';

/** What an agent has to know of an answer. Only in a short query, all words are expected to stand together. */
function noticesOf({ items, total, allWords, corrected }: SearchPage, query: string): readonly string[] {
  const isApart = allWords === 0 && items.some(({ matched }) => matched !== 'meaning');
  const isShort = query.trim().split(/\s+/).length <= 3;
  return [
    ...corrected.map(({ written, meant }) => `No document has "${written}", so "${meant}" was searched for.`),
    ...(total === 0 ? [nothingFound] : isApart && isShort ? [notTogether] : []),
  ];
}

const nothingFound =
  'No document has any of these words and passes the quotes, exclusions and filters of this search. If you know no other name for it, say that the documents do not answer the question, and stop there.';
const notTogether = 'No document has all of these words: "missing" names those that a result does not have.';

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
