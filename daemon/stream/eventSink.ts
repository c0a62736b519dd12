import type { StreamEvent } from './events.ts';

type RunningKind = 'text' | 'thinking' | 'markup';

/** Collects the events of one push. Neighbouring events of one kind become one event. */
export class EventSink {
  #events: StreamEvent[] = [];
  /** The event that may still grow. */
  #kind: RunningKind = 'text';
  #running = '';
  /** The code of the last character of text. */
  last = 0;

  text(text: string): void {
    if (text !== '') this.last = text.charCodeAt(text.length - 1);
    this.#add('text', text);
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
