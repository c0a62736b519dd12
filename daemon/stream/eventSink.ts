import type { StreamEvent } from './events.ts';

/** So many of the last pieces of text are kept, and so many characters of the current line are told. */
const kept = 256;

type RunningKind = 'text' | 'thinking' | 'markup';

/** Collects the events of one push. Neighbouring events of one kind become one event. */
export class EventSink {
  #events: StreamEvent[] = [];
  /** The event that may still grow. */
  #kind: RunningKind = 'text';
  #running = '';
  /** The code of the last character of text. */
  last = 0;
  /** The length of the text. */
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

  /** The end of the current line of text. */
  get line(): string {
    let line = '';
    let isWhole = false;
    for (let back = 1; back <= kept && line.length < kept && !isWhole; back++) {
      const piece = (this.#pieces[(this.#next - back + kept) % kept] ?? '').slice(-kept);
      isWhole = piece.includes('\n');
      line = piece + line;
    }
    return line.slice(line.lastIndexOf('\n') + 1).slice(-kept);
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
