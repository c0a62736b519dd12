import { bareCall } from './callStart.ts';
import { openBrace, openBracket, skipBlanks, tick } from './characters.ts';
import type { Mode, Scan } from './scan.ts';

/**
 * The state before the answer, or right after a tool call. Blanks are withheld until it is known whether they belong to
 * a tag or are text. Here thinking may open in every profile. A reply can be a bare tool call only if it begins here,
 * before the answer.
 */
export class Lead implements Mode {
  readonly #scan: Scan;
  #blanks = '';
  #afterCall = false;

  constructor(scan: Scan) {
    this.#scan = scan;
  }

  begin(afterCall: boolean): void {
    this.#blanks = '';
    this.#afterCall = afterCall;
  }

  read(text: string, from: number): number {
    const scan = this.#scan;
    const at = skipBlanks(text, from);
    this.#blanks += text.slice(from, at);
    scan.steps += at - from + 1;
    if (at < text.length) this.#leave(text, at);
    return at;
  }

  /** White space after the last call belongs to the call. A reply of only white space is text. */
  finish(): void {
    if (this.#afterCall) this.#scan.sink.markup(this.#blanks);
    else this.#scan.giveBack(this.#blanks);
    this.#blanks = '';
  }

  #leave(text: string, at: number): void {
    const scan = this.#scan;
    const code = text.charCodeAt(at);
    const isCode = !this.#afterCall && indentation(this.#blanks) >= codeIndent;
    const beginsLine = !this.#afterCall || this.#blanks.includes('\n');
    const mayBeCall = !isCode && !scan.shown && this.#mayBeCall(code, text.charAt(at));
    if (!isCode && scan.openings.match(text, at, true) !== 'none')
      scan.toTag(this.#blanks, {
        beginsLine: beginsLine || !scan.shown,
        afterCall: this.#afterCall,
        mayBeCall,
      });
    else if (mayBeCall) scan.toCall(bareCall(this.#blanks));
    else {
      scan.giveBack(this.#blanks);
      scan.toProse();
    }
  }

  /** A reply that consists only of calls may begin with a brace, a bracket, a fence or the name of a tool. */
  #mayBeCall(code: number, character: string): boolean {
    const { tools, profile } = this.#scan;
    if (!tools.offered || !profile.bareCalls) return false;
    return code === openBrace || code === openBracket || code === tick || tools.mayBecome(character);
  }
}

/** A line with this indentation, in columns, is code. */
const codeIndent = 4;

function indentation(blanks: string): number {
  const line = blanks.slice(blanks.lastIndexOf('\n') + 1);
  return line.includes('\t') ? codeIndent : line.length;
}
