import type { StreamEvent } from './events.ts';

/** So much of the current line is kept, at least. */
export const keptLine = 256;

type RunningKind = 'text' | 'thinking' | 'markup';

/** Collects the events of one push. Neighbouring events of one kind become one event. */
export class EventSink {
  #events: StreamEvent[] = [];
  /** The event that may still grow. */
  #kind: RunningKind = 'text';
  #running = '';
  /** The code of the last character of text. */
  last = 0;
  /** The number of line breaks in the text, and of characters after the last of them. */
  lines = 0;
  lineLength = 0;
  #line = '';

  /** The end of the current line of text. */
  get line(): string {
    return this.#line.slice(-keptLine);
  }

  text(text: string): void {
    if (text === '') return;
    const start = text.lastIndexOf('\n') + 1;
    if (start > 0) this.#beginLine();
    this.keep(start === 0 ? text : text.slice(start));
    this.last = text.charCodeAt(text.length - 1);
    this.#add('text', text);
  }

  #beginLine(): void {
    this.lines++;
    this.#line = '';
    this.lineLength = 0;
  }

  /** Keeps text without a line break, which was told to the caller already or is about to be. */
  keep(text: string): void {
    this.last = text.charCodeAt(text.length - 1);
    this.lineLength += text.length;
    this.#line += text;
    if (this.#line.length > 16 * keptLine) this.#line = this.#line.slice(-keptLine);
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

  #add(kind: RunningKind, text: string): void {
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
