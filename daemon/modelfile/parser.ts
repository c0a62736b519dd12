import { isBlank, isGap, isLineEnd, isSpace, printable } from './characters.ts';
import { commandWords, messageRoles } from './vocabulary.ts';

/** A stretch of the text, in UTF-16 units from its start. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Argument extends Span {
  /** Without its quotes. */
  readonly text: string;
}

/** One command; its span is from its name to the end of its value. */
export interface Command extends Span {
  /** In lower case. */
  readonly name: string;
  readonly word: Span;
  /** Of `parameter` the name and the value, of `message` the role and the text, of the others the value. */
  readonly args: readonly [Argument, ...Argument[]];
}

export interface Problem extends Span {
  readonly severity: 'error' | 'warning';
  readonly message: string;
}

export interface ParsedModelfile {
  readonly commands: readonly Command[];
  /** What is wrong with the form; at most a thousand. */
  readonly problems: readonly Problem[];
  /** A value was never closed, so that nothing is known of what comes after. */
  readonly isCut: boolean;
}

const maxProblems = 1_000;
const maxCommands = 100_000;

/**
 * Reads a Modelfile by the runner's grammar: commands in any case, `#` comments only as the first of a line, values
 * bare to the end of the line or between `"` or `"""`, which close where they are the last of a line. It goes on after
 * a mistake, never throws, and takes time linear in the text.
 */
export function parseModelfile(text: string): ParsedModelfile {
  return new Parser(text).parse();
}

class Parser {
  readonly #text: string;
  readonly #commands: Command[] = [];
  readonly #problems: Problem[] = [];
  /** Where it stands. */
  #at: number;
  /** Delimiters of which it is known that no line ends with one any more. */
  readonly #neverClosed = new Set<string>();
  #isCut = false;

  constructor(text: string) {
    this.#text = text;
    this.#at = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  }

  parse(): ParsedModelfile {
    while (this.#skipBlanksAndLines() && !this.#isTooLong()) {
      if (this.#text[this.#at] === '#') this.#at = this.#lineEnd(this.#at);
      else this.#command();
    }
    return { commands: this.#commands, problems: this.#problems, isCut: this.#isCut };
  }

  /** Nobody writes so many commands; what comes beyond is not looked at. */
  #isTooLong(): boolean {
    if (this.#commands.length < maxCommands) return false;
    this.#isCut = true;
    this.#tell({ start: this.#at, end: this.#at + 1 }, `A Modelfile has at most ${maxCommands} commands.`);
    return true;
  }

  #command(): void {
    const word = this.#word();
    const name = this.#slice(word).toLowerCase();
    const known = commandWords.get(name);
    if (!known) return this.#refuse(word, unknownCommand(this.#slice(word)));
    if (this.#isAtLineEnd()) return this.#refuse(word, `${name.toUpperCase()} needs a value.`);
    this.#skipBlanks();
    const before = known.takes === 'value' ? [] : this.#firstWord(name, word);
    const value = before && this.#value();
    if (!before || !value) return;
    const [first] = before;
    const end = Math.max(value.end, first?.end ?? 0, word.end);
    const args: [Argument, ...Argument[]] = first ? [first, value] : [value];
    if (name === 'message' && first && !messageRoles.includes(first.text))
      return this.#tell(
        first,
        `"${shown(first.text)}" is no role: it is system, user or assistant, in lower case.`,
      );
    this.#commands.push({ name, word, args, start: word.start, end });
  }

  /** The parameter's name or the message's role; undefined where the line ends too early, or it is no name. */
  #firstWord(name: string, word: Span): [Argument] | undefined {
    const needs = name === 'parameter' ? 'a name and a value' : 'a role and a text';
    if (this.#isAtLineEnd()) return this.#refuse(word, `${name.toUpperCase()} needs ${needs}.`);
    const span = this.#word();
    const text = this.#slice(span);
    if (this.#isAtLineEnd()) {
      const what = `${name.toUpperCase()} ${shown(text)} needs a ${name === 'parameter' ? 'value' : 'text'}.`;
      return this.#refuse({ start: word.start, end: span.end }, what);
    }
    if (name === 'parameter' && /\W/.test(text))
      return this.#refuse(span, `"${shown(text)}" is no parameter: names have letters, digits and "_".`);
    this.#skipBlanks();
    return [{ ...span, text }];
  }

  /** The value from here on; undefined where its quotes are never closed. */
  #value(): Argument | undefined {
    const start = this.#at;
    if (this.#text[start] === '"') return this.#quoted(this.#text.startsWith('"""', start) ? '"""' : '"');
    const end = this.#trimmedEnd(start, this.#lineEnd(start));
    this.#at = end;
    return { start, end, text: printable(this.#text.slice(start, end)) };
  }

  /** Up to the first line end before which the delimiter stands; its content is kept exactly. */
  #quoted(delimiter: '"' | '"""'): Argument | undefined {
    const start = this.#at;
    const end = this.#neverClosed.has(delimiter) ? undefined : this.#closing(start, delimiter);
    if (end === undefined) {
      this.#neverClosed.add(delimiter);
      this.#unclosed(start, delimiter);
      return undefined;
    }
    this.#at = end;
    this.#warnOfLateEnd({ start, end }, delimiter);
    const text = this.#text.slice(start + delimiter.length, end - delimiter.length);
    return { start, end, text };
  }

  #closing(start: number, delimiter: string): number | undefined {
    const least = start + 2 * delimiter.length;
    for (let line = start; ; ) {
      const lineEnd = this.#lineEnd(line);
      const end = this.#trimmedEnd(line, lineEnd);
      if (end >= least && this.#text.startsWith(delimiter, end - delimiter.length)) return end;
      if (lineEnd >= this.#text.length) return undefined;
      line = lineEnd + 1;
    }
  }

  /** Quotes that look as if they closed on the first line, but have more behind them: the next lines are swallowed. */
  #warnOfLateEnd({ start, end }: Span, delimiter: string): void {
    const lineEnd = this.#lineEnd(start);
    if (lineEnd >= end) return;
    const close = this.#text.slice(start, lineEnd).indexOf(delimiter, delimiter.length);
    if (close === -1) return;
    const message = `The value does not end at this ${delimiter}, because more stands behind it; it goes on to a later line.`;
    const at = start + close;
    this.#tell({ start: at, end: at + delimiter.length }, message, 'warning');
  }

  /** Closing quotes with more behind them are the likely mistake; then reading goes on after that line. */
  #unclosed(start: number, delimiter: string): void {
    const open = start + delimiter.length;
    const within = delimiter === '"' ? this.#lineEnd(start) : this.#text.length;
    const close = this.#text.indexOf(delimiter, open);
    const after = close + delimiter.length;
    if (close !== -1 && after < within) {
      const lineEnd = this.#lineEnd(after);
      const more = { start: after, end: this.#trimmedEnd(after, lineEnd) };
      this.#at = lineEnd;
      return this.#tell(
        more,
        `Closing ${delimiter} must be the last of its line, or the value does not end there.`,
      );
    }
    this.#isCut = true;
    this.#at = this.#text.length;
    this.#tell(
      { start, end: open },
      `The value that begins here is never closed: end a line with ${delimiter}.`,
    );
  }

  #word(): Span {
    const start = this.#at;
    while (this.#at < this.#text.length && !isBlank(this.#code()) && !isLineEnd(this.#code())) this.#at++;
    return { start, end: this.#at };
  }

  #skipBlanks(): void {
    while (isGap(this.#code())) this.#at++;
  }

  /** False at the end of the text. */
  #skipBlanksAndLines(): boolean {
    while (isGap(this.#code()) || isLineEnd(this.#code())) this.#at++;
    return this.#at < this.#text.length;
  }

  #isAtLineEnd(): boolean {
    return this.#at >= this.#text.length || isLineEnd(this.#code());
  }

  #lineEnd(from: number): number {
    let at = from;
    while (at < this.#text.length && !isLineEnd(this.#text.charCodeAt(at))) at++;
    return at;
  }

  #trimmedEnd(start: number, end: number): number {
    let at = end;
    while (at > start && isSpace(this.#text.charCodeAt(at - 1))) at--;
    return at;
  }

  #code(): number {
    return this.#text.charCodeAt(this.#at);
  }

  #slice({ start, end }: Span): string {
    return this.#text.slice(start, end);
  }

  /** Tells a mistake that spoils the whole line. */
  #refuse(span: Span, message: string): undefined {
    this.#tell(span, message);
    this.#at = this.#lineEnd(this.#at);
  }

  #tell(span: Span, message: string, severity: Problem['severity'] = 'error'): void {
    const { start, end } = span;
    if (this.#problems.length < maxProblems) this.#problems.push({ start, end, severity, message });
  }
}

function unknownCommand(word: string): string {
  return `"${shown(word)}" is no command. The commands are ${[...commandWords.keys()].join(', ').toUpperCase()}.`;
}

function shown(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
