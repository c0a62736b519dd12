import { isBlank, newline, skipBlanks } from './characters.ts';
import type { Mode, Scan } from './scan.ts';

/** Drops the white space after a tag, however it is cut. */
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
    // All white space was dropped, and nothing is withheld.
  }
}

/**
 * The state after a block in the middle of an answer. If the rest of the block's line is blank, it is dropped with the
 * block, so that the lines around it keep their indentation and the blank lines between them. But if blanks before the
 * block were already shown, the line end stays: otherwise they would indent the next line. Text after thinking on the
 * same line begins that line. After a context block the whole line stays.
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
