import type { Tool as ListedTool } from '@modelcontextprotocol/server';
import { type TObject, Type } from 'typebox';
import { withoutUndefined } from '../../protocol/base/withoutUndefined.ts';
import { getDocMarkdown } from './getDocMarkdown.ts';
import type { McpContext } from './mcpErrors.ts';
import { searchDocs } from './searchDocs.ts';
import { defineTool, parseArguments, type Tool } from './tool.ts';

const listCollections = defineTool({
  name: 'list_collections',
  title: 'List collections',
  description:
    'Lists the collections of this library with their numbers of documents. ' +
    'The resource docs://collection/{name} has the titles and slugs of the documents of one.',
  input: Type.Object({}, { additionalProperties: false }),
  output: Type.Object({
    collections: Type.Array(
      Type.Object({ name: Type.String(), title: Type.String(), documents: Type.Integer() }),
    ),
    notice: Type.Optional(Type.String({ description: 'Why collections may be missing.' })),
  }),
  async call(_args, library) {
    const [collections, notice] = await Promise.all([library.countedCollections(), library.notice()]);
    return withoutUndefined({
      collections: collections.map(({ name, title, documents }) => ({ name, title, documents })),
      notice,
    });
  },
});

/** Each gets only arguments that its own schema accepts. */
const tools = [searchDocs, getDocMarkdown, listCollections] as unknown as readonly Tool[];

export function answerTools({ server, library, failures }: McpContext): void {
  server.setRequestHandler('tools/list', () => ({ tools: tools.map(toolToListed) }));
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq: { signal } }) => {
    const tool = tools.find(({ name }) => name === params.name);
    if (tool === undefined) throw failures.invalid(unknownTool(params.name));
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

function toolToListed({ name, title, description, input, output }: Tool): ListedTool {
  return {
    name,
    title,
    description,
    inputSchema: jsonSchema(input),
    outputSchema: jsonSchema(output),
    annotations: {
      title,
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    },
  };
}

/** TypeBox's output is already JSON Schema. */
function jsonSchema(schema: TObject): ListedTool['inputSchema'] {
  return schema as unknown as ListedTool['inputSchema'];
}

function unknownTool(name: string): string {
  return `There is no tool "${name.slice(0, 100)}". There is ${tools.map((tool) => tool.name).join(', ')}.`;
}
