import { isBlank, newline, skipBlanks } from './characters.ts';
import type { Mode, Scan } from './scan.ts';

/** Eats the white space after a tag, however it is cut. */
export class Blanks implements Mode {
  readonly #scan: Scan;

  constructor(scan: Scan) {
    this.#scan = scan;
  }

  read(text: string, from: number): number {
    const scan = this.#scan;
    const at = skipBlanks(text, from);
    scan.steps += at - from + 1;
    scan.sink.markup(text.slice(from, at));
    if (at === text.length) return at;
    if (scan.shown) {
      scan.code.step(newline);
      scan.toProse();
    } else scan.toLead(false);
    return at;
  }

  finish(): void {
    // What came was eaten; nothing is withheld.
  }
}

/**
 * After a block in the middle of an answer. The rest of its line goes with it if that is blank, so that the lines
 * around it stay as they are, their indentation and the blank lines between them included; but where blanks before the
 * block were shown already, its line end stays, or the next line would be indented by them. What follows thinking on
 * its line begins that line; after a context block all of the line stays.
 */
export class LineRest implements Mode {
  readonly #scan: Scan;
  #after: 'thinking' | 'context' = 'context';
  #held = '';

  constructor(scan: Scan) {
    this.#scan = scan;
  }

  begin(after: 'thinking' | 'context'): void {
    this.#after = after;
    this.#held = '';
  }

  read(text: string, from: number): number {
    for (let at = from; at < text.length; at++) {
      const code = text.charCodeAt(at);
      this.#scan.steps++;
      if (code === newline) {
        this.#endLine();
        return at + 1;
      }
      if (!isBlank(code)) {
        if (this.#after === 'thinking') this.#scan.sink.markup(this.#held);
        else this.#scan.giveBack(this.#held);
        this.#scan.toProse();
        return at;
      }
      this.#held += text[at];
    }
    return text.length;
  }

  finish(): void {
    this.#scan.sink.markup(this.#held);
    this.#held = '';
  }

  #endLine(): void {
    const { code, sink } = this.#scan;
    if (code.isIndented) this.#scan.giveBack(`${this.#held}\n`);
    else {
      sink.markup(`${this.#held}\n`);
      code.step(newline);
    }
    this.#scan.toProse();
  }
}
