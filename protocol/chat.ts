import type { NotificationMessage, RequestMessage, ServerParams } from './messageTypes.ts';

export type Role = 'system' | 'user' | 'assistant' | 'tool';

export interface Message {
  readonly role: Role;
  /** Of a user message: what the user typed, where the client can tell it from what it attaches. */
  readonly content: string;
  /** Of a user message: what the client attached to the words, which is context and no word of the user's. */
  readonly attachments?: readonly Attachment[];
  /** Base64, without a `data:` prefix. */
  readonly images?: readonly string[];
  readonly thinking?: string;
  /** Of an assistant message. */
  readonly toolCalls?: readonly ToolCall[];
  /** Of a tool message: the `id` of the call that it answers. */
  readonly toolCallId?: string;
  /** Of a tool message: the name of the tool that answered. */
  readonly toolName?: string;
}

/** A text that goes along with what the user typed, such as a file or selected lines. */
export interface Attachment {
  /** Where the text is from, as the model is told it: a path, an address or a few words. */
  readonly path: string;
  /** Which lines of it, from 1, such as `3-9`; absent is all of it. */
  readonly lines?: string;
  /** The language of the text, such as `lua`. */
  readonly language?: string;
  readonly text: string;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface Tool {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema of an object. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

export type ThinkLevel = 'low' | 'medium' | 'high' | 'max';

export interface ChatParams extends ServerParams {
  /** Chosen by the client; the deltas of this chat carry it. */
  readonly streamId: string;
  readonly model: string;
  readonly messages: readonly Message[];
  readonly tools?: readonly Tool[];
  /**
   * Names of tool servers whose tools the model may call too; the daemon runs these calls, and asks again with what
   * they answered. A call of one of `tools` still ends the turn.
   */
  readonly hostedTools?: 'all' | readonly string[];
  /** Rounds of calls of hosted tools, at least 1 and at most {@link mostRounds}; default {@link defaultRounds}. */
  readonly maxRounds?: number;
  /** Default `auto`. `none` leaves the tools out; `required` goes as `auto`, with a notice. */
  readonly toolChoice?: 'auto' | 'none' | 'required';
  /** Sent only to models with the thinking capability; absent leaves it to the runner. */
  readonly think?: boolean | ThinkLevel;
  /** The runner's own options, such as `temperature`. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** Seconds, or a duration with a unit such as `10m`; negative is for ever. */
  readonly keepAlive?: string | number;
  /** `"json"` or a JSON Schema that the answer must follow. */
  readonly format?: string | Readonly<Record<string, unknown>>;
  /**
   * `leading` searches the text of the leading user messages for context blocks, which become one system message: for
   * a client that is handed text in which an editor has joined its blocks and the user's words. What is in
   * `attachments` needs no search, and becomes a part of that system message without being asked for.
   */
  readonly context?: 'leading';
  /** Element names of context blocks besides those of `contextTags`. */
  readonly contextTags?: readonly string[];
  /** `quote` puts thinking into the text as a collapsible block quote; default `separate`. */
  readonly thinkingFormat?: 'separate' | 'quote';
  /** The `id` of a conversation that is kept: what this turn adds is appended to it once the turn ends. */
  readonly session?: string;
}

/** `toolLimit`: the rounds of calls were used up, and the model has answered without tools. */
export type FinishReason = 'stop' | 'length' | 'toolCalls' | 'toolLimit' | 'cancelled';

export const defaultRounds = 10;
export const mostRounds = 100;

/** Tokens as the runner counted them; 0 where it did not say. */
export interface Usage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Tokens of the allocated window, where it is known. */
  readonly contextLength?: number;
}

export type NoticeCode =
  /** The model takes no tools: the request went on without, now and for the rest of the session. */
  | 'tools-disabled'
  /** `toolChoice: "required"` went as `auto`. */
  | 'tool-choice-ignored'
  /** The model cannot see: the images were left out. */
  | 'images-dropped'
  /** The prompt fills at least 90 % of the window. */
  | 'context-nearly-full'
  | 'context-exceeded'
  /** Thinking was asked of a model that has no such mode. */
  | 'thinking-unsupported'
  /** A tool call that the model wrote as text was taken as a call. */
  | 'tool-call-recovered'
  /** A tool call that the model wrote as text could not be read and stays text. */
  | 'tool-call-malformed'
  /** Tool servers that do not start were left out of the turn. */
  | 'tools-unavailable'
  /** The runner counted tokens and sent nothing: it swallowed what the model said. */
  | 'answer-lost'
  /** The turn could not be appended to its conversation on the disk. */
  | 'session-not-kept';

export interface Notice {
  readonly code: NoticeCode;
  /** A sentence for the user. */
  readonly message: string;
}

/** The whole answer. It is authoritative; the deltas before it are an optimisation. */
export interface ChatResult {
  readonly finishReason: FinishReason;
  /** With hosted tools the last one. */
  readonly message: Message;
  /**
   * With hosted tools: all that the turn added, in its order, ready to be sent as history. Every call of a hosted tool
   * has its answer in it, also when the turn was cancelled.
   */
  readonly messages?: readonly Message[];
  /** With several rounds the prompt of the last one, and what all of them have said. */
  readonly usage: Usage;
  readonly notices: readonly Notice[];
}

/** Client to daemon: one turn. A cancelled chat is a normal result with what had come. */
export const chatRequest: RequestMessage<ChatParams, ChatResult> = { method: 'runner/chat' };

/** What came of a call of a hosted tool, as the model reads it. */
export interface ToolResult {
  /** Of the call. */
  readonly id: string;
  /** As the model knows the tool. */
  readonly name: string;
  /** The tool's server; empty where no hosted tool has the name. */
  readonly server: string;
  /** At most 32,000 characters. */
  readonly content: string;
  /** It failed, was denied, or was not what the tool takes; the model reads why. */
  readonly isError: boolean;
}

interface DeltaBase {
  readonly streamId: string;
  /** From 0, one more each. */
  readonly seq: number;
}

export type ChatDelta = DeltaBase &
  (
    | { readonly kind: 'text' | 'thinking'; readonly text: string }
    | { readonly kind: 'toolCall'; readonly toolCall: ToolCall }
    | { readonly kind: 'toolResult'; readonly toolResult: ToolResult }
    | { readonly kind: 'notice'; readonly notice: Notice }
  );

/** Daemon to client: the next piece of an answer. All come before the chat's result; joined they are its message. */
export const chatDelta: NotificationMessage<ChatDelta> = { method: 'runner/chat/delta' };
