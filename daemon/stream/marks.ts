import type { Reading, Source } from './source.ts';

/** Literals with a meaning, which are found character by character. None of them is the beginning of another. */
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

  /** Whether a literal equals this text or begins with it. */
  fits(text: string): boolean {
    return this.#prefixes.has(text);
  }

  get(text: string): Token | undefined {
    return this.#prefixes.get(text);
  }
}

/** What was read at a place: a mark, or characters that are not a mark. */
export interface Read<Token> {
  readonly token: Token | undefined;
  readonly text: string;
}

/**
 * Reads the mark that may begin here; `begun` was already read. If there is no mark, at least one character is read.
 */
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
