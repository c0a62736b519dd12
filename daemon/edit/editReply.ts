import { longestFence } from './editPrompt.ts';

/** A fence: how far it is indented, its marks, and what stands behind them. */
const fence = /^( {0,3})(`{3,}|~{3,})([^`]*)$/;

/** What a reply has when it is over. */
export interface EndedReply {
  readonly text: string;
  /** Nothing of the reply was in a code block, so all of it counts. */
  readonly isWithoutBlock: boolean;
}

/**
 * Reads the new lines out of a model's reply, as they come: those in the first code block. What stands around the block
 * is left out. A reply without a block counts as a whole, which is known only at its end. Text that was returned is
 * never taken back, and all work is linear.
 */
export class EditReply {
  readonly #indent: Indent;
  /** Ticks of the longest fence in the lines to change. A block that is fenced no longer may have fences within. */
  readonly #within: number;
  /** The lines before the block, while there is none. */
  #before: string[] = [];
  /** The pieces of a line that is not whole yet. */
  #line: string[] = [];
  #block: Block | undefined;
  /** The new lines. */
  readonly #lines: string[] = [];
  /** Between the lines, and behind the last one. */
  readonly #lineEnds: readonly [between: string, last: string];

  /** @param original The lines to change. The new ones have its line ends, also that of the last line. */
  constructor(original: string) {
    this.#lineEnds = [/\r?\n/.exec(original)?.[0] ?? '\n', /\r?\n$/.exec(original)?.[0] ?? ''];
    this.#indent = new Indent(original);
    this.#within = longestFence(original);
  }

  /** Takes a piece of the reply, and returns what it adds to the new text. */
  add(piece: string): string {
    const known = this.#lines.length;
    const [first = '', ...rest] = piece.split('\n');
    this.#line.push(first);
    for (const part of rest) {
      this.#takeLine();
      this.#line.push(part);
    }
    const [between] = this.#lineEnds;
    const added = this.#lines.slice(known).join(between);
    return known > 0 && this.#lines.length > known ? between + added : added;
  }

  /** The block has ended, and nothing that follows can belong to it. */
  get isWhole(): boolean {
    return this.#block?.isWhole ?? false;
  }

  /** The reply is over. Its text begins with all that was returned before. */
  end(): EndedReply {
    this.#takeLine();
    const isWithoutBlock = this.#block === undefined;
    if (isWithoutBlock) this.#write(withoutBlankEnds(this.#before));
    const [between, last] = this.#lineEnds;
    const text = this.#lines.join(between);
    return { text: text === '' ? '' : text + last, isWithoutBlock };
  }

  #takeLine(): void {
    const line = this.#line.join('').replace(/\r$/, '');
    this.#line = [];
    if (this.#block) return this.#write(this.#block.take(line));
    const opened = fence.exec(line);
    if (!opened) {
      this.#before.push(line);
      return;
    }
    const [, indent = '', marks = ''] = opened;
    this.#block = new Block(indent.length, marks, marks.length <= this.#within);
    this.#before = [];
  }

  #write(lines: readonly string[]): void {
    for (const line of lines) this.#lines.push(this.#indent.restore(line));
  }
}

function withoutBlankEnds(lines: readonly string[]): readonly string[] {
  const isWritten = (line: string) => line.trim() !== '';
  return lines.slice(lines.findIndex(isWritten), lines.findLastIndex(isWritten) + 1);
}

/** The lines of a code block. */
class Block {
  readonly #indent: RegExp;
  readonly #mark: string;
  readonly #length: number;
  /** The lines may have fences as long as the block's own, so only the last one of the reply closes the block. */
  readonly #isLoose: boolean;
  /** Blocks within that are open. */
  #depth = 0;
  /** What may be the closing fence, with all that came after it. */
  held: string[] = [];
  isClosed = false;

  constructor(indent: number, marks: string, isLoose: boolean) {
    this.#indent = new RegExp(`^ {0,${indent}}`);
    this.#mark = marks.charAt(0);
    this.#length = marks.length;
    this.#isLoose = isLoose;
  }

  get isWhole(): boolean {
    return this.isClosed && !this.#isLoose;
  }

  /** The lines that are certain by now. */
  take(line: string): readonly string[] {
    if (this.isWhole) return [];
    const [, , marks = '', info = ''] = fence.exec(line) ?? [];
    const isFence = marks.charAt(0) === this.#mark && marks.length >= this.#length;
    const content = line.replace(this.#indent, '');
    if (this.#isLoose) return this.#takeLoosely(content, isFence && info.trim() === '');
    if (isFence && info.trim() !== '') this.#depth += 1;
    else if (isFence && this.#depth > 0) this.#depth -= 1;
    else if (isFence) {
      this.isClosed = true;
      return [];
    }
    return [content];
  }

  #takeLoosely(content: string, mayClose: boolean): readonly string[] {
    if (!mayClose && !this.isClosed) return [content];
    const certain = mayClose ? this.held : [];
    if (mayClose) this.held = [];
    this.held.push(content);
    this.isClosed = true;
    return certain;
  }
}

/** Puts back the indentation that models leave out if all of the lines have it. */
class Indent {
  readonly #common: string;
  /** Known with the first line that is not blank. */
  #isLost: boolean | undefined;

  constructor(original: string) {
    const indents = original.split('\n').flatMap((line) => (line.trim() === '' ? [] : [indentOf(line)]));
    this.#common = indents.reduce((common, indent) => sharedStart(common, indent), indents[0] ?? '');
  }

  restore(line: string): string {
    if (line.trim() === '') return line;
    this.#isLost ??= indentOf(line) === '';
    return this.#isLost ? this.#common + line : line;
  }
}

function indentOf(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

function sharedStart(one: string, other: string): string {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return one.slice(0, length);
}
