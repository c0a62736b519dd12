import { Type } from 'typebox';
import { maxReference, unknownDocument } from './mcpLibrary.ts';
import { excerptOf } from './searchDocs.ts';
import { defineTool, ToolError } from './tool.ts';

/** What the connectors of some hosts, such as ChatGPT's, look for: two tools with these names and shapes. */

/** As many as such a host shows. */
const maxResults = 10;
/** In UTF-16 units. */
const maxText = 200_000;

const search = defineTool({
  name: 'search',
  title: 'Search documents',
  description:
    'Finds documents of this library, the most relevant first. A question in words is fine. ' +
    'Read what you find with fetch.',
  input: { query: Type.String({ minLength: 1, maxLength: 1_000, description: 'What to look for.' }) },
  output: {
    results: Type.Array(
      Type.Object({
        id: Type.String({ description: 'Names the document for fetch.' }),
        title: Type.String(),
        url: Type.String({ description: 'Where people read it.' }),
        text: Type.String({ description: 'An excerpt in Markdown.' }),
      }),
    ),
  },
  async call({ query }, { search: find, drafts, addressOf }) {
    const { items } = await find.search({ text: query, drafts, limit: maxResults, offset: 0 });
    const results = items.map(async ({ document: { slug, title }, snippet, section }) => ({
      id: slug,
      title,
      url: addressOf(slug, section?.id),
      text: await excerptOf(snippet),
    }));
    return { results: await Promise.all(results) };
  },
});

const fetchDocument = defineTool({
  name: 'fetch',
  title: 'Read a document',
  description: 'Returns a document of this library as Markdown, by an id that search has returned.',
  input: {
    id: Type.String({ minLength: 1, maxLength: maxReference, description: 'The id of the document.' }),
  },
  output: {
    id: Type.String(),
    title: Type.String(),
    text: Type.String({ description: 'The document, without front matter.' }),
    url: Type.String(),
    metadata: Type.Object({
      type: Type.Optional(Type.String()),
      date: Type.Optional(Type.String()),
      tags: Type.Array(Type.String()),
      isCut: Type.Optional(Type.Boolean({ description: 'The text is only the beginning.' })),
    }),
  },
  async call({ id }, library, signal) {
    const document = await library.read(id);
    if (document === undefined) throw new ToolError(await unknownDocument(library, id));
    const { slug, title, type, date, tags } = document;
    const { markdown } = await library.parts(document, signal);
    const isCut = markdown.length > maxText;
    return {
      id: slug,
      title,
      text: isCut ? markdown.slice(0, maxText).replace(/[\ud800-\udbff]$/, '') : markdown,
      url: library.addressOf(slug),
      metadata: {
        ...(type === null ? {} : { type }),
        ...(date === null ? {} : { date }),
        tags: tags.map((tag) => tag.title),
        ...(isCut ? { isCut } : {}),
      },
    };
  },
});

export const connectorTools = [search, fetchDocument];
