/**
 * What a stream parser reports about a reply. The `text` fields of all events, joined in order, are the input: nothing
 * is ever dropped. Only `text` events are the answer; the other events are separated from it.
 */
export type StreamEvent =
  | TextEvent
  | ThinkingEvent
  | ContextEvent
  | ToolCallEvent
  | MarkupEvent
  | WarningEvent;

/** A piece of the answer, which can be shown at once. */
export interface TextEvent {
  readonly type: 'text';
  readonly text: string;
}

/** A piece of the model's thinking, without the tags around it. */
export interface ThinkingEvent {
  readonly type: 'thinking';
  readonly text: string;
}

/** A whole context block that the model echoed, unchanged. It is not part of the answer. */
export interface ContextEvent {
  readonly type: 'context';
  readonly name: string;
  readonly text: string;
}

/**
 * A tool call that the model wrote as text. `text` is its source. If one source holds several calls, the event of the
 * first call has all of it and the others have none.
 */
export interface ToolCallEvent {
  readonly type: 'toolCall';
  readonly call: ToolCall;
  readonly text: string;
  /**
   * The call is part of the model's thinking, which was reported before. It counts if the runner reported no other
   * call.
   */
  readonly fromThinking?: true;
}

/** A call whose tool was offered and whose arguments parsed. */
export interface ToolCall {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
}

/** Tags and the white space that belongs to them. They are never shown. */
export interface MarkupEvent {
  readonly type: 'markup';
  readonly text: string;
}

/** Something that matters to a reader of the log. It takes nothing from the stream. */
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

/** Why a stream ended, in the runner's words or our own. */
export type StreamEnd = 'stop' | 'length' | 'cancelled' | 'error' | (string & {});
