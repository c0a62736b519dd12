import { parsePlaces, placeOptions } from '../serveConfig.ts';
import { defineCommand } from './command.ts';

export const mcpCommand = defineCommand({
  usage: 'mcp',
  summary:
    'Serves the library to one agent by MCP on standard input and output, without drafts. It needs neither a token nor "serve".',
  words: 0,
  options: placeOptions,
  async run({ values }, surroundings) {
    const places = parsePlaces(values, surroundings.env);
    const { serveStdioLibrary } = await import('../mcp/stdioLibrary.ts');
    await serveStdioLibrary(places, { surroundings, ...surroundings.protocolStreams() });
    return 0;
  },
});
