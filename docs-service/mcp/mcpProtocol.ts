// The part of the SDK of the Model Context Protocol that is used: a bundle of its own, which is loaded only when
// needed.
export { createMcpHandler, ProtocolError, Server } from '@modelcontextprotocol/server';
export { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';

export type McpProtocol = typeof import('./mcpProtocol.ts');
