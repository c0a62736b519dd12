import { columnsOf } from './columns.ts';

/**
 * Wraps running text at a width, a word at a time: a word is held until it ends. Styles take no columns. Each line may
 * begin with a prefix, and each line that is wrapped with another.
 */
export class WordWrap {
  readonly #width: number;
  #out = '';
  /** The word that is held, and the columns it takes. */
  #word = '';
  #wordColumns = 0;
  #column = 0;
  #hanging = '';
  #hangingColumns = 0;

  constructor(width: number) {
    this.#width = width;
  }

  /** Begins a line: `prefix` now, and `hanging` on each line that it is wrapped to; the columns of both. */
  prefix(prefix: string, columns: number, hanging = { text: '', columns: 0 }): void {
    this.#out += prefix;
    this.#column = columns;
    this.#hanging = hanging.text;
    this.#hangingColumns = hanging.columns;
  }

  character(character: string): void {
    if (character === ' ') {
      this.#flush();
      this.#out += ' ';
      this.#column++;
      return;
    }
    this.#word += character;
    this.#wordColumns += columnsOf(character);
    if (this.#wordColumns >= this.#width) this.#flush();
  }

  style(sequence: string): void {
    this.#word += sequence;
  }

  newline(): void {
    this.#flush();
    this.#out += '\n';
    this.prefix('', 0);
  }

  /** Text that is not wrapped, such as code. */
  raw(text: string): void {
    this.#flush();
    this.#out += text;
  }

  /** What is ready to be shown. */
  take(): string {
    const out = this.#out;
    this.#out = '';
    return out;
  }

  end(): string {
    this.#flush();
    return this.take();
  }

  #flush(): void {
    if (this.#column + this.#wordColumns > this.#width && this.#column > this.#hangingColumns) {
      this.#out = `${this.#out.replace(/ +$/, '')}\n${this.#hanging}`;
      this.#column = this.#hangingColumns;
    }
    this.#out += this.#word;
    this.#column += this.#wordColumns;
    this.#word = '';
    this.#wordColumns = 0;
  }
}
