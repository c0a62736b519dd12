import { createCursor, tryOffset } from './cursor.ts';
import type { McpContext } from './mcpContext.ts';
import type { McpLibrary } from './mcpLibrary.ts';
import { answerPrompt, unknownPrompt } from './prompts.ts';
import {
  completeResource,
  listResources,
  type ResourceName,
  resourceTemplates,
  tryReadResource,
  tryResourceName,
} from './resources.ts';
import { unknownCollection, unknownDocument } from './unknownNames.ts';

/** Resources on a page of their list. */
const pageSize = 100;
/** What the protocol allows in one answer. */
const mostSuggestions = 100;

export function answerResources({ server, library, failures }: McpContext): void {
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: resourceTemplates.map(({ kind: _kind, ...template }) => template),
  }));
  server.setRequestHandler('resources/list', ({ params }, { mcpReq: { signal } }) =>
    failures.answer(signal, async () => {
      const offset = params?.cursor === undefined ? 0 : tryOffset(params.cursor);
      if (offset === undefined) throw failures.invalid('This list has no such cursor. Begin without one.');
      const { resources, total } = await listResources(await library, { limit: pageSize, offset });
      const next = offset + pageSize;
      return { resources: [...resources], ...(next < total ? { nextCursor: createCursor(next) } : {}) };
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
      const values = found.slice(0, mostSuggestions);
      return { completion: { values, hasMore: found.length > values.length } };
    }),
  );
}

async function unknownResource(library: McpLibrary, name: ResourceName | undefined): Promise<string> {
  if (name === undefined)
    return 'The addresses of resources here are docs://doc/{slug} and docs://collection/{name}.';
  return name.kind === 'doc' ? unknownDocument(library, name.name) : unknownCollection(library, name.name);
}
