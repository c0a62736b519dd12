import { type CallPiece, CallReader } from './callReader.ts';
import type { WarningCode } from './events.ts';
import { HeldText } from './heldText.ts';
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
  #body = new HeldText();
  #reader: CallReader | XmlReader | undefined;

  constructor(scan: Scan) {
    this.#scan = scan;
  }

  begin({ literal, tag }: Opening & { readonly kind: 'call' }, lead: string): void {
    const { tools } = this.#scan;
    this.#opening = literal;
    this.#lead = lead;
    this.#body = new HeldText();
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
    this.#body.add(text.slice(from, next));
    if (end < 0) return next;
    if (reader.failed) this.#refuse(reader);
    else this.#report();
    return next;
  }

  /** A call whose close tag did not come counts when it is whole without it. */
  finish(): void {
    if (this.#reader instanceof CallReader && this.#reader.isWhole) this.#report();
    else {
      if (this.#reader?.begun === true) this.#warn('unclosed-tool-call', 'is cut off');
      this.#giveBack();
    }
  }

  /** A tag that nothing like a call followed was a mention of it. */
  #refuse(reader: CallReader | XmlReader): void {
    if (reader.isUnknown) this.#warn('unknown-tool', 'is of a tool that was not offered');
    else if (reader.begun) this.#warn('malformed-tool-call', 'cannot be read');
    this.#giveBack();
  }

  #warn(code: WarningCode, what: string): void {
    const message = `The model wrote a tool call that ${what}; it is shown as text.`;
    this.#scan.sink.add({ type: 'warning', code, message });
  }

  #report(): void {
    const isXml = this.#reader instanceof XmlReader;
    const body = this.#body.toString();
    const source = isXml ? this.#opening + body : body;
    const whole: CallPiece = { kind: 'xml', start: 0, end: source.length };
    const pieces = this.#reader instanceof CallReader ? this.#reader.pieces : [whole];
    reportCalls(this.#scan, {
      lead: this.#lead,
      source,
      pieces,
      text: this.#opening + body,
      isTagged: true,
    });
  }

  #giveBack(): void {
    this.#scan.giveBack(this.#lead + this.#opening + this.#body.toString());
    this.#scan.toProse();
  }
}
