import { columnsOf, isIdeograph, isPlain, withoutStyles } from './columns.ts';

/** The most characters of a word that are held, however few columns they take. */
const maxHeld = 500;

/**
 * Wraps running text word by word. A word is held until it ends, with the blanks before it, so that no line ends with
 * blanks. Styles take no columns. A word that is wider than a line, such as a long address, is passed on as it arrives
 * and never broken, because a broken address could not be copied.
 */
export class WordWrap {
  readonly #width: number;
  #out = '';
  #blanks = '';
  /** The held word with styles and without, and an upper bound of its columns. */
  #word = '';
  #letters = '';
  #wordColumns = 0;
  /** Whether the beginning of the word has been passed on already. */
  #isBegun = false;
  #column = 0;
  #hanging = '';
  #hangingColumns = 0;
  /** The style at the end of what is shown, and at the end of what is held. */
  #style = '';
  #nextStyle = '';

  constructor(width: number) {
    this.#width = width;
  }

  /** Adds `text` to the beginning of a line, and `hanging` to each line that it continues on. */
  lead(text: string, columns: number, hanging = text): void {
    this.#out += text;
    this.#column += columns;
    this.#hanging += hanging;
    this.#hangingColumns += columns;
  }

  character(character: string): void {
    if (character === ' ' || character === '\t') {
      this.flush();
      this.#blanks += character;
      return;
    }
    if (isIdeograph(character)) this.flush();
    this.#word += character;
    this.#letters += character;
    this.#wordColumns += columnsOf(character);
    if (isIdeograph(character)) this.flush();
    else if (this.#isBegun || this.#isWide()) {
      this.flush();
      this.#isBegun = true;
    }
  }

  /** Whether the word takes a whole line. Joined characters may take fewer columns than their sum. */
  #isWide(): boolean {
    if (this.#wordColumns < this.#width) return false;
    this.#measure();
    return this.#wordColumns >= this.#width || this.#letters.length > maxHeld;
  }

  #measure(): void {
    if (!isPlain(this.#letters)) this.#wordColumns = columnsOf(this.#letters);
  }

  /** `sequence` replaces the style before it. */
  style(sequence: string): void {
    this.#word += sequence;
    this.#nextStyle = sequence;
  }

  newline(): void {
    this.flush();
    this.#out += '\n';
    this.#blanks = '';
    this.#column = 0;
    this.#hanging = '';
    this.#hangingColumns = 0;
  }

  /** Text that is not wrapped, such as code. */
  raw(text: string): void {
    this.flush();
    this.#out += this.#blanks + text;
    this.#blanks = '';
  }

  /** Ends the word. */
  flush(): void {
    this.#measure();
    if (this.#wordColumns > 0) this.#place();
    this.#out += this.#word;
    this.#column += this.#wordColumns;
    this.#style = this.#nextStyle;
    this.#word = '';
    this.#letters = '';
    this.#wordColumns = 0;
    this.#isBegun = false;
  }

  /** Returns what is ready to be shown. */
  take(): string {
    const out = this.#out;
    this.#out = '';
    return out;
  }

  /** Puts the blanks, or a new line, before the word. */
  #place(): void {
    const end = this.#column + this.#blanks.length + this.#wordColumns;
    if (!this.#isBegun && end > this.#width && this.#column > this.#hangingColumns) {
      // The hanging text may have a style of its own.
      this.#out += `\n${this.#hanging}${this.#hanging === '' ? '' : this.#style}`;
      this.#column = this.#hangingColumns;
    } else {
      this.#out += this.#blanks;
      this.#column += this.#blanks.length;
    }
    this.#blanks = '';
  }
}

/**
 * Wraps each line of a text. A wrapped line continues under the text after its last gap of two blanks or more, as in a
 * list of commands. A gap after the end of a sentence does not count. Sequences that set a style stay as they are.
 */
export function wrapText(text: string, width: number): string {
  return text
    .split('\n')
    .map((line) => wrapLine(line, width))
    .join('\n');
}

function wrapLine(line: string, width: number): string {
  const wrap = new WordWrap(width);
  const lead = /^(?:.*[^\s.!?:;,])? {2,}(?=\S)/.exec(line)?.[0] ?? '';
  const columns = columnsOf(withoutStyles(lead));
  // In a narrow column, the text would be hard to read.
  const hangs = columns <= width / 2;
  if (hangs) wrap.lead(lead, columns, ' '.repeat(columns));
  for (const [piece] of line.slice(hangs ? lead.length : 0).matchAll(pieces))
    piece.startsWith('\u001b[') ? wrap.style(piece) : wrap.character(piece);
  wrap.flush();
  return wrap.take().replace(/ +$/gm, '');
}

const pieces = /\u001b\[[0-9;]*m|[\s\S]/gu;
