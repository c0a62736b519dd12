import type { Reading, Source } from './source.ts';

/** Literals that mean something, found a character at a time; none is the beginning of another. */
export class Marks<Token> {
  readonly #prefixes = new Map<string, Token | undefined>();

  constructor(tokens: Iterable<readonly [literal: string, token: Token]>) {
    for (const [literal, token] of tokens) {
      for (let length = 1; length < literal.length; length++) {
        const prefix = literal.slice(0, length);
        if (!this.#prefixes.has(prefix)) this.#prefixes.set(prefix, undefined);
      }
      this.#prefixes.set(literal, token);
    }
  }

  /** Whether a literal is this, or goes on after it. */
  fits(text: string): boolean {
    return this.#prefixes.has(text);
  }

  get(text: string): Token | undefined {
    return this.#prefixes.get(text);
  }
}

/** What stands at a place: a mark, or the characters that turned out to be none. */
export interface Read<Token> {
  readonly token: Token | undefined;
  readonly text: string;
}

/** Reads the mark that may begin here, of which `begun` was read; of what is none, a character is read at least. */
export function* readMark<Token>(source: Source, marks: Marks<Token>, begun = ''): Reading<Read<Token>> {
  let text = begun;
  for (;;) {
    while (source.isDry) yield;
    const longer = text + source.character;
    if (source.character === '' || !marks.fits(longer)) {
      if (text === '' && source.character !== '') {
        source.at++;
        return { token: undefined, text: longer };
      }
      return { token: undefined, text };
    }
    source.at++;
    text = longer;
    const token = marks.get(text);
    if (token !== undefined) return { token, text };
  }
}
