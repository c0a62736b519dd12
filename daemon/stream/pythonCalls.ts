/** A call as it was written, before anybody knows whether its tool was offered. */
export interface WrittenCall {
  readonly name: string;
  readonly arguments: unknown;
  /** The values are words that the tool's schema has to give types to. */
  readonly untyped?: boolean;
}

const deepest = 64;
const literals = new Map<string, unknown>([
  ['True', true],
  ['true', true],
  ['False', false],
  ['false', false],
  ['None', null],
  ['null', null],
]);

/** Parses `[f(a=1, b="x"), g()]`; undefined when it is anything else. */
export function tryParsePythonCalls(text: string): WrittenCall[] | undefined {
  try {
    return new PythonReader(text.trim()).calls();
  } catch (error) {
    if (error instanceof NotPython) return undefined;
    throw error;
  }
}

class NotPython extends Error {}

class PythonReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  calls(): WrittenCall[] {
    this.#expect('[');
    const calls = this.#list(']', () => this.#call());
    if (this.#at < this.#text.length || calls.length === 0) throw new NotPython();
    return calls;
  }

  #call(): WrittenCall {
    const name = this.#word(/[^()\s,=]+/y);
    this.#expect('(');
    const pairs = this.#list(')', () => {
      const key = this.#word(/[\p{L}_][\p{L}\p{N}_]*/uy);
      this.#expect('=');
      return [key, this.#value(0)] as const;
    });
    return { name, arguments: Object.fromEntries(pairs) };
  }

  #value(depth: number): unknown {
    if (depth > deepest) throw new NotPython();
    this.#blanks();
    const next = this.#text[this.#at];
    if (next === '"' || next === "'") return this.#string(next);
    if (this.#take('[')) return this.#list(']', () => this.#value(depth + 1));
    if (this.#take('{')) return Object.fromEntries(this.#list('}', () => this.#pair(depth + 1)));
    const word = this.#word(/[-+\w.]+/y);
    if (literals.has(word)) return literals.get(word);
    const number = Number(word);
    if (Number.isNaN(number)) throw new NotPython();
    return number;
  }

  #pair(depth: number): readonly [string, unknown] {
    const key = this.#value(depth);
    this.#expect(':');
    return [String(key), this.#value(depth)];
  }

  #string(quote: string): string {
    const parts: string[] = [];
    for (let from = ++this.#at; this.#at < this.#text.length; this.#at++) {
      const next = this.#text.charAt(this.#at);
      if (next !== quote && next !== '\\') continue;
      parts.push(this.#text.slice(from, this.#at++));
      if (next === quote) return parts.join('');
      parts.push(escaped(this.#text.charAt(this.#at)));
      from = this.#at + 1;
    }
    throw new NotPython();
  }

  #list<Item>(close: string, item: () => Item): Item[] {
    const items: Item[] = [];
    while (!this.#take(close)) {
      if (items.length > 0) this.#expect(',');
      if (items.length > 0 && this.#take(close)) break;
      items.push(item());
    }
    return items;
  }

  #word(pattern: RegExp): string {
    this.#blanks();
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found === undefined) throw new NotPython();
    this.#at += found.length;
    return found;
  }

  #expect(character: string): void {
    if (!this.#take(character)) throw new NotPython();
  }

  #take(character: string): boolean {
    this.#blanks();
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #blanks(): void {
    while (/\s/.test(this.#text.charAt(this.#at))) this.#at++;
  }
}

function escaped(character: string): string {
  return { n: '\n', t: '\t', r: '\r', '\\': '\\', '"': '"', "'": "'" }[character] ?? `\\${character}`;
}
