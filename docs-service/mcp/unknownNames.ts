import type { McpLibrary } from './mcpLibrary.ts';

/** A sentence about a missing document, with slugs that resemble the wrong one. */
export async function unknownDocument(library: McpLibrary, slug: string): Promise<string> {
  const wrong = slug.slice(0, 100);
  const near = wrong === '' ? [] : await library.index.nearSlugs(wrong, 3);
  const hint =
    near.length === 0 ? 'search_docs finds documents.' : `Did you mean ${quoted(near).join(' or ')}?`;
  return withNotice(`There is no document "${wrong}". ${hint}`, await library.notice());
}

/** A sentence about a missing collection, with the first existing ones. */
export async function unknownCollection(library: McpLibrary, name: string): Promise<string> {
  const names = (await library.index.collections()).slice(0, 10).map((one) => one.name);
  const hint = names.length === 0 ? 'The library has none.' : `There is ${quoted(names).join(', ')}.`;
  return withNotice(`There is no collection "${name.slice(0, 100)}". ${hint}`, await library.notice());
}

function quoted(names: readonly string[]): readonly string[] {
  return names.map((name) => `"${name}"`);
}

function withNotice(sentence: string, notice: string | undefined): string {
  return notice === undefined ? sentence : `${sentence} ${notice}`;
}
