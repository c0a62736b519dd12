import type { ToolCall } from './chat.ts';
import type { NotificationMessage, RequestMessage } from './messageTypes.ts';

/** A model that refused tools: it is offered none for the rest of the editor's session. */
export interface ToolRefusal {
  /** The address of its server. */
  readonly url: string;
  readonly model: string;
  /** The digest that it had: with another one it is another model, and the refusal is forgotten. */
  readonly digest?: string;
}

export interface ToolRefusals {
  readonly refusals: readonly ToolRefusal[];
}

/**
 * Daemon to client: all refusals that hold in this session, whenever they change. A client that starts another daemon
 * in the same session hands them on, as `refusedTools` of `initializationOptions`.
 */
export const toolsDidRefuse: NotificationMessage<ToolRefusals> = { method: 'runner/tools/didRefuse' };

/** A tool server (MCP) that the daemon starts and speaks to over its standard input and output. */
export interface StdioToolServer {
  readonly command: string;
  readonly args?: readonly string[];
  /** Beside what every server inherits; the values appear in no log and no error. */
  readonly env?: Readonly<Record<string, string>>;
  /** Default: the workspace's root, else `HOME`. */
  readonly cwd?: string;
  readonly disabled?: boolean;
}

/** A tool server (MCP) at an address, over Streamable HTTP. */
export interface HttpToolServer {
  readonly type?: 'http';
  readonly url: string;
  /** Sent to the address's origin alone; the values appear in no log and no error. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Who we are at its authorization server, where it does not register clients itself. */
  readonly clientId?: string;
  readonly disabled?: boolean;
}

/** Tool servers by name. */
export type ToolServers = Readonly<Record<string, StdioToolServer | HttpToolServer>>;

/** Tools that run without a question, by the name of their server and by their own. */
export type Approvals = Readonly<Record<string, 'always' | readonly string[]>>;

/** What a server says of a tool. It is shown and decides nothing: the server may say what it likes. */
export interface ToolAnnotations {
  readonly title?: string;
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

export interface ListedTool {
  /** The server's own name for it; a model may see another one. */
  readonly name: string;
  readonly title?: string;
  /** At most 1,024 characters. */
  readonly description: string;
  /** A JSON Schema of an object. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly annotations?: ToolAnnotations;
}

export interface ListedToolServer {
  readonly name: string;
  readonly state: 'ready' | 'failed' | 'disabled';
  /** Why it failed, and what to do. */
  readonly message?: string;
  readonly tools: readonly ListedTool[];
}

export interface ListToolsParams {
  /** Names of tool servers; absent is all of them. */
  readonly servers?: readonly string[];
}

export interface ListToolsResult {
  /** In the order of the entries. */
  readonly servers: readonly ListedToolServer[];
}

/** Client to daemon: the tool servers and what they offer. Those that are not there are started, and waited for for 15 s. */
export const listToolsRequest: RequestMessage<ListToolsParams, ListToolsResult> = {
  method: 'runner/tools/list',
};

/** Daemon to client: a tool server came, went, or has other tools. */
export const toolsDidChange: NotificationMessage<object> = { method: 'runner/tools/didChange' };

export interface ApproveToolParams {
  /** Of the chat that wants the call. */
  readonly streamId: string;
  readonly toolCall: ToolCall;
  readonly server: string;
  readonly title?: string;
  readonly description: string;
  readonly annotations?: ToolAnnotations;
}

/** `session` holds until the daemon ends, `always` until the tool's description or schema changes. */
export type ToolDecision = 'once' | 'session' | 'always' | 'deny';

export interface ApproveToolResult {
  readonly decision: ToolDecision;
}

/** Daemon to client, where the client has {@link ClientCapabilities.approvesTools}: may this call run? */
export const approveToolRequest: RequestMessage<ApproveToolParams, ApproveToolResult> = {
  method: 'runner/tools/approve',
};

/** What a client announces of itself as `capabilities.experimental.runner`. */
export interface ClientCapabilities {
  /** It answers `runner/tools/approve`. Otherwise only what `approvals` allow is run. */
  readonly approvesTools?: boolean;
}
