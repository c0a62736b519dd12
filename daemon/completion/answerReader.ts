import { linkedSignal } from '../../protocol/base/abort.ts';
import type { Runner } from '../runner/runner.ts';
import type { AnswerContext } from './cursorContext.ts';
import { findSpecialToken, isTurnHeader, maxTokenLength } from './fillInTheMiddle.ts';
import { opensFence, withoutDoubledBlank } from './filters.ts';
import { isClosersOrBlank } from './syntax.ts';

/** Reads until there is enough, and then closes the runner's socket, so that it stops. */
export async function readAnswer(
  begin: (signal: AbortSignal) => ReturnType<Runner['fill']>,
  { context, receive }: { readonly context: AnswerContext; readonly receive: (text: string) => void },
  signal: AbortSignal,
): Promise<string> {
  signal.throwIfAborted();
  const reader = new AnswerReader(context);
  const reading = linkedSignal(signal);
  try {
    for await (const lines of begin(reading.signal)) {
      for (const { text } of lines) {
        reader.push(text);
        receive(text);
      }
      const last = lines.at(-1);
      if (last?.done && last.doneReason === 'length') reader.cut();
      if (last?.done) break;
      if (!reader.isOver) continue;
      reading.abort();
      break;
    }
    return reader.text();
  } finally {
    reading.unlink();
  }
}

/** The most characters of an answer. A runner may ignore the limit in the request. */
const maxCharacters = 16_000;

/** Reads an answer as it arrives, and knows when there is enough. Its work is linear in the length of the answer. */
class AnswerReader {
  readonly #context: AnswerContext;
  readonly #judge: (line: string) => Verdict;
  /** The complete lines that are kept. */
  readonly #lines: string[] = [];
  /** The current line, in pieces. */
  #pieces: string[] = [];
  #length = 0;
  /** The end of the current line. A token may be split between two pieces. */
  #tail = '';
  #room = maxCharacters;
  #isOver = false;
  #isCut = false;
  #isFenced = false;
  /** By the second fence. */
  #isClosed = false;
  #hasHeader = false;

  constructor(context: AnswerContext) {
    this.#context = context;
    this.#judge = createBlockJudge(context);
  }

  /** Whether nothing more is wanted. */
  get isOver(): boolean {
    return this.#isOver;
  }

  push(text: string): void {
    if (this.#isOver) return;
    const [first = '', ...more] = this.#within(text).split('\n');
    this.#extend(first);
    for (const line of more) {
      if (this.#isOver) return;
      this.#endLine();
      if (!this.#isOver) this.#extend(line);
    }
    if (this.#room === 0) this.cut();
  }

  /** Marks that the answer ended in the middle, at the runner's limit or at ours. */
  cut(): void {
    this.#isCut = true;
    this.#isOver = true;
  }

  /** The text that is kept. A last line that was cut is left out, unless it is the only one. */
  text(): string {
    const rest = this.#takeLine();
    if (this.#isClosed) return this.#lines.join('\n');
    return [...this.#lines, this.#isWanted(rest) ? rest : ''].join('\n');
  }

  #isWanted(rest: string): boolean {
    if (rest === '' || !this.#context.isMultiline) return rest !== '';
    const isWhole = this.#lines.some((line) => line.trim() !== '');
    return !(this.#isCut && isWhole) && this.#judge(rest) !== 'stop';
  }

  #within(text: string): string {
    const kept = text.slice(0, this.#room);
    this.#room -= kept.length;
    return kept;
  }

  #extend(piece: string): void {
    const start = this.#length - this.#tail.length;
    const end = this.#tail + piece;
    const token = findSpecialToken(end, this.#context.stops);
    this.#pieces.push(piece);
    this.#length += piece.length;
    this.#tail = end.slice(-maxTokenLength);
    // The filters remove tokens at the very start of the answer.
    if (token === -1 || start + token === 0) return;
    const before = this.#pieces.join('').slice(0, start + token);
    if (this.#lines.length === 0 && isTurnHeader(before)) return;
    this.#pieces = [before];
    this.#isOver = true;
  }

  #endLine(): void {
    const line = this.#takeLine();
    if (this.#isFence(line) || this.#isHeader(line)) return;
    if (!this.#context.isMultiline) {
      this.#lines.push(line);
      this.#isOver = true;
      return;
    }
    const verdict = this.#judge(line);
    if (verdict !== 'stop') this.#lines.push(line);
    this.#isOver = verdict !== 'keep';
  }

  /** The answer of a chat model stands between two fences. */
  #isFence(line: string): boolean {
    const opens = this.#lines.length === 0 && !this.#isFenced && opensFence(line, this.#context);
    const closes = this.#isFenced && line.trimStart().startsWith('```');
    if (opens) this.#isFenced = true;
    if (closes) this.#isClosed = this.#isOver = true;
    return opens || closes;
  }

  /** With the empty lines below it. */
  #isHeader(line: string): boolean {
    if (this.#lines.length > 0) return false;
    this.#hasHeader ||= isTurnHeader(line);
    return this.#hasHeader && (line.trim() === '' || isTurnHeader(line));
  }

  #takeLine(): string {
    const whole = this.#pieces.join('').replace(/\r$/, '');
    // Inside of a fence the first line repeats the indentation.
    const isIndented = this.#isFenced && this.#lines.length === 0;
    const line = isIndented ? withoutDoubledBlank(whole, this.#context) : whole;
    this.#pieces = [];
    this.#length = 0;
    this.#tail = '';
    return line;
  }
}

/** Whether a line of an answer is kept, is kept as the last one, or is dropped together with everything after it. */
type Verdict = 'keep' | 'last' | 'stop';

/** The width of a tab in a file that mixes tabs and blanks, in columns. */
const tabWidth = 4;
/** The longest run of lines whose repetition ends an answer. */
const maxRun = 3;

const opener = /[{([:]\s*$/;
const closer = /^\s*([)\]}]|(end|fi|done|esac)\b)/;
const nextBranch =
  /^[)\]}\s]*(else|elif|elsif|except|finally|catch|case|default|when|rescue|ensure|then|while|until)\b/;

/** Judges the lines of an answer one after another. The answer ends where the cursor's block ends. */
function createBlockJudge(context: AnswerContext): (line: string) => Verdict {
  const { linePrefix, suffixLine, endsAtBlank } = context;
  const seen: string[] = [];
  let block: Block | undefined;

  const judge = (line: string, { base, isOpened }: Block): Verdict => {
    if (suffixLine !== '' && line === suffixLine) return 'stop';
    const indentation = indentationOf(line);
    // The closers of the block stay, and nothing comes after them.
    if (indentation < base) return isClosersOrBlank(line) || closer.test(line) ? 'last' : 'stop';
    if (isOpened && indentation === base) return verdictAfterBlock(line);
    return repeats(seen) ? 'stop' : 'keep';
  };

  return (text) => {
    const line = (block ? text : linePrefix + text).trimEnd();
    if (line === '' && block) return endsAtBlank && seen.length > 1 ? 'stop' : 'keep';
    if (line !== '') seen.push(line);
    if (block) return judge(line, block);
    block = blockOf(linePrefix, line);
    return 'keep';
  };
}

interface Block {
  /** The least indentation of its lines, in columns. */
  readonly base: number;
  /** Whether the block begins at the end of the cursor's line. */
  readonly isOpened: boolean;
}

/** `line` is the cursor's line with what the answer adds. The indentation may come from the answer. */
function blockOf(linePrefix: string, line: string): Block {
  return { base: indentationOf(line === '' ? linePrefix : line), isOpened: opener.test(line) };
}

/** The verdict for a line after the block that the cursor's line opened. */
function verdictAfterBlock(line: string): Verdict {
  if (nextBranch.test(line)) return 'keep';
  if (!closer.test(line)) return 'stop';
  return opener.test(line) ? 'keep' : 'last';
}

/** Whether the newest lines repeat the lines before them. Closers do not count, because they repeat in any code. */
function repeats(lines: readonly string[]): boolean {
  for (let run = 1; run <= maxRun; run += 1) {
    const newest = lines.slice(-run);
    const before = lines.slice(-2 * run, -run);
    if (before.length === run && newest.every((line, index) => line === before[index]))
      return !newest.every(isClosersOrBlank);
  }
  return false;
}

function indentationOf(line: string): number {
  const blanks = /^[ \t]*/.exec(line)?.[0] ?? '';
  return [...blanks].reduce((columns, blank) => columns + (blank === '\t' ? tabWidth : 1), 0);
}
