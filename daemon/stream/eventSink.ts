import type { StreamEvent } from './events.ts';

/** Collects the events of one push; neighbours of one kind become one event. */
export class EventSink {
  #events: StreamEvent[] = [];

  text(text: string): void {
    const last = this.#last(text);
    if (last?.type === 'text') this.#replace({ type: 'text', text: last.text + text });
    else if (text !== '') this.#events.push({ type: 'text', text });
  }

  thinking(text: string): void {
    const last = this.#last(text);
    if (last?.type === 'thinking') this.#replace({ type: 'thinking', text: last.text + text });
    else if (text !== '') this.#events.push({ type: 'thinking', text });
  }

  markup(text: string): void {
    const last = this.#last(text);
    if (last?.type === 'markup') this.#replace({ type: 'markup', text: last.text + text });
    else if (text !== '') this.#events.push({ type: 'markup', text });
  }

  add(event: StreamEvent): void {
    this.#events.push(event);
  }

  take(): StreamEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  #last(text: string): StreamEvent | undefined {
    return text === '' ? undefined : this.#events[this.#events.length - 1];
  }

  #replace(event: StreamEvent): void {
    this.#events[this.#events.length - 1] = event;
  }
}
