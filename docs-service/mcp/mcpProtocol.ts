// The used part of the SDK of the Model Context Protocol: a bundle of its own, which is loaded only when needed.
export { createMcpHandler, isLegacyRequest, ProtocolError, Server } from '@modelcontextprotocol/server';
export { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
