import type { AnswerContext } from './answerContext.ts';
import { createBlockJudge, type Verdict } from './block.ts';
import { findSpecialToken, longestToken } from './specialTokens.ts';

/** Characters of an answer, whatever the runner makes of the limit that it was given. */
const maxCharacters = 16_000;

/** Reads an answer as it comes, and knows when it has all that is wanted. Its work is linear in what it is given. */
export class AnswerReader {
  readonly #context: AnswerContext;
  readonly #judge: (line: string) => Verdict;
  /** Complete lines that are kept. */
  readonly #lines: string[] = [];
  /** The line that is under way, in pieces. */
  #pieces: string[] = [];
  #length = 0;
  /** The end of the line that is under way: a token may be cut between two pieces. */
  #tail = '';
  #room = maxCharacters;
  #isOver = false;
  #isCut = false;

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

  /** The answer ended in the middle: the runner's limit, or ours. */
  cut(): void {
    this.#isCut = true;
    this.#isOver = true;
  }

  /** What is kept. A last line that was cut is left out where others are there without it. */
  text(): string {
    const rest = this.#takeLine();
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
    this.#tail = end.slice(-longestToken);
    // One that the answer begins with is left to the filters.
    if (token === -1 || start + token === 0) return;
    this.#pieces = [this.#pieces.join('').slice(0, start + token)];
    this.#isOver = true;
  }

  #endLine(): void {
    const line = this.#takeLine();
    if (!this.#context.isMultiline) {
      this.#lines.push(line);
      this.#isOver = true;
      return;
    }
    const verdict = this.#judge(line);
    if (verdict !== 'stop') this.#lines.push(line);
    this.#isOver = verdict !== 'keep';
  }

  #takeLine(): string {
    const line = this.#pieces.join('').replace(/\r$/, '');
    this.#pieces = [];
    this.#length = 0;
    this.#tail = '';
    return line;
  }
}
