import { type CallPiece, CallReader } from './callReader.ts';
import type { Opening } from './openings.ts';
import { reportCalls } from './reportCalls.ts';
import type { Mode, Scan } from './scan.ts';
import { XmlReader } from './xmlReader.ts';

/** Withholds a tagged tool call until it ends; what turns out to be no call is given back whole, as text. */
export class TaggedCall implements Mode {
  readonly #scan: Scan;
  #opening = '';
  #lead = '';
  /** What came after the opening. */
  #body = '';
  #reader: CallReader | XmlReader | undefined;

  constructor(scan: Scan) {
    this.#scan = scan;
  }

  begin({ literal, tag }: Opening & { readonly kind: 'call' }, lead: string): void {
    const { tools } = this.#scan;
    this.#opening = literal;
    this.#lead = lead;
    this.#body = '';
    this.#reader =
      tag.body === 'xml'
        ? new XmlReader(tag.close, (name) => tools.find(name) !== undefined)
        : new CallReader(tools, tag.close);
  }

  read(text: string, from: number): number {
    const reader = this.#reader;
    if (reader === undefined) return from;
    const end = reader.read(text, from);
    const next = end < 0 ? text.length : end;
    this.#scan.steps += next - from + 1;
    this.#body += text.slice(from, next);
    if (end < 0) return next;
    if (reader.failed) this.#giveBack(reader.begun);
    else this.#report();
    return next;
  }

  /** A call whose close tag did not come counts when it is whole without it. */
  finish(): void {
    if (this.#reader instanceof CallReader && this.#reader.isWhole) this.#report();
    else this.#giveBack(this.#reader?.begun === true);
  }

  #report(): void {
    const isXml = this.#reader instanceof XmlReader;
    const source = isXml ? this.#opening + this.#body : this.#body;
    const whole: CallPiece = { kind: 'xml', start: 0, end: source.length };
    const pieces = this.#reader instanceof CallReader ? this.#reader.pieces : [whole];
    reportCalls(this.#scan, { lead: this.#lead, source, pieces, text: this.#opening + this.#body });
  }

  #giveBack(isBegun: boolean): void {
    if (isBegun) {
      this.#scan.sink.add({
        type: 'warning',
        code: 'unclosed-tool-call',
        message: 'The model began a tool call that cannot be read; it is shown as text.',
      });
    }
    this.#scan.giveBack(this.#lead + this.#opening + this.#body);
    this.#scan.toProse();
  }
}
