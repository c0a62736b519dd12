import type { Tool as ListedTool } from '@modelcontextprotocol/server';
import type { TObject, TSchema } from 'typebox';
import { connectorTools } from './connectorTools.ts';
import { getDocMarkdown } from './getDocMarkdown.ts';
import { listCollections } from './listCollections.ts';
import type { McpContext } from './mcpErrors.ts';
import { searchDocs } from './searchDocs.ts';
import { parseArguments, type Tool } from './tool.ts';

const usualTools = [searchDocs, getDocMarkdown, listCollections];

export function answerTools({ server, library, failures, hasConnectorTools }: McpContext): void {
  // Each gets only arguments that its own schema accepts.
  const tools = [...usualTools, ...(hasConnectorTools ? connectorTools : [])] as unknown as readonly Tool[];
  server.setRequestHandler('tools/list', () => ({ tools: tools.map(toolToListed) }));
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq: { signal } }) => {
    const tool = tools.find(({ name }) => name === params.name);
    if (tool === undefined) throw failures.invalid(unknownTool(params.name, tools));
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
    inputSchema: jsonSchema({ ...input, properties: withoutMaxima(input) }),
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

/**
 * A larger number counts as the maximum, so a client that checks arguments itself must not refuse it; the description
 * has the maximum.
 */
function withoutMaxima({ properties }: TObject): TObject['properties'] {
  const entries = Object.entries<TSchema & { description?: string; maximum?: number }>(properties);
  return Object.fromEntries(
    entries.map(([name, { maximum = Number.MAX_SAFE_INTEGER, description = '', ...schema }]) => {
      const bound = maximum === Number.MAX_SAFE_INTEGER ? '' : ` At most ${maximum}.`;
      return [name, { ...schema, description: description + bound }];
    }),
  );
}

/** TypeBox's output is already JSON Schema. */
function jsonSchema(schema: TObject): ListedTool['inputSchema'] {
  return schema as unknown as ListedTool['inputSchema'];
}

function unknownTool(name: string, tools: readonly Tool[]): string {
  return `There is no tool "${name.slice(0, 100)}". There is ${tools.map((tool) => tool.name).join(', ')}.`;
}
