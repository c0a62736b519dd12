/**
 * What a stream parser says about a reply. The `text` fields of all events, joined in order, are the input:
 * nothing is ever dropped. Only `text` events are the answer; the rest is told apart from it.
 */
export type StreamEvent =
  | TextEvent
  | ThinkingEvent
  | ContextEvent
  | ToolCallEvent
  | MarkupEvent
  | WarningEvent;

/** A piece of the answer, to be shown at once. */
export interface TextEvent {
  readonly type: 'text';
  readonly text: string;
}

/** A piece of what the model thought, without the tags around it. */
export interface ThinkingEvent {
  readonly type: 'thinking';
  readonly text: string;
}

/** A whole context block that the model echoed, as it came; it is not part of the answer. */
export interface ContextEvent {
  readonly type: 'context';
  readonly name: string;
  readonly text: string;
}

/**
 * A tool call that the model wrote as text. `text` is the source that it was taken from; where one source
 * holds several calls, the first call's event has all of it and the others have none.
 */
export interface ToolCallEvent {
  readonly type: 'toolCall';
  readonly call: ToolCall;
  readonly text: string;
  /** It stands in what the model thought, which was told before: it counts where the runner told no other call. */
  readonly fromThinking?: true;
}

/** A call whose tool was offered and whose arguments parsed. */
export interface ToolCall {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
}

/** Tags, and the white space that goes with them: never shown. */
export interface MarkupEvent {
  readonly type: 'markup';
  readonly text: string;
}

/** Something that the reader of a log would like to know; it takes nothing from the stream. */
export interface WarningEvent {
  readonly type: 'warning';
  readonly code: WarningCode;
  readonly message: string;
}

export type WarningCode =
  | 'unclosed-thinking'
  | 'unclosed-context'
  | 'unclosed-tool-call'
  | 'malformed-tool-call'
  | 'unknown-tool'
  | 'missing-argument'
  | 'stray-thinking-close';

/** Why a stream ended, in the words of the runner or our own. */
export type StreamEnd = 'stop' | 'length' | 'cancelled' | 'error' | (string & {});
