import { backslash, doubleQuote } from './characters.ts';

/** Tells, piece by piece, whether the start of a JSON text ends within a string. */
export class OpenString {
  isOpen = false;
  #isEscaped = false;

  add(piece: string): void {
    for (let at = 0; at < piece.length; at++) {
      const code = piece.charCodeAt(at);
      if (this.#isEscaped) this.#isEscaped = false;
      else if (code === doubleQuote) this.isOpen = !this.isOpen;
      else if (code === backslash && this.isOpen) this.#isEscaped = true;
    }
  }
}
