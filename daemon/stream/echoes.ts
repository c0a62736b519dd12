import { isBlank } from './characters.ts';

/**
 * The most searches of everything that was sent, for one answer. Ordinary answers have fewer passages that might be
 * echoes. Without a limit, an answer full of them would take quadratic time.
 */
const maxSearches = 64;

/**
 * Finds echoes: passages of an answer that repeat what the chat sent. White space does not count. The texts are joined
 * when the first search begins, because most answers need none.
 */
export class Echoes {
  readonly #sent: readonly string[];
  #text: string | undefined;
  /** How many characters of the text may still be visited. */
  #left = 0;
  /** The number of characters visited, for the tests that the work is linear. */
  steps = 0;

  constructor(sent: readonly string[]) {
    this.#sent = sent;
  }

  /** The texts are joined by white space, which is never searched for, so no echo spans two texts. */
  get text(): string {
    if (this.#text === undefined) {
      this.#text = this.#sent.map((one) => one.replace(/[\s\u0085]+/g, '')).join('\n');
      this.#left = this.#text.length * maxSearches;
    }
    return this.#text;
  }

  /** Counts one more visited character. False if it is one too many. */
  spend(): boolean {
    this.steps++;
    return this.#left-- > 0;
  }
}

/**
 * Whether a passage that grows character by character still stands in what was sent. It keeps the first place where
 * all of the passage stands and goes on from there, as Knuth, Morris and Pratt do it, so nothing is visited again.
 */
export class EchoSearch {
  readonly #echoes: Echoes;
  readonly #passage: number[] = [];
  /** For each beginning of the passage: the length of its longest proper beginning with which it also ends. */
  readonly #borders: number[] = [];
  /** The end of the place in the text, and how much of the passage stands before it. */
  #at = 0;
  #matched = 0;

  constructor(echoes: Echoes) {
    this.#echoes = echoes;
  }

  /** Whether the passage has nothing but white space. */
  get isEmpty(): boolean {
    return this.#passage.length === 0;
  }

  /** Adds text to the passage. False if the passage stands nowhere: then nothing may be added any more. */
  add(text: string): boolean {
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (!isBlank(code) && !this.#take(code)) return false;
    }
    return true;
  }

  #take(code: number): boolean {
    this.#borders.push(this.#borderWith(code));
    this.#passage.push(code);
    const { text } = this.#echoes;
    while (this.#matched < this.#passage.length) {
      if (this.#at === text.length || !this.#echoes.spend()) return false;
      if (text.charCodeAt(this.#at) === this.#passage[this.#matched]) {
        this.#at++;
        this.#matched++;
      } else if (this.#matched === 0) this.#at++;
      else this.#matched = this.#borders[this.#matched - 1] ?? 0;
    }
    return true;
  }

  /** The border of the passage with one more character. */
  #borderWith(code: number): number {
    const last = this.#passage.length - 1;
    if (last < 0) return 0;
    let border = this.#borders[last] ?? 0;
    while (border > 0 && this.#passage[border] !== code) border = this.#borders[border - 1] ?? 0;
    return this.#passage[border] === code ? border + 1 : 0;
  }
}
