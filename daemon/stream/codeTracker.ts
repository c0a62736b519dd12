import { backslash, isBlank, newline, tick, tilde } from './characters.ts';

/**
 * Knows, character by character, whether Markdown text is inside code: a fence of ticks or tildes (indented by
 * at most three spaces, closed by at least as many of the same mark) or an inline run (closed by a run of the
 * same length). An inline run that nobody closes ends at the blank line that ends its paragraph, so one stray
 * tick never hides the rest of a stream.
 */
export class CodeTracker {
  /** Nothing but blanks came on this line so far. */
  #blank = true;
  #indent = 0;
  #mark = 0;
  #run = 0;
  #runBeganLine = false;
  #escaped = false;
  /** Length of the inline run that is open, of the open fence, and of a fence whose first line is not over. */
  #inline = 0;
  #fence = 0;
  #opening = 0;
  #fenceMark = 0;
  #closing = false;

  /** While this is false only line breaks, ticks and backslashes change anything. */
  get busy(): boolean {
    return this.#blank || this.#run > 0 || this.#closing || this.#escaped;
  }

  get inside(): boolean {
    return this.#fence > 0 || this.#opening > 0 || this.#inline > 0;
  }

  /** Whether a block could begin here: four or more columns would make it indented code. */
  get beginsLine(): boolean {
    return this.#blank && this.#indent <= 3;
  }

  /** Ends a run of ticks, because the next character is known not to be one. */
  settle(): void {
    if (this.#run > 0) this.#endRun();
  }

  step(code: number): void {
    if (code === newline) this.#endLine();
    else if (code === tick || code === tilde) this.#markStep(code);
    else {
      this.settle();
      this.#escaped = code === backslash && !this.#escaped && !this.inside;
      if (!isBlank(code)) this.#blank = this.#closing = false;
      else if (this.#blank) this.#indent += code === 9 ? 4 : 1;
    }
  }

  track(text: string): void {
    for (let at = 0; at < text.length; at++) this.step(text.charCodeAt(at));
  }

  #markStep(code: number): void {
    if (this.#run > 0 && this.#mark === code) {
      this.#run++;
      return;
    }
    this.settle();
    if (this.#escaped) {
      this.#escaped = false;
      return;
    }
    this.#runBeganLine = this.beginsLine;
    this.#mark = code;
    this.#run = 1;
    this.#blank = this.#closing = false;
  }

  #endRun(): void {
    const length = this.#run;
    this.#run = 0;
    if (this.#fence > 0) {
      this.#closing = this.#runBeganLine && this.#mark === this.#fenceMark && length >= this.#fence;
    } else if (this.#opening > 0) {
      this.#refuseFence(length);
    } else if (this.#runBeganLine && length >= 3) {
      this.#opening = length;
      this.#fenceMark = this.#mark;
    } else if (this.#mark === tick) {
      this.#toggleInline(length);
    }
  }

  /** Ticks after the ticks that began the line: both were inline runs, not a fence. */
  #refuseFence(length: number): void {
    if (this.#mark !== tick || this.#fenceMark !== tick) return;
    this.#toggleInline(this.#opening);
    this.#toggleInline(length);
    this.#opening = 0;
  }

  #toggleInline(length: number): void {
    if (this.#inline === 0) this.#inline = length;
    else if (this.#inline === length) this.#inline = 0;
  }

  #endLine(): void {
    this.settle();
    if (this.#fence > 0) {
      if (this.#closing) this.#fence = 0;
    } else if (this.#opening > 0) {
      this.#fence = this.#opening;
      this.#opening = this.#inline = 0;
    } else if (this.#blank) {
      this.#inline = 0;
    }
    this.#blank = true;
    this.#indent = 0;
    this.#closing = this.#escaped = false;
  }
}
