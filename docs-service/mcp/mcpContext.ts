import type { Server } from '@modelcontextprotocol/server';
import type { McpFailures } from './mcpFailures.ts';
import type { McpLibrary } from './mcpLibrary.ts';

/** What the handlers of a server share. */
export interface McpContext {
  readonly server: Server;
  readonly library: Promise<McpLibrary>;
  readonly failures: McpFailures;
}
