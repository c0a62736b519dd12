import type { AdviceMessage } from './advice.ts';
import type { NotificationMessage, RequestMessage, ServerParams } from './messageTypes.ts';

export type Role = 'system' | 'user' | 'assistant' | 'tool';

export interface Message {
  readonly role: Role;
  /** In a user message: what the user typed, if the client can separate that from what it attaches. */
  readonly content: string;
  /** In a user message: what the client attached. It is context, not something that the user wrote. */
  readonly attachments?: readonly Attachment[];
  /** Base64, without a `data:` prefix. */
  readonly images?: readonly string[];
  readonly thinking?: string;
  /** Only in an assistant message. */
  readonly toolCalls?: readonly ToolCall[];
  /** In a tool message: the `id` of the call that it answers. */
  readonly toolCallId?: string;
  /** In a tool message: the name of the tool that answered. */
  readonly toolName?: string;
}

/** A text that accompanies what the user typed, such as a file or selected lines. */
export interface Attachment {
  /**
   * Where the text comes from, as the model sees it: a path, an address or a few words.
   * @minLength 1
   */
  readonly path: string;
  /** The lines that the text covers, counted from 1, such as `3-9`. Absent means the whole file. */
  readonly lines?: string;
  /** The language of the text, such as `lua`. */
  readonly language?: string;
  readonly text: string;
  /**
   * The addresses of the files that the text comes from, such as `file:///home/me/a.lua`; of a renamed file both. They
   * decide whether the text is private. Without them, `path` does.
   */
  readonly uris?: readonly string[];
  /** The client added it, and the user did not name it. If it is private, only its name is sent. */
  readonly automatic?: boolean;
}

export interface ToolCall {
  readonly id: string;
  /** @minLength 1 */
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface Tool {
  /** @minLength 1 */
  readonly name: string;
  readonly description: string;
  /** A JSON Schema of an object. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/**
 * How far a model may go with the built-in tools; only the user chooses it. `read`: it is offered neither edits nor
 * checks. `ask`: the user is asked about each. `edit`: edits are made without a question. `auto`: so are reads and
 * checks, in a trusted workspace. Some files are asked about in every mode, because they decide what runs.
 */
export type AgentMode = 'read' | 'ask' | 'edit' | 'auto';

export const agentModes: readonly AgentMode[] = ['read', 'ask', 'edit', 'auto'];

/** What was removed from the prompts of a conversation to save room. It stays out of later ones. */
export interface ClearedParts {
  /** The ids of the calls whose results are removed. */
  readonly results: readonly string[];
  /** The ids of the first calls of rounds that are removed. */
  readonly rounds: readonly string[];
  /** How many answers, from the beginning, have no thinking any more. */
  readonly answers: number;
  /** How many turns, from the beginning, are removed. */
  readonly turns: number;
}

export interface AgentParams {
  /** @default ask */
  readonly mode?: AgentMode;
  /** What an earlier turn reported. A kept conversation (`session`) needs none, because its file has it. */
  readonly cleared?: ClearedParts;
}

export type ThinkLevel = 'low' | 'medium' | 'high' | 'max';

export interface ChatParams extends ServerParams {
  /**
   * Chosen by the client; the deltas of this chat carry it.
   * @minLength 1
   */
  readonly streamId: string;
  /** @minLength 1 */
  readonly model: string;
  /** The whole conversation, or with `history` its new messages. At least one, except to ask the last prompt again. */
  readonly messages: readonly Message[];
  readonly tools?: readonly Tool[];
  /**
   * Names of tool servers whose tools the model may call too. The daemon runs these calls and asks the model again with
   * their results. A call of one of `tools` still ends the turn.
   */
  readonly hostedTools?: 'all' | readonly string[];
  /**
   * With `hostedTools`: rounds of calls; more than {@link maxToolRounds} are never run. Default: the setting `rounds`.
   * @minimum 1
   */
  readonly maxRounds?: number;
  /** How a model works with the built-in tools. */
  readonly agent?: AgentParams;
  /**
   * `none` leaves the tools out. A server that cannot hold a model to a call treats `required` as `auto`, with a
   * notice.
   * @default auto
   */
  readonly toolChoice?: 'auto' | 'none' | 'required';
  /** Sent only to models with the thinking capability; absent leaves it to the runner. */
  readonly think?: boolean | ThinkLevel;
  /** The runner's own options, such as `temperature`. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** Seconds, or a duration with a unit such as `10m`. A negative value means for ever. */
  readonly keepAlive?: string | number;
  /**
   * `"json"` or a JSON Schema that the answer must follow. The runner holds the model to it; the daemon checks the
   * answer, and the notice `format-not-held` says what is wrong with it.
   */
  readonly format?: string | Readonly<Record<string, unknown>>;
  /**
   * `leading` searches the text of the leading user messages for context blocks, which become one system message. It is
   * for a client that receives text in which an editor has joined its blocks and the user's words. `attachments` need
   * no search: they always become part of that system message.
   */
  readonly context?: 'leading';
  /** Element names of context blocks besides those of `contextTags`. */
  readonly contextTags?: readonly string[];
  /** The open and close tags of context blocks are not shown, even if the model wrote them. Their content stays. */
  readonly dropContextTags?: boolean;
  /**
   * `quote` puts thinking into the text as a collapsible block quote.
   * @default separate
   */
  readonly thinkingFormat?: 'separate' | 'quote';
  /** The `id` of a kept conversation. What this turn adds is appended to it when the turn ends. */
  readonly session?: string;
  /**
   * With `session`: `kept` sends what the daemon has of the conversation before `messages`, which then has only what is
   * new. A system message in it takes the place of the kept one, and an empty one removes that.
   */
  readonly history?: 'kept';
  /**
   * With `session`: the turn takes the place of the last one there, which `messages` does not have any more. It does so
   * once its answer is whole; if the turn fails or is cancelled, the last one stays. With `history` and without a new
   * message, the last prompt is asked again.
   * @default false
   */
  readonly replacesLastTurn?: boolean;
}

/**
 * `toolLimit`: the rounds of calls were used up, so the model answered without tools. `toolLoop`: it did so because its
 * calls went round in circles.
 */
export type FinishReason = 'stop' | 'length' | 'toolCalls' | 'toolLimit' | 'toolLoop' | 'cancelled';

export const defaultRounds = 40;
export const maxToolRounds = 200;

/** Tokens as the runner counted them; 0 if it gave no count. */
export interface Usage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Tokens of the allocated window, if known. */
  readonly contextLength?: number;
}

export type NoticeCode =
  /** The model does not support tools. They are left out now and for the rest of the session. */
  | 'tools-disabled'
  /** `toolChoice: "required"` was treated as `auto`, because the server knows no other way. */
  | 'tool-choice-ignored'
  /** The model cannot see images, so they were left out. */
  | 'images-dropped'
  /** The prompt fills at least 90 % of the window. */
  | 'context-nearly-full'
  /** The answer was cut because the window is full. */
  | 'context-exceeded'
  /** The request asked for a larger window than the model can have. */
  | 'context-reduced'
  /** The model is asked for a larger window than it has by itself, because built-in tools need room. */
  | 'window-asked'
  /** The window is small for work with the built-in tools. */
  | 'window-small'
  /** The rules of the project or of the user do not fit into their share of the window, or cannot be read. */
  | 'rules-cut'
  /** The rules of the project are left out, because the workspace is not trusted. */
  | 'rules-untrusted'
  /** The tools take more than a quarter of the window. */
  | 'tools-too-large'
  /** Old results of tools were removed from the prompt, because there was no room for them. */
  | 'results-removed'
  /** An edit was made although its model copied the old text badly. */
  | 'edit-forgiven'
  /** The model repeated a text without end, so its answer was stopped. */
  | 'answer-loops'
  /** The request asked for thinking, but the model has no thinking mode. */
  | 'thinking-unsupported'
  /** A tool call that the model wrote as text was taken as a call. */
  | 'tool-call-recovered'
  /** A tool call that the model wrote as text, or at the end of its thinking, does not count. It stays there. */
  | 'tool-call-malformed'
  /** The server refused the schemas of these tools, so the model got simpler ones. */
  | 'tool-schemas-simplified'
  /** Tool servers that did not start were left out of the turn. */
  | 'tools-unavailable'
  /** All slots of the server are busy, so the answer begins when another one has ended. */
  | 'waiting-for-slot'
  /** The model is being loaded; the answer follows. */
  | 'model-loading'
  /** The answer is not in the `format` of the request: no JSON, cut, or not as the schema says. */
  | 'format-not-held'
  /** Only of an edit: the model marked no lines as the new ones, so its whole answer is taken. */
  | 'edit-without-block'
  /** The conversation has turns of which the client has sent none, so the model has not seen them. */
  | 'history-missing'
  /** The runner counted tokens but sent nothing: what the model said was lost in the runner. */
  | 'answer-lost'
  /** The model has stopped without an answer, perhaps after it had thought. */
  | 'answer-empty'
  /**
   * The client had added private files by itself: files that look like secrets or are excluded. Only names are sent.
   */
  | 'private-files-left-out'
  /** The user attached private files. They are sent. */
  | 'private-files-sent'
  /** The turn could not be appended to its conversation on the disk. */
  | 'session-not-kept';

export interface Notice extends AdviceMessage {
  readonly code: NoticeCode;
  /** A sentence for the user. */
  readonly message: string;
}

/** What a turn with the built-in tools did. */
export interface AgentResult {
  /** How often the model was asked. */
  readonly rounds: number;
  /** Absent if nothing is removed. */
  readonly cleared?: ClearedParts;
  /** In their order; a file that was edited again is here again. */
  readonly edits: readonly AgentEdit[];
  readonly checks: readonly AgentCheck[];
}

export interface AgentEdit {
  /** Below the folder of the workspace. */
  readonly path: string;
  /** In lines, as `removed`. */
  readonly added: number;
  readonly removed: number;
}

/** A check that was run. */
export interface AgentCheck {
  readonly name: string;
  /** Null if it did not exit by itself. */
  readonly exitCode: number | null;
  readonly ms: number;
}

/** The whole answer. It is authoritative; the deltas before it are an optimisation. */
export interface ChatResult {
  readonly finishReason: FinishReason;
  /** With `hostedTools`, the last message. */
  readonly message: Message;
  /**
   * With `hostedTools`: every message that the turn added, in order, ready to be sent as history. Every call that the
   * daemon runs has its answer here, even when the turn was cancelled.
   */
  readonly messages?: readonly Message[];
  /** With several rounds: the prompt tokens of the last round, and the completion tokens of all rounds. */
  readonly usage: Usage;
  readonly notices: readonly Notice[];
  /** Only of a turn with the built-in tools. */
  readonly agent?: AgentResult;
}

/** Client to daemon: one turn. A cancelled chat is a normal result with the answer so far. */
export const chatRequest: RequestMessage<ChatParams, ChatResult> = { method: 'runner/chat' };

/** The change of a text file. The texts come from files and models: a client makes control characters visible. */
export interface FileDiff {
  /** The absolute path of the file. */
  readonly path: string;
  /** The path below the folder of the workspace, with slashes. */
  readonly name: string;
  /** Absent: the file is new. Line ends are those of the file. */
  readonly before?: string;
  readonly after: string;
  /** The hunks of the unified format, with three lines of context, without the lines that name the files. */
  readonly unified: string;
}

/** The outcome of a call that the daemon ran or refused, as the model reads it. */
export interface ToolResult {
  /** The `id` of the call. */
  readonly id: string;
  /** The name by which the model knows the tool. */
  readonly name: string;
  /** The tool's server; empty if no tool of a tool server has this name. */
  readonly server: string;
  /** At most 32,000 characters. */
  readonly content: string;
  /** The call failed, was denied, or had arguments that the tool does not take. The content says why. */
  readonly isError: boolean;
  /**
   * How a check ended and what it has written, if the content has only a part of that: about 256 Ki characters at most,
   * without escape sequences, overwritten lines and repeats.
   */
  readonly output?: string;
  /** What the call has changed, if nobody was asked about it. Only a client with `showsDiffs` gets it. */
  readonly diff?: FileDiff;
  /** Base64. In the content, `[image, …]` stands for each of them. */
  readonly images?: readonly string[];
  /**
   * The server's own name of the tool, if the call was not run because `approvals` do not allow it and nobody could be
   * asked.
   */
  readonly unapprovedTool?: string;
}

interface DeltaBase {
  readonly streamId: string;
  /** Starts at 0 and grows by one with each delta. */
  readonly seq: number;
}

export type ChatDelta = DeltaBase &
  (
    | { readonly kind: 'text' | 'thinking'; readonly text: string }
    | { readonly kind: 'toolCall'; readonly toolCall: ToolCall }
    | { readonly kind: 'toolResult'; readonly toolResult: ToolResult }
    | { readonly kind: 'notice'; readonly notice: Notice }
  );

/**
 * Daemon to client: the next piece of an answer. All deltas come before the chat's result; together they make up its
 * message.
 */
export const chatDelta: NotificationMessage<ChatDelta> = { method: 'runner/chat/delta' };

/** Client to daemon: ends the chat or the edit whose deltas have this `streamId`, as `$/cancelRequest` does. */
export const cancelChat: NotificationMessage<{ readonly streamId: string }> = {
  method: 'runner/chat/cancel',
};

/**
 * Client to daemon: the user has chosen another mode while a chat runs. It decides at once what is asked; the tools
 * that the model is offered change with the next turn. It does nothing if the chat has ended.
 */
export const setModeRequest: RequestMessage<
  { readonly streamId: string; readonly mode: AgentMode },
  Record<string, never>
> = { method: 'runner/chat/setMode' };

/**
 * The names of the elements in which editors wrap what they put before the user's own words. This is the only such
 * list: leading blocks of these names become the system message (`context: "leading"`), and blocks of these names that
 * repeat what was sent are removed from an answer.
 */
export const contextTags: readonly string[] = [
  'attachment',
  'attachments',
  'codebase_context',
  'context',
  'editorContext',
  'editor_context',
  'environment_info',
  'file_context',
  'reminderInstructions',
  'repo_context',
  'selection',
  'user_info',
  'vscode_context',
  'workspace_info',
];
