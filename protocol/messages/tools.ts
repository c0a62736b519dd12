import type { Advice } from './advice.ts';
import type { FileDiff, ToolCall } from './chat.ts';
import type { NotificationMessage, RequestMessage } from './messageTypes.ts';

/** A model that refused tools. It gets no tools for the rest of the editor's session. */
export interface ToolRefusal {
  /** The address of its server. */
  readonly url: string;
  readonly model: string;
  /** The model's digest at the time. With another digest it is another model, and the refusal is forgotten. */
  readonly digest?: string;
}

export interface ToolRefusals {
  readonly refusals: readonly ToolRefusal[];
}

/**
 * Daemon to client: all refusals of this session, sent whenever they change. A client that starts another daemon in the
 * same session passes them on, as `refusedTools` of `initializationOptions`.
 */
export const toolsDidRefuse: NotificationMessage<ToolRefusals> = { method: 'runner/tools/didRefuse' };

/** A tool server (MCP) that the daemon starts. They communicate over the server's standard input and output. */
export interface StdioToolServer {
  readonly command: string;
  readonly args?: readonly string[];
  /** Added to what every server inherits. The values appear in no log and no error. */
  readonly env?: Readonly<Record<string, string>>;
  /** Default: the workspace's root, else `HOME`. */
  readonly cwd?: string;
  readonly disabled?: boolean;
  readonly enabled?: boolean;
}

/** A tool server (MCP) at an address, over Streamable HTTP. */
export interface HttpToolServer {
  readonly type?: 'http';
  readonly url: string;
  /** Sent only to the origin of the address. The values appear in no log and no error. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Our client id at its authorization server, if that server does not register clients itself. */
  readonly clientId?: string;
  readonly disabled?: boolean;
  readonly enabled?: boolean;
}

/** Tool servers by name. */
export type ToolServers = Readonly<Record<string, StdioToolServer | HttpToolServer>>;

/** The name of the tool server that is built in: no entry has it. */
export const builtinServer = 'builtin';

/** Tools that run without a question, by the name of their server and their own name. */
export type Approvals = Readonly<Record<string, 'always' | readonly string[]>>;

/** A command that the user lets models run: a list of words that no shell reads. */
export interface CheckOptions {
  /**
   * The program and its arguments. The argument `{path}` becomes the path that a call names; a call without a path
   * leaves it out.
   */
  readonly command: readonly string[];
  /**
   * In seconds. `timeouts.toolTotal` limits it too.
   * @minimum 1
   * @maximum 86400
   * @default 120
   */
  readonly timeout?: number;
  /** Added to what every tool server inherits. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Checks by the absolute path of their project folder, and by their name. */
export type Checks = Readonly<Record<string, Readonly<Record<string, CheckOptions>>>>;

/** What a server says about a tool. It is shown but decides nothing, because the server may say anything. */
export interface ToolAnnotations {
  readonly title?: string;
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

export interface ListedTool {
  /** The server's own name for the tool; the model may see another name. */
  readonly name: string;
  readonly title?: string;
  /**
   * What it does.
   * @maxLength 1024
   */
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
  /** What can be done about it, if the message ends in that. */
  readonly advice?: Advice;
  /** It failed because nobody is logged in: `runner/tools/login`, which is `runner mcp login NAME` in a terminal. */
  readonly needsLogin?: boolean;
  readonly tools: readonly ListedTool[];
}

export interface ListToolsParams {
  /** Names of tool servers. Absent means all of them. */
  readonly servers?: readonly string[];
}

export interface ListToolsResult {
  /** In the order of the entries. */
  readonly servers: readonly ListedToolServer[];
}

/**
 * Client to daemon: lists the tool servers and what they offer. Servers that do not run yet are started; the daemon
 * waits up to 15 s for them.
 */
export const listToolsRequest: RequestMessage<ListToolsParams, ListToolsResult> = {
  method: 'runner/tools/list',
};

/** Daemon to client: a tool server started, stopped, or changed its tools, or the settings have other tool servers. */
export const toolsDidChange: NotificationMessage<object> = { method: 'runner/tools/didChange' };

export interface ApproveToolParams {
  /** The `streamId` of the chat that wants the call. */
  readonly streamId: string;
  readonly toolCall: ToolCall;
  readonly server: string;
  readonly title?: string;
  readonly description: string;
  readonly annotations?: ToolAnnotations;
  /** What the call would change, in place of most of its arguments. Only a client with `showsDiffs` gets it. */
  readonly diff?: FileDiff;
  /** The words of the command that the call would run. They may come from a model. */
  readonly command?: readonly string[];
  /** The possible answers. Absent: `once`, `session`, `always` and `deny`. Any other answer is a denial. */
  readonly decisions?: readonly ToolDecision[];
}

/**
 * `session` applies until the daemon ends, `always` until the tool's description or schema changes. `answer` applies to
 * all edits of this chat. `stop` denies the call and ends the chat as cancelled. The last two are offered only for
 * edits, and only to a client whose {@link ToolCapabilities.decisions} name them.
 */
export type ToolDecision = 'once' | 'session' | 'always' | 'answer' | 'deny' | 'stop';

export interface ApproveToolResult {
  readonly decision: ToolDecision;
  /** With `deny` and `stop`: what the model should know of it, of which 1,000 characters count. */
  readonly reason?: string;
}

/** Daemon to client, if the client has {@link ToolCapabilities.approvesTools}: may this call run? */
export const approveToolRequest: RequestMessage<ApproveToolParams, ApproveToolResult> = {
  method: 'runner/tools/approve',
};

/** How far a call of a daemon tool has come, as its server reports it. */
export interface CallProgress {
  /**
   * Grows with each report.
   * @type number
   */
  readonly progress: number;
  /**
   * What `progress` reaches at the end, if the server knows it.
   * @type number
   */
  readonly total?: number;
  /**
   * What the server is doing.
   * @maxLength 1000
   */
  readonly message?: string;
}

export interface ToolProgress extends CallProgress {
  /** The `streamId` of the chat. */
  readonly streamId: string;
  /** The `id` of the call. */
  readonly id: string;
}

/**
 * Daemon to client: a call of a daemon tool makes progress. Reports that come faster than they are read are left out.
 */
export const toolProgress: NotificationMessage<ToolProgress> = { method: 'runner/tools/progress' };

export interface LoginParams {
  /** The name of a tool server at an address. */
  readonly server: string;
}

export interface LoginResult {
  /** The address that the user's browser must open: https, or http on this machine. */
  readonly url: string;
  /** The address to which the browser is redirected at the end. The daemon listens there until the login ends. */
  readonly redirectUrl: string;
}

/** Client to daemon: begins a login (OAuth). It ends an earlier login to the same server that is still open. */
export const loginRequest: RequestMessage<LoginParams, LoginResult> = { method: 'runner/tools/login' };

export interface FinishLoginParams {
  readonly server: string;
  /**
   * The whole address to which the browser was redirected, if the browser runs on another machine and cannot reach the
   * daemon. Without it the daemon waits for the browser.
   */
  readonly redirectedTo?: string;
}

export interface FinishLoginResult {
  /** What the login allows, in the words of the server, if it says so. */
  readonly scope?: string;
}

/** Client to daemon: waits until the user is logged in, for ten minutes at most. A cancel ends the login. */
export const finishLoginRequest: RequestMessage<FinishLoginParams, FinishLoginResult> = {
  method: 'runner/tools/finishLogin',
};

export interface LogoutResult {
  readonly wasLoggedIn: boolean;
  /** Whether the authorization server confirmed the revocation. */
  readonly isRevoked: boolean;
}

/** Client to daemon: forgets the login, and revokes it if the server offers that. */
export const logoutRequest: RequestMessage<LoginParams, LogoutResult> = { method: 'runner/tools/logout' };

export interface EditsParams {
  /** The `id` of a kept conversation. */
  readonly session: string;
  /** How many prompts of the user the conversation has: those of the turn are meant. */
  readonly prompt: number;
}

/** What the built-in tools have changed in a turn, each file once. */
export interface EditsResult {
  readonly files: readonly FileDiff[];
  /** How many edits there were; 0 if the turn has made none. */
  readonly count: number;
}

export interface RestoredEdits {
  /** The names of the files. */
  readonly restored: readonly string[];
  /** Files that are not as the edits left them, and stay. `reason` is a sentence. */
  readonly left: readonly { readonly name: string; readonly reason: string }[];
}

/** Client to daemon: the edits of the last turn, if it is the one with this prompt. */
export const listEditsRequest: RequestMessage<EditsParams, EditsResult> = { method: 'runner/edits/list' };

/** Client to daemon: takes these edits back. Nothing that anybody else has changed is overwritten. */
export const undoEditsRequest: RequestMessage<EditsParams, RestoredEdits> = { method: 'runner/edits/undo' };

/** Client to daemon: brings back what was taken back last in the conversation. */
export const redoEditsRequest: RequestMessage<Pick<EditsParams, 'session'>, RestoredEdits> = {
  method: 'runner/edits/redo',
};

/** A check of the project folder as it counts now. */
export interface ListedCheck {
  readonly name: string;
  readonly folder: string;
  readonly command: readonly string[];
}

/** What a file of the project suggests. */
export interface SuggestedCheck extends ListedCheck {
  /** The name of the file, in the folder. */
  readonly file: string;
  /** Of the whole file: with another content it is another suggestion. */
  readonly hash: string;
}

/** Client to daemon: the checks that a model may be offered. */
export const listChecksRequest: RequestMessage<
  Record<string, never>,
  { readonly checks: readonly ListedCheck[] }
> = { method: 'runner/checks/list' };

/** Client to daemon: what files of the project suggest, without the names that are taken. */
export const suggestChecksRequest: RequestMessage<
  Record<string, never>,
  { readonly suggestions: readonly SuggestedCheck[] }
> = { method: 'runner/checks/suggest' };

/** Client to daemon: the user takes this suggestion. It counts until its file changes. */
export const allowCheckRequest: RequestMessage<
  Pick<SuggestedCheck, 'folder' | 'name' | 'hash'>,
  Record<string, never>
> = { method: 'runner/checks/allow' };

/** What a client announces about itself as `capabilities.experimental.runner`. */
export interface ToolCapabilities {
  /** The version of this protocol that the client needs. A daemon that does not speak it refuses `initialize`. */
  readonly protocolVersion?: number;
  /** The client answers `runner/tools/approve`. Otherwise the daemon runs only what `approvals` allow. */
  readonly approvesTools?: boolean;
  /** The client answers `runner/tools/elicit`. Otherwise no tool server is told that it can ask the user. */
  readonly elicits?: boolean;
  /** The client shows `diff` with its question. Otherwise no model is offered the built-in tool that edits files. */
  readonly showsDiffs?: boolean;
  /** Which of the later decisions the client can give. */
  readonly decisions?: readonly ('answer' | 'stop')[];
  /** An absolute path: the folder that the built-in tools use if the client has no workspace, as in a terminal. */
  readonly folder?: string;
}
