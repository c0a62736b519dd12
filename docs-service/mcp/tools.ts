import type { Tool as ListedTool } from '@modelcontextprotocol/server';
import { type TObject, Type } from 'typebox';
import { connectorTools } from './connectorTools.ts';
import { getDocMarkdown } from './getDocMarkdown.ts';
import type { McpContext } from './mcpErrors.ts';
import { searchDocs } from './searchDocs.ts';
import { type DocsTool, defineTool, parseArguments } from './tool.ts';

const listCollections = defineTool({
  name: 'list_collections',
  title: 'List collections',
  description:
    'Lists the collections of this library with their numbers of documents. ' +
    'The resource docs://collection/{name} has the titles and slugs of the documents of one.',
  input: {},
  output: {
    collections: Type.Array(
      Type.Object({ name: Type.String(), title: Type.String(), documents: Type.Integer() }),
    ),
  },
  async call(_args, library) {
    return { collections: [...(await library.countedCollections())] };
  },
});

const usualTools = [searchDocs, getDocMarkdown, listCollections];

export function answerTools({ server, library, failures, hasConnectorTools }: McpContext): void {
  // Each gets only arguments that its own schema accepts.
  const tools = [
    ...usualTools,
    ...(hasConnectorTools ? connectorTools : []),
  ] as unknown as readonly DocsTool[];
  server.setRequestHandler('tools/list', () => ({ tools: tools.map(toolToListed) }));
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq: { signal } }) => {
    const tool = tools.find(({ name }) => name === params.name);
    const names = tools.map(({ name }) => name).join(', ');
    if (tool === undefined)
      throw failures.invalid(`There is no tool "${params.name.slice(0, 100)}". There is ${names}.`);
    try {
      const args = parseArguments(tool.input, params.arguments);
      const structuredContent = await tool.call(args, await library, signal);
      return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
    } catch (error) {
      if (signal.aborted) throw error;
      return { content: [{ type: 'text', text: failures.sentenceOf(error) }], isError: true };
    }
  });
}

function toolToListed({ name, title, description, input, output }: DocsTool): ListedTool {
  const hints = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
  return {
    ...{ name, title, description, annotations: { title, ...hints } },
    ...{ inputSchema: jsonSchema(input), outputSchema: jsonSchema(output) },
  };
}

/** TypeBox's output is already JSON Schema. A larger number counts as the maximum, so no client must refuse it. */
function jsonSchema(schema: TObject): ListedTool['inputSchema'] {
  return JSON.parse(JSON.stringify(schema, (key, value) => (key === 'maximum' ? undefined : value)));
}
