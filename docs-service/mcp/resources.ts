import type { DocumentMetadata } from '../content/document.ts';
import type { McpLibrary } from './mcpLibrary.ts';

/** A resource, as lists contain it. */
export interface ListedResource {
  readonly uri: string;
  readonly name: string;
  readonly title: string;
  readonly description?: string;
  readonly mimeType: string;
}

/** The parts of a resource's address. */
export interface ResourceName {
  readonly kind: 'doc' | 'collection';
  readonly name: string;
}

const mimeType = 'text/markdown';

export const resourceTemplates = [
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
export function tryResourceName(uri: string): ResourceName | undefined {
  const [, kind, name = ''] = /^docs:\/\/(doc|collection)\/([^/?#]{1,1000})$/.exec(uri) ?? [];
  if (kind !== 'doc' && kind !== 'collection') return undefined;
  try {
    return { kind, name: decodeURIComponent(name) };
  } catch {
    return undefined;
  }
}

/** One page of all resources: the collections by their names, then the documents, newest first. */
export async function listResources(
  { index, drafts }: McpLibrary,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ readonly resources: readonly ListedResource[]; readonly total: number }> {
  const collections = await index.collections();
  const shown = collections.slice(offset, offset + limit).map(({ name, title, description }) => ({
    uri: resourceUri('collection', name),
    name,
    title,
    mimeType,
    ...(description === null ? {} : { description }),
  }));
  const documents = await index.list({
    drafts,
    limit: limit - shown.length,
    offset: Math.max(0, offset - collections.length),
  });
  const total = collections.length + documents.total;
  return { resources: [...shown, ...documents.items.map(listedDocument)], total };
}

function listedDocument({ slug, title, description }: DocumentMetadata): ListedResource {
  const listed = { uri: resourceUri('doc', slug), name: slug, title, mimeType };
  return description === null ? listed : { ...listed, description };
}

/** The text of a resource; undefined if there is no resource with this name. */
export async function tryReadResource(
  library: McpLibrary,
  { kind, name }: ResourceName,
  signal: AbortSignal,
): Promise<{ readonly text: string; readonly mimeType: string } | undefined> {
  if (kind === 'collection') {
    const collection = await library.collection(name);
    if (collection === undefined) return undefined;
    const { definition, documents } = collection;
    const lines = documents.map(
      ({ slug, title }) => `- ${slug}: [${oneLine(title)}](${resourceUri('doc', slug)})`,
    );
    const about = definition.description === null ? [] : [definition.description, ''];
    return { text: [`# ${oneLine(definition.title)}`, '', ...about, ...lines, ''].join('\n'), mimeType };
  }
  const document = await library.read(name);
  if (document === undefined) return undefined;
  const { markdown } = await library.parts(document, signal);
  return { text: markdown, mimeType };
}

/** Completions for the names of resources: slugs of documents, or names of collections. */
export async function completeResource(
  library: McpLibrary,
  { kind, name }: ResourceName,
): Promise<readonly string[]> {
  if (kind === 'doc') return library.index.slugsFrom(name, mostCompletions);
  const names = (await library.index.collections()).map((one) => one.name);
  return names.filter((one) => one.startsWith(name)).slice(0, mostCompletions);
}

/** One more than is shown, to find out whether there are more. */
const mostCompletions = 101;

function resourceUri(kind: ResourceName['kind'], name: string): string {
  return `docs://${kind}/${encodeURIComponent(name)}`;
}

function oneLine(title: string): string {
  return title.replace(/\s+/g, ' ').replace(/[[\]\\]/g, '\\$&');
}
