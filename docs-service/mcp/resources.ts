import type { DocumentMetadata } from '../content/document.ts';
import { isTitle, titlesIn } from '../content/headings.ts';
import { type McpLibrary, unknownCollection, unknownDocument } from './mcpLibrary.ts';
import type { McpContext } from './tool.ts';

/** Resources on a page of their list. */
const pageSize = 100;
/** What the protocol allows in one answer. */
const maxSuggestions = 100;

export function answerResources({ server, library, failures }: McpContext): void {
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: resourceTemplates.map(({ kind: _kind, ...template }) => template),
  }));
  server.setRequestHandler('resources/list', ({ params }, { mcpReq: { signal } }) =>
    failures.answer(signal, async () => {
      const offset = params?.cursor ? tryOffset(params.cursor) : 0;
      if (offset === undefined) throw failures.invalid('This list has no such cursor. Begin without one.');
      const { resources, total } = await listResources(await library, pageSize, offset);
      const next = offset + pageSize;
      return { resources, ...(next < total ? { nextCursor: createCursor(next) } : {}) };
    }),
  );
  server.setRequestHandler('resources/read', ({ params: { uri } }, { mcpReq: { signal } }) =>
    failures.answer(signal, async () => {
      const name = tryResourceName(uri);
      const known = await library;
      const read = name === undefined ? undefined : await tryReadResource(known, name, signal);
      if (read === undefined) throw failures.unknownResource(uri, await unknownResource(known, name));
      return { contents: [{ uri, ...read }] };
    }),
  );
  server.setRequestHandler('completion/complete', ({ params: { ref, argument } }, { mcpReq: { signal } }) =>
    failures.answer(signal, async () => {
      if (ref.type === 'ref/prompt' && ref.name !== answerPrompt.name)
        throw failures.invalid(unknownPrompt(ref.name));
      // A question can continue in any way.
      if (ref.type === 'ref/prompt') return { completion: { values: [], hasMore: false } };
      const template = resourceTemplates.find(({ uriTemplate }) => uriTemplate === ref.uri);
      if (template === undefined) throw failures.invalid('There is no such resource template.');
      const name = argument.value.slice(0, 100);
      const found = await completeResource(await library, { kind: template.kind, name });
      const values = found.slice(0, maxSuggestions);
      return { completion: { values, hasMore: found.length > values.length } };
    }),
  );
}

async function unknownResource(library: McpLibrary, name: ResourceName | undefined): Promise<string> {
  if (name === undefined)
    return 'The addresses of resources here are docs://doc/{slug} and docs://collection/{name}.';
  return name.kind === 'doc' ? unknownDocument(library, name.name) : unknownCollection(library, name.name);
}

interface ResourceName {
  readonly kind: 'doc' | 'collection';
  readonly name: string;
  /** The id of a section of the document. */
  readonly section?: string;
}

const mimeType = 'text/markdown';

const resourceTemplates = [
  {
    kind: 'doc',
    uriTemplate: 'docs://doc/{slug}',
    name: 'document',
    title: 'Document',
    description: 'A document as Markdown.',
    mimeType,
  },
  {
    kind: 'collection',
    uriTemplate: 'docs://collection/{name}',
    name: 'collection',
    title: 'Collection',
    description: 'The titles and slugs of the documents of a collection.',
    mimeType,
  },
] as const;

/** Undefined if it is not the address of a document or a collection. */
function tryResourceName(uri: string): ResourceName | undefined {
  const [, kind, name = '', section] =
    /^docs:\/\/(doc|collection)\/([^/?#]{1,1000})(?:#([^#]{1,1000}))?$/.exec(uri) ?? [];
  if (kind !== 'doc' && kind !== 'collection') return undefined;
  try {
    const named = { kind, name: decodeURIComponent(name) } as const;
    return section === undefined ? named : { ...named, section: decodeURIComponent(section) };
  } catch {
    return undefined;
  }
}

/** One page of all resources: the collections by their names, then the documents, newest first. */
async function listResources({ index, drafts }: McpLibrary, limit: number, offset: number) {
  const collections = await index.collections();
  const shown = collections.slice(offset, offset + limit).map((one) => listed('collection', one.name, one));
  const documents = await index.list({
    drafts,
    limit: limit - shown.length,
    offset: Math.max(0, offset - collections.length),
  });
  const total = collections.length + documents.total;
  return { resources: [...shown, ...documents.items.map((one) => listed('doc', one.slug, one))], total };
}

function listed(
  kind: ResourceName['kind'],
  name: string,
  { title, description }: Pick<DocumentMetadata, 'title' | 'description'>,
) {
  const plain = { uri: resourceUri(kind, name), name, title, mimeType };
  return description === null ? plain : { ...plain, description };
}

/** The text of a resource; undefined if there is no resource with this name. */
async function tryReadResource(
  library: McpLibrary,
  { kind, name, section }: ResourceName,
  signal: AbortSignal,
): Promise<{ readonly text: string; readonly mimeType: string } | undefined> {
  if (kind === 'collection') {
    const collection = await library.collection(name);
    if (collection === undefined) return undefined;
    const { definition, documents } = collection;
    const lines = documents.map(
      ({ slug, title }) => `- ${slug}: [${oneLine(title)}](${resourceUri('doc', slug)})`,
    );
    const about = definition.description === null ? [] : [oneLine(definition.description), ''];
    return { text: [`# ${oneLine(definition.title)}`, '', ...about, ...lines, ''].join('\n'), mimeType };
  }
  const document = await library.read(name);
  if (document === undefined) return undefined;
  const { markdown, sections } = await library.parts(document, signal);
  const found = section === undefined ? undefined : sections.find(({ id }) => id === section);
  // As in a browser, an unknown section leads to the document.
  if (found !== undefined) return { text: markdown.slice(found.start, found.end), mimeType };
  // A resource is only its text, so a title that the text does not have stands above it.
  const { body, title } = document;
  const hasTitle = isTitle(titlesIn(body)[0] ?? '', title);
  return { text: hasTitle ? markdown : `# ${oneLine(title)}\n\n${markdown}`, mimeType };
}

/** Slugs of documents, or names of collections: one more than is shown, to find out whether there are more. */
async function completeResource(
  library: McpLibrary,
  { kind, name }: ResourceName,
): Promise<readonly string[]> {
  if (kind === 'doc') return library.index.slugsFrom(name, maxSuggestions + 1);
  const names = (await library.index.collections()).map((one) => one.name);
  return names.filter((one) => one.startsWith(name)).slice(0, maxSuggestions + 1);
}

function resourceUri(kind: ResourceName['kind'], name: string): string {
  return `docs://${kind}/${encodeURIComponent(name)}`;
}

/** As Markdown in which it is neither a link nor a tag. */
function oneLine(title: string): string {
  return title.replace(/\s+/g, ' ').replace(/[[\]\\<]/g, '\\$&');
}

/** Where the next page of a list begins, as an opaque text that clients only send back. */
function createCursor(offset: number): string {
  return Buffer.from(`offset ${offset}`).toString('base64url');
}

/** Undefined if it is not a cursor from `createCursor`. */
function tryOffset(cursor: string): number | undefined {
  const found = /^offset (\d{1,15})$/.exec(Buffer.from(cursor.slice(0, 100), 'base64url').toString());
  return found ? Number(found[1]) : undefined;
}

/** A prompt that a person can choose in a client, as lists contain it. */
const answerPrompt = {
  name: 'answer_from_docs',
  title: 'Answer from the documents',
  description: 'Answers a question from the documents of this library, and cites the sections that it used.',
  arguments: [{ name: 'question', description: 'What you want to know.', required: true }],
};

/** In characters. */
const maxQuestionLength = 10_000;

export function answerPrompts({ server, library, failures }: McpContext): void {
  server.setRequestHandler('prompts/list', () => ({ prompts: [answerPrompt] }));
  server.setRequestHandler('prompts/get', ({ params }, { mcpReq: { signal } }) => {
    if (params.name !== answerPrompt.name) throw failures.invalid(unknownPrompt(params.name));
    const question = params.arguments?.['question']?.trim() ?? '';
    if (question === '') throw failures.invalid('The argument "question" is missing.');
    if (question.length > maxQuestionLength)
      throw failures.invalid(`"question" must have at most ${maxQuestionLength} characters.`);
    return failures.answer(signal, async () => {
      const { hasMeaning } = (await library).search;
      const content = { type: 'text' as const, text: answerText(question, hasMeaning) };
      return { description: answerPrompt.description, messages: [{ role: 'user' as const, content }] };
    });
  });
}

function unknownPrompt(name: string): string {
  return `There is no prompt "${name.slice(0, 100)}". There is ${answerPrompt.name}.`;
}

function answerText(question: string, hasMeaning: boolean): string {
  return `Answer the question below from the documents of this library.

1. Look for it with search_docs. ${hasMeaning ? askForBoth : askForWords}
2. Read what fits with get_doc_markdown: the section that the result names, or all of a short document.
3. Answer only from what you have read. After each statement, cite the address of the section that says it.
4. If nothing that you have read answers the question, say that the documents do not answer it, and stop there.

Question: ${question}`;
}

const askForWords = 'Ask the question as it is, or in the words of its subject.';
const askForBoth = `${askForWords} What was found by meaning alone is only the nearest, and may be about something else.`;
