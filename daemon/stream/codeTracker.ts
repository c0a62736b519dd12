import { backslash, greater, isBlank, newline, tick, tilde } from './characters.ts';

/**
 * How much of a line's beginning has been read: its blanks, the digits of a list marker, the marker, the blanks after
 * it (where a new line of content begins), or more than that.
 */
const inIndent = 0;
const inDigits = 1;
const afterMarker = 2;
const inItem = 3;
const inBody = 4;

/**
 * Knows, character by character, whether Markdown text is inside code. A fence consists of ticks or tildes, is indented
 * by at most three columns from the text of its list item, and is closed by at least as many of the same mark. An
 * inline run is closed by a run of the same length. An unclosed inline run ends at the blank line that ends its
 * paragraph, so a stray tick never hides the rest of a stream.
 */
export class CodeTracker {
  /** While this is false, only line breaks, ticks and backslashes change the state. */
  busy = true;
  #phase = inIndent;
  #column = 0;
  /** The column at which the text of the innermost list item begins; 0 outside of lists. */
  #margin = 0;
  #mark = 0;
  #run = 0;
  #runBeganLine = false;
  #escaped = false;
  /** The lengths of the open inline run, of the open fence, and of a fence whose first line has not ended. */
  #inline = 0;
  #fence = 0;
  #opening = 0;
  #fenceMark = 0;
  #closing = false;
  #isCodeLine = false;
  isQuote = false;

  get inside(): boolean {
    return this.#fence > 0 || this.#opening > 0 || this.#inline > 0;
  }

  /** Whether a block could begin here. With four or more columns it would be indented code. */
  get beginsLine(): boolean {
    return this.#phase === inIndent && this.#column <= 3;
  }

  /** Whether this line is indented code. The indentation counts from the text of its list item. */
  get isCodeLine(): boolean {
    return this.#phase === inIndent ? this.#column >= this.#margin + 4 : this.#isCodeLine;
  }

  /** Whether this line has only blanks so far, and at least one. */
  get isIndented(): boolean {
    return this.#phase === inIndent && this.#column > 0;
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
      if (this.#phase < inBody) this.#beginStep(code);
      else if (this.#closing && !isBlank(code)) this.#closing = false;
    }
    this.busy = this.#phase < inBody || this.#run > 0 || this.#closing || this.#escaped;
  }

  track(text: string): void {
    for (let at = 0; at < text.length; at++) this.step(text.charCodeAt(at));
  }

  #beginStep(code: number): void {
    if (!isBlank(code)) {
      if (this.#phase === inIndent) this.#beginVisible(code);
      this.#phase = this.#nextPhase(code);
    } else if (this.#phase === afterMarker) this.#phase = inItem;
    else if (this.#phase === inDigits) this.#phase = inBody;
    this.#column += code === 9 ? 4 : 1;
  }

  /** Called at the first visible character of a line. */
  #beginVisible(code: number): void {
    this.#isCodeLine = this.#column >= this.#margin + 4;
    this.isQuote = code === greater;
  }

  /** The phase after a visible character near the beginning of a line. */
  #nextPhase(code: number): number {
    const isDigit = code >= 48 && code <= 57;
    if (this.#phase === inDigits && !isDigit) return code === 46 || code === 41 ? afterMarker : inBody;
    if (this.#phase === afterMarker) return inBody;
    if (this.#phase !== inDigits) this.#beginText();
    if (this.#fence > 0) return inBody;
    if (isDigit) return inDigits;
    return code === 45 || code === 42 || code === 43 ? afterMarker : inBody;
  }

  /** A line with less indentation than the text of its list item ends the item. */
  #beginText(): void {
    if (this.#fence > 0) return;
    this.#margin = this.#phase === inItem ? this.#column : Math.min(this.#margin, this.#column);
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
    const isFirst = this.#phase === inIndent || this.#phase === inItem;
    if (this.#phase === inIndent) this.#beginVisible(code);
    if (isFirst) this.#beginText();
    this.#runBeganLine = isFirst && this.#column <= this.#margin + 3;
    this.#mark = code;
    this.#run = 1;
    this.#phase = inBody;
    this.#closing = false;
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

  /** The line began with ticks, and more ticks follow: both are inline runs, not a fence. */
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
    } else if (this.#phase === inIndent) {
      this.#inline = 0;
    }
    this.#phase = inIndent;
    this.#column = 0;
    this.#isCodeLine = this.isQuote = false;
    this.#closing = this.#escaped = false;
  }
}
