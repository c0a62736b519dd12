import type { Advice } from '../../protocol/messages/advice.ts';
import type { ListedToolServer } from '../../protocol/messages/tools.ts';
import type { CallOutcome, PreparedCall } from '../chat/daemonTools.ts';
import type { CallOptions, ToolRequest } from './mcpSession.ts';
import type { ServerEntry } from './serverEntry.ts';
import type { McpTool } from './toolList.ts';

/** One server over its life: an MCP server, or the built-in one. */
export interface ToolServer {
  /** Its tools as they are now. Rejects only with the reason of an aborted signal. */
  state(signal: AbortSignal): Promise<ServerState>;
  /** The outcome, even if the call failed. Rejects with the reason of an aborted signal. */
  call(request: ToolRequest, options: CallOptions): Promise<CallOutcome>;
  /** Looks what a call would do, before the user is asked. Rejects with the reason of an aborted signal. */
  prepare?(request: ToolRequest, signal: AbortSignal): Promise<PreparedCall>;
  close(): Promise<void>;
}

/** What a server offers now, or why it offers nothing. */
export interface ServerState {
  readonly entry: ServerEntry;
  /** Absent if the server cannot be used. */
  readonly server?: ToolServer;
  readonly state: ListedToolServer['state'];
  readonly tools: readonly McpTool[];
  /** A sentence, if it failed. */
  readonly message?: string;
  readonly advice?: Advice;
  readonly needsLogin?: boolean;
}
