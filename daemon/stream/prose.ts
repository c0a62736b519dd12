import { backslash, less, newline, tick } from './characters.ts';
import type { Mode, Scan } from './scan.ts';

/** The answer itself: all of it streams at once, up to a `<` outside code that may begin a tag. */
export class Prose implements Mode {
  readonly #scan: Scan;

  constructor(scan: Scan) {
    this.#scan = scan;
  }

  read(text: string, from: number): number {
    const { code, sink } = this.#scan;
    const { length } = text;
    let busy = code.busy;
    let at = from;
    for (; at < length; at++) {
      const character = text.charCodeAt(at);
      if (character === less && this.#mayBeTag(text, at)) break;
      if (!busy && character !== newline && character !== tick && character !== backslash) continue;
      code.step(character);
      busy = code.busy;
    }
    this.#scan.steps += at - from;
    sink.text(from === 0 && at === length ? text : text.slice(from, at));
    if (at < length) this.#scan.toTag('', code.beginsLine);
    return at;
  }

  finish(): void {
    // Nothing is ever withheld here.
  }

  #mayBeTag(text: string, at: number): boolean {
    const { code, openings } = this.#scan;
    code.settle();
    if (code.inside) return false;
    const match = openings.match(text, at, code.beginsLine);
    this.#scan.steps += match === 'none' ? 2 : openings.longest;
    return match !== 'none';
  }
}
