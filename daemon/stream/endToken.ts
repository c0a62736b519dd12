import { isBlank } from './characters.ts';
import type { Mode, Scan } from './scan.ts';

/** Withholds a token that ends a turn. If only blanks follow it, it is not part of the answer. */
export class EndToken implements Mode {
  readonly #scan: Scan;
  #held = '';

  constructor(scan: Scan) {
    this.#scan = scan;
  }

  begin(token: string): void {
    this.#held = token;
  }

  read(text: string, from: number): number {
    for (let at = from; at < text.length; at++) {
      this.#scan.steps++;
      if (!isBlank(text.charCodeAt(at))) {
        this.#scan.giveBack(this.#held);
        this.#scan.toProse();
        return at;
      }
      this.#held += text.charAt(at);
    }
    return text.length;
  }

  finish(): void {
    this.#scan.sink.markup(this.#held);
    this.#held = '';
  }
}
