/** A terminal without reflow and scrollback: enough to see what a person would. */
export class TerminalScreen {
  readonly #columns: number;
  readonly #rows: number;
  #lines: string[][] = [[]];
  #row = 0;
  #column = 0;
  isCursorShown = true;
  /** Lines that have left the screen at the top. */
  scrolled = 0;

  constructor({ columns = 80, rows = 24 }: { readonly columns?: number; readonly rows?: number } = {}) {
    this.#columns = columns;
    this.#rows = rows;
  }

  write(text: string): this {
    for (const [, sequence = '', letter = '', character = ''] of text.matchAll(
      /\u001b\[([?\d;]*)([a-zA-Z])|([^\u001b])/gu,
    ))
      if (letter === '') this.#print(character);
      else this.#obey(letter, sequence);
    return this;
  }

  /** As a person sees it. */
  text(): string {
    return this.#lines.map((line) => line.join('').trimEnd()).join('\n');
  }

  #print(character: string): void {
    if (character === '\r') this.#column = 0;
    else if (character === '\n') this.#down();
    else {
      if (this.#column >= this.#columns) {
        this.#column = 0;
        this.#down();
      }
      this.#line()[this.#column++] = character;
    }
  }

  #obey(letter: string, sequence: string): void {
    if (letter === 'A') this.#row = Math.max(0, this.#row - Number(sequence || 1));
    if (letter === 'K') this.#line().splice(this.#column);
    if (letter === 'J') {
      this.#line().splice(this.#column);
      this.#lines.splice(this.#row + 1);
    }
    if (sequence === '?25') this.isCursorShown = letter === 'h';
  }

  #down(): void {
    this.#row++;
    if (this.#lines.length <= this.#row) this.#lines.push([]);
    if (this.#lines.length <= this.#rows) return;
    this.#lines.shift();
    this.#row--;
    this.scrolled++;
  }

  #line(): string[] {
    const line = this.#lines[this.#row] ?? [];
    this.#lines[this.#row] = line;
    while (line.length < this.#column) line.push(' ');
    return line;
  }
}
