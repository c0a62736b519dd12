/**
 * What a stream parser reports about a reply. The `text` fields of all events, joined in order, are the input: nothing
 * is ever dropped. Only `text` events are the answer; the other events are separated from it.
 */
export type StreamEvent = PieceEvent | ContextEvent | ToolCallEvent | WarningEvent;

/**
 * A piece of the answer (`text`), which can be shown at once; of thinking, without the tags around it; or of the
 * tags and white space that belongs to them (`markup`), which are never shown.
 */
interface PieceEvent {
  readonly type: 'text' | 'thinking' | 'markup';
  readonly text: string;
}

/** A whole context block that the model echoed, unchanged. It is not part of the answer. */
interface ContextEvent {
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
  readonly call: ParsedToolCall;
  readonly text: string;
  /**
   * The call is part of the model's thinking, which was reported before. It counts if the runner reported no other
   * call.
   */
  readonly fromThinking?: true;
}

/** A call whose tool was offered and whose arguments parsed. */
export interface ParsedToolCall {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
}

/** Something that matters to a reader of the log. It takes nothing from the stream. */
export interface WarningEvent {
  readonly type: 'warning';
  readonly code: WarningCode;
  readonly message: string;
}

type WarningCode =
  | 'unclosed-thinking'
  | 'unclosed-context'
  | 'unclosed-tool-call'
  | 'malformed-tool-call'
  | 'call-in-thinking'
  | 'unknown-tool'
  | 'missing-argument'
  | 'stray-thinking-close';

/** Why a stream ended, in the runner's words or our own. */
export type StreamEnd = 'stop' | 'length' | 'cancelled' | 'error' | (string & {});

/** How many of the last pieces of text are kept, and how many characters of the text `recent` returns at most. */
const kept = 256;

/** Collects the events of one push. Neighbouring events of one kind become one event. */
export class EventSink {
  #events: StreamEvent[] = [];
  /** The event that may still grow. */
  #kind: PieceEvent['type'] = 'text';
  #running = '';
  /** The code of the last character of text. */
  last = 0;
  length = 0;
  readonly #pieces: string[] = Array.from({ length: kept }, () => '');
  #next = 0;

  text(text: string): void {
    if (text === '') return;
    this.keep(text);
    this.#add('text', text);
  }

  /** Keeps a piece of text. Pieces are not joined before somebody asks, because most replies have no calls. */
  keep(piece: string): void {
    this.last = piece.charCodeAt(piece.length - 1);
    this.length += piece.length;
    this.#pieces[this.#next] = piece;
    this.#next = (this.#next + 1) % kept;
  }

  /** The end of the text so far. */
  get recent(): string {
    let recent = '';
    for (let back = 1; back <= kept && recent.length < kept; back++)
      recent = (this.#pieces[(this.#next - back + kept) % kept] ?? '').slice(-kept) + recent;
    return recent.slice(-kept);
  }

  /** The end of the current line of text. */
  get line(): string {
    const { recent } = this;
    return recent.slice(recent.lastIndexOf('\n') + 1);
  }

  thinking(text: string): void {
    this.#add('thinking', text);
  }

  markup(text: string): void {
    this.#add('markup', text);
  }

  add(event: StreamEvent): void {
    this.#close();
    this.#events.push(event);
  }

  take(): StreamEvent[] {
    this.#close();
    const events = this.#events;
    this.#events = [];
    return events;
  }

  #add(kind: PieceEvent['type'], text: string): void {
    if (this.#kind !== kind) this.#close();
    this.#kind = kind;
    this.#running = this.#running === '' ? text : this.#running + text;
  }

  #close(): void {
    if (this.#running === '') return;
    this.#events.push({ type: this.#kind, text: this.#running });
    this.#running = '';
  }
}
