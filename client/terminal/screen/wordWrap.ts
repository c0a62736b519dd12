import { columnsOf, isIdeograph, isPlain } from './columns.ts';

/** Characters of a word that are held, however few columns they take. */
const mostHeld = 500;

/**
 * Wraps running text at a width, a word at a time: a word is held until it ends, and the blanks before it with it, so
 * that none is left at the end of a line. Styles take no columns. A word that is wider than a line, such as a long
 * address, is passed on as it comes and never broken: it could not be copied otherwise.
 */
export class WordWrap {
  readonly #width: number;
  #out = '';
  #blanks = '';
  /** The word that is held, with its styles and without, and the columns that it takes at most. */
  #word = '';
  #letters = '';
  #wordColumns = 0;
  /** The beginning of the word has been passed on already. */
  #isBegun = false;
  #column = 0;
  #hanging = '';
  #hangingColumns = 0;
  /** The style that holds where the text is shown, and at the end of what is held. */
  #style = '';
  #nextStyle = '';

  constructor(width: number) {
    this.#width = width;
  }

  /** Adds to the beginning of a line: `text` now, and `hanging` on each line that it is wrapped to. */
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

  /** Whether the word takes a whole line. Together, characters may take less than each for itself. */
  #isWide(): boolean {
    if (this.#wordColumns < this.#width) return false;
    this.#measure();
    return this.#wordColumns >= this.#width || this.#letters.length > mostHeld;
  }

  #measure(): void {
    if (!isPlain(this.#letters)) this.#wordColumns = columnsOf(this.#letters);
  }

  /** `sequence` sets the whole style: what held before does no longer. */
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

  /** The word is at its end. */
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

  /** What is ready to be shown. */
  take(): string {
    const out = this.#out;
    this.#out = '';
    return out;
  }

  /** Puts the blanks, or a new line, before the word. */
  #place(): void {
    const end = this.#column + this.#blanks.length + this.#wordColumns;
    if (!this.#isBegun && end > this.#width && this.#column > this.#hangingColumns) {
      // What hangs may have a style of its own.
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
 * A text in lines of so many columns. What a line is wrapped to stands under what follows its last gap of two blanks or
 * more, as in a list of commands; a gap after the end of a sentence is none. Sequences that set a style stay as they are.
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
  const columns = columnsOf(lead.replace(sgr, ''));
  // Beside a narrow column, the text would be hard to read.
  if (columns <= width / 2) wrap.lead(lead, columns, ' '.repeat(columns));
  const rest = columns <= width / 2 ? line.slice(lead.length) : line;
  for (const [piece] of rest.matchAll(pieces))
    piece.startsWith('\u001b[') ? wrap.style(piece) : wrap.character(piece);
  wrap.flush();
  return wrap.take().replace(/ +$/gm, '');
}

/** Sequences that set a style and show nothing. */
const sgr = /\u001b\[[0-9;]*m/g;
const pieces = /\u001b\[[0-9;]*m|[\s\S]/gu;
