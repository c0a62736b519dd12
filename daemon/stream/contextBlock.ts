import { BlockReader } from './blockReader.ts';
import { LongText } from './longText.ts';
import { MarkReader } from './markReader.ts';
import { endedBy, type Mode, type OpenBlock, type Scan } from './scan.ts';

/** Withholds an echoed context block until it closes. A block that never closes is given back whole, as text. */
export class ContextBlock implements Mode {
  readonly #scan: Scan;
  #name = '';
  #lead = '';
  #held = new LongText();
  #reader: BlockReader | MarkReader = new BlockReader('');

  constructor(scan: Scan) {
    this.#scan = scan;
  }

  begin({ name, close, lead, source }: OpenBlock): void {
    this.#name = name;
    this.#lead = lead;
    this.#held = new LongText(source);
    this.#reader = close === undefined ? new BlockReader(name) : new MarkReader(close);
  }

  read(text: string, from: number): number {
    const end = this.#reader.read(text, from);
    const next = end < 0 ? text.length : end;
    this.#scan.steps += next - from + 1;
    this.#held.add(text.slice(from, next));
    if (end < 0) return next;
    this.#scan.sink.markup(this.#lead);
    this.#scan.sink.add({ type: 'context', name: this.#name, text: this.#held.toString() });
    this.#held = new LongText();
    this.#scan.toLineRest('context');
    return next;
  }

  finish(reason: string): void {
    this.#scan.sink.add({
      type: 'warning',
      code: 'unclosed-context',
      message: `${endedBy(reason)} inside ${this.#name.startsWith('<') || this.#name.startsWith('[') ? this.#name : `<${this.#name}>`}, which never closed; it is shown as text.`,
    });
    // Nothing follows, so the code tracker need not see it.
    this.#scan.sink.text(this.#lead + this.#held.toString());
    this.#held = new LongText();
  }
}
