// The SDK of the Model Context Protocol, as far as it is used: a bundle of its own, which is loaded by who needs it.
export { createMcpHandler, isLegacyRequest, ProtocolError, Server } from '@modelcontextprotocol/server';
export { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
