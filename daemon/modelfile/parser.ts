import { nearestNames } from '../../protocol/base/editDistance.ts';
import { commandWords, messageRoles } from './vocabulary.ts';

/** A range of the text, in UTF-16 units from its start. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Argument extends Span {
  /** The text without its quotes. */
  readonly text: string;
}

/** One command; its span is from its name to the end of its value. */
export interface Instruction extends Span {
  /** In lower case. */
  readonly name: string;
  readonly word: Span;
  /** For `parameter` the name and the value, for `message` the role and the text, for other commands the value. */
  readonly args: readonly [Argument, ...Argument[]];
}

export interface Problem extends Span {
  readonly severity: 'error' | 'warning';
  readonly message: string;
}

export interface ParsedModelfile {
  readonly commands: readonly Instruction[];
  /** What is wrong with the form; at most a thousand problems. */
  readonly problems: readonly Problem[];
  /** True if a value was never closed: then nothing is known about what comes after it. */
  readonly isCut: boolean;
}

const maxProblems = 1_000;
const maxCommands = 100_000;

/**
 * Reads a Modelfile by the runner's grammar. Commands are in upper or lower case. A `#` starts a comment only at the
 * beginning of a line. A bare value goes to the end of its line; other values stand between `"` or `"""`, which close
 * only at the end of a line. The parser goes on after a mistake, never throws, and takes linear time.
 */
export function parseModelfile(text: string): ParsedModelfile {
  return new Parser(text).parse();
}

class Parser {
  readonly #commands: Instruction[] = [];
  readonly #problems: Problem[] = [];
  /** The current position. */
  #at: number;
  /** Delimiters that are known not to end any of the remaining lines. */
  readonly #neverClosed = new Set<string>();
  #isCut = false;

  constructor(private readonly text: string) {
    this.#at = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  }

  parse(): ParsedModelfile {
    while (this.#skipBlanksAndLines() && !this.#isTooLong()) {
      if (this.text[this.#at] === '#') this.#at = this.#lineEnd(this.#at);
      else this.#command();
    }
    return { commands: this.#commands, problems: this.#problems, isCut: this.#isCut };
  }

  /** Whether there are more commands than anybody writes. The rest is not read. */
  #isTooLong(): boolean {
    if (this.#commands.length < maxCommands) return false;
    this.#isCut = true;
    this.#report({ start: this.#at, end: this.#at + 1 }, `A Modelfile has at most ${maxCommands} commands.`);
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
      return this.#report(
        first,
        `"${shown(first.text)}" is not a role. The roles are system, user and assistant, in lower case.`,
      );
    this.#commands.push({ name, word, args, start: word.start, end });
  }

  /** The parameter's name or the message's role; undefined if the line ends too early, or if it is not a name. */
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
      return this.#refuse(span, `"${shown(text)}" is not a parameter: names have letters, digits and "_".`);
    this.#skipBlanks();
    return [{ ...span, text }];
  }

  /** The value that starts here; undefined if its quotes are never closed. */
  #value(): Argument | undefined {
    const start = this.#at;
    if (this.text[start] === '"') return this.#quoted(this.text.startsWith('"""', start) ? '"""' : '"');
    const end = this.#trimmedEnd(start, this.#lineEnd(start));
    this.#at = end;
    return { start, end, text: printable(this.text.slice(start, end)) };
  }

  /** Reads up to the first line end with the delimiter before it. The content is kept exactly. */
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
    const text = this.text.slice(start + delimiter.length, end - delimiter.length);
    return { start, end, text };
  }

  #closing(start: number, delimiter: string): number | undefined {
    const least = start + 2 * delimiter.length;
    for (let line = start; ; ) {
      const lineEnd = this.#lineEnd(line);
      const end = this.#trimmedEnd(line, lineEnd);
      if (end >= least && this.text.startsWith(delimiter, end - delimiter.length)) return end;
      if (lineEnd >= this.text.length) return undefined;
      line = lineEnd + 1;
    }
  }

  /**
   * Warns about quotes that seem to close on the first line but have more text after them: they take in the next lines.
   */
  #warnOfLateEnd({ start, end }: Span, delimiter: string): void {
    const lineEnd = this.#lineEnd(start);
    if (lineEnd >= end) return;
    const close = this.text.slice(start, lineEnd).indexOf(delimiter, delimiter.length);
    if (close === -1) return;
    const message = `The value does not end at this ${delimiter}, because more text follows it; the value goes on to a later line.`;
    const at = start + close;
    this.#report({ start: at, end: at + delimiter.length }, message, 'warning');
  }

  /** The likely mistake is text after the closing quotes. Then reading goes on after that line. */
  #unclosed(start: number, delimiter: string): void {
    const open = start + delimiter.length;
    const within = delimiter === '"' ? this.#lineEnd(start) : this.text.length;
    const close = this.text.indexOf(delimiter, open);
    const after = close + delimiter.length;
    if (close !== -1 && after < within) {
      const lineEnd = this.#lineEnd(after);
      const more = { start: after, end: this.#trimmedEnd(after, lineEnd) };
      this.#at = lineEnd;
      return this.#report(
        more,
        `A closing ${delimiter} must stand at the end of its line. Otherwise the value does not end there.`,
      );
    }
    this.#isCut = true;
    this.#at = this.text.length;
    this.#report(
      { start, end: open },
      `The value that starts here is never closed: end a line with ${delimiter}.`,
    );
  }

  #word(): Span {
    const start = this.#at;
    while (this.#at < this.text.length && !isBlank(this.#code()) && !isLineEnd(this.#code())) this.#at++;
    return { start, end: this.#at };
  }

  #skipBlanks(): void {
    while (isGap(this.#code())) this.#at++;
  }

  /** False at the end of the text. */
  #skipBlanksAndLines(): boolean {
    while (isGap(this.#code()) || isLineEnd(this.#code())) this.#at++;
    return this.#at < this.text.length;
  }

  #isAtLineEnd(): boolean {
    return this.#at >= this.text.length || isLineEnd(this.#code());
  }

  #lineEnd(from: number): number {
    let at = from;
    while (at < this.text.length && !isLineEnd(this.text.charCodeAt(at))) at++;
    return at;
  }

  #trimmedEnd(start: number, end: number): number {
    let at = end;
    while (at > start && isSpace(this.text.charCodeAt(at - 1))) at--;
    return at;
  }

  #code(): number {
    return this.text.charCodeAt(this.#at);
  }

  #slice({ start, end }: Span): string {
    return this.text.slice(start, end);
  }

  /** Reports a mistake that spoils the whole line. */
  #refuse(span: Span, message: string): undefined {
    this.#report(span, message);
    this.#at = this.#lineEnd(this.#at);
  }

  #report(span: Span, message: string, severity: Problem['severity'] = 'error'): void {
    const { start, end } = span;
    if (this.#problems.length < maxProblems) this.#problems.push({ start, end, severity, message });
  }
}

function unknownCommand(word: string): string {
  const near = word.length < 5 ? undefined : nearestNames(word, [...commandWords.keys()], 1)[0];
  if (near !== undefined) return `"${shown(word)}" is not a command. Did you mean ${near.toUpperCase()}?`;
  return `"${shown(word)}" is not a command. The commands are ${[...commandWords.keys()].join(', ').toUpperCase()}.`;
}

function shown(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}

/** Removes invisible characters from a bare value, as the runner's own reader does. */
function printable(text: string): string {
  return /^[\x20-\x7e\t]*$/.test(text) ? text : text.replace(/[^\S \t]|(?!\t)\p{C}/gu, '').trim();
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

function isLineEnd(code: number): boolean {
  return code === 0x0a || code === 0x0d;
}

/** Whether a character is trimmed from the ends of values. */
export function isSpace(code: number): boolean {
  return (
    (code >= 0x09 && code <= 0x0d) ||
    code === 0x20 ||
    code === 0x85 ||
    code === 0xa0 ||
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000
  );
}

/**
 * Whether a character may stand before a command or a value without meaning: blanks, and the invisible characters of
 * pasted text.
 */
export function isGap(code: number): boolean {
  const isInvisible =
    (code >= 0x200b && code <= 0x200f) || code === 0x2060 || code === 0xfeff || code === 0xad;
  return isInvisible || (isSpace(code) && !isLineEnd(code));
}
