import { withoutUndefined } from '../../protocol/base/json.ts';
import type { ListedTool, ListedToolServer } from '../../protocol/messages/tools.ts';
import type { CallOutcome, PreparedCall } from '../chat/daemonTools.ts';
import type { ProjectRules } from '../chat/projectRules.ts';
import type { CheckRequests } from './builtin/checks.ts';
import type { EditHistory } from './builtin/editHistory.ts';
import type { CallOptions, ServerRequest, ToolRequest } from './mcpSession.ts';
import type { ServerEntry } from './serverEntry.ts';
import type { ServerTool } from './toolList.ts';

/** One server over its life: an MCP server, or the built-in one. */
export interface ToolServer {
  /** Its tools as they are now. Rejects only with the reason of an aborted signal. */
  state(signal: AbortSignal): Promise<ServerState>;
  /** The outcome, even if the call failed. Rejects with the reason of an aborted signal. */
  call(request: ToolRequest, options: CallOptions): Promise<CallOutcome>;
  /** Looks what a call would do, before the user is asked. Rejects with the reason of an aborted signal. */
  readonly prepare?: (request: ToolRequest, signal: AbortSignal) => Promise<PreparedCall>;
  /**
   * Asks for something other than a tool; undefined if the server does not offer that.
   * @throws {Error} a sentence, or the reason of an aborted signal.
   */
  ask?(request: ServerRequest, options: AskOptions): Promise<unknown>;
  /** The edits of a conversation, if it has made any. */
  readonly edits?: EditHistory;
  /** What runs of the user's checks. Only the built-in server has them. */
  readonly checks?: CheckRequests;
  /** What models should heed in this project, as it stands in files now. */
  rules?(): Promise<ProjectRules | undefined>;
  close(): Promise<void>;
}

export interface AskOptions {
  readonly signal: AbortSignal;
  /** In ms, from when the server is ready; its start has its own limit. */
  readonly limit: number;
  /** A server that does not run is not started: then the answer is undefined. */
  readonly isOnlyIfRunning?: boolean;
}

/** A server that can be asked for prompts and resources, under the name of its entry. */
export interface AskableServer {
  readonly name: string;
  readonly server: Pick<ToolServer, 'ask'>;
}

/** What a server offers now, or why it offers nothing. */
export interface ServerState extends Omit<ListedToolServer, 'name' | 'tools'> {
  readonly entry: ServerEntry;
  /** Absent if the server cannot be used. */
  readonly server?: ToolServer;
  readonly tools: readonly ServerTool[];
  /** What a model should know of its work with the tools; `nameOf` has the names of those that it is offered. */
  readonly instructions?: (nameOf: (tool: string) => string | undefined) => string;
  /** For a call of a tool that nobody offers. */
  readonly adviceOn?: (name: string) => string | undefined;
}

/** The state for clients. */
export function toListed({
  entry,
  server: _,
  instructions: __,
  adviceOn: ___,
  tools,
  ...state
}: ServerState): ListedToolServer {
  const listed = tools.map(({ name, title, description, inputSchema, annotations }) =>
    withoutUndefined<ListedTool>({ name, title, description, inputSchema, annotations }),
  );
  return { name: entry.name, ...state, tools: listed };
}
