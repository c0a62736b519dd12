import { isBlank, newline, openBrace, openBracket, skipBlanks, tick } from './characters.ts';
import { bareCall } from './openingTable.ts';
import type { Mode, Reply } from './reply.ts';

/**
 * The state before the answer, or right after a tool call. Blanks are withheld until it is known whether they belong to
 * a tag or are text. Here thinking may open in every profile. A reply can be a bare tool call only if it begins here,
 * before the answer.
 */
export class Lead implements Mode {
  readonly #reply: Reply;
  readonly #afterCall: boolean;
  #blanks = '';

  constructor(reply: Reply, afterCall: boolean) {
    this.#reply = reply;
    this.#afterCall = afterCall;
  }

  read(text: string, from: number): number {
    const reply = this.#reply;
    const at = skipBlanks(text, from);
    this.#blanks += text.slice(from, at);
    reply.visit(at - from + 1);
    if (at < text.length) this.#leave(text, at);
    return at;
  }

  /** White space after the last call belongs to the call. A reply of only white space is text. */
  finish(): void {
    if (this.#afterCall) this.#reply.sink.markup(this.#blanks);
    else this.#reply.giveBack(this.#blanks);
    this.#blanks = '';
  }

  #leave(text: string, at: number): void {
    const reply = this.#reply;
    const code = text.charCodeAt(at);
    const isCode = !this.#afterCall && indentation(this.#blanks) >= codeIndent;
    const beginsLine = !reply.shown || this.#blanks.includes('\n');
    const mayBeCall = !isCode && !reply.shown && this.#mayBeCall(code, text.charAt(at));
    if (!isCode && reply.openings.match(text, at, true) !== 'none')
      reply.enter({ mode: 'tag', lead: this.#blanks, beginsLine, afterCall: this.#afterCall, mayBeCall });
    else if (mayBeCall) reply.enter({ mode: 'call', start: bareCall(this.#blanks) });
    else {
      reply.giveBack(this.#blanks);
      reply.enterProse();
    }
  }

  /** A reply that consists only of calls may begin with a brace, a bracket, a fence or the name of a tool. */
  #mayBeCall(code: number, character: string): boolean {
    const { tools, profile } = this.#reply;
    if (tools.isEmpty || !profile.isReply) return false;
    return code === openBrace || code === openBracket || code === tick || tools.mayBecome(character);
  }
}

/** A line with this indentation, in columns, is code. */
const codeIndent = 4;

function indentation(blanks: string): number {
  const line = blanks.slice(blanks.lastIndexOf('\n') + 1);
  return line.includes('\t') ? codeIndent : line.length;
}

/** Drops the white space after a tag, however it is cut. */
export class Blanks implements Mode {
  readonly #reply: Reply;

  constructor(reply: Reply) {
    this.#reply = reply;
  }

  read(text: string, from: number): number {
    const reply = this.#reply;
    const at = skipBlanks(text, from);
    reply.visit(at - from + 1);
    reply.sink.markup(text.slice(from, at));
    if (at === text.length) return at;
    if (reply.shown) {
      reply.code.step(newline);
      reply.enterProse();
    } else reply.enter({ mode: 'lead', afterCall: false });
    return at;
  }

  finish(): void {
    // All white space was dropped, and nothing is withheld.
  }
}

/**
 * The state after a block in the middle of an answer. If the rest of the block's line is blank, it is dropped with the
 * block, so that the lines around it keep their indentation and the blank lines between them. But if blanks before the
 * block were already shown, the line end stays: otherwise they would indent the next line. Text after thinking on the
 * same line begins that line. After a context block the whole line stays.
 */
export class LineRest implements Mode {
  readonly #reply: Reply;
  readonly #after: 'thinking' | 'context';
  #held = '';

  constructor(reply: Reply, after: 'thinking' | 'context') {
    this.#reply = reply;
    this.#after = after;
  }

  read(text: string, from: number): number {
    for (let at = from; at < text.length; at++) {
      const code = text.charCodeAt(at);
      this.#reply.visit(1);
      if (code === newline) {
        this.#endLine();
        return at + 1;
      }
      if (!isBlank(code)) {
        if (this.#after === 'thinking') this.#reply.sink.markup(this.#held);
        else this.#reply.giveBack(this.#held);
        this.#reply.enterProse();
        return at;
      }
      this.#held += text[at];
    }
    return text.length;
  }

  finish(): void {
    this.#reply.sink.markup(this.#held);
    this.#held = '';
  }

  #endLine(): void {
    const { code, sink } = this.#reply;
    if (code.isIndented) this.#reply.giveBack(`${this.#held}\n`);
    else {
      sink.markup(`${this.#held}\n`);
      code.step(newline);
    }
    this.#reply.enterProse();
  }
}

/** Withholds tokens that end a turn. If only blanks follow them, they are not part of the answer. */
export class EndToken implements Mode {
  readonly #reply: Reply;
  #held: string;
  /** The beginning of what may be another such token. */
  #begun = '';

  constructor(reply: Reply, token: string) {
    this.#reply = reply;
    this.#held = token;
  }

  read(text: string, from: number): number {
    for (let at = from; at < text.length; at++) {
      this.#reply.visit(1);
      this.#begun += text.charAt(at);
      if (this.#begun.length > 1 || !isBlank(text.charCodeAt(at))) {
        const match = this.#reply.openings.match(this.#begun, 0, false);
        if (match === 'more') continue;
        if (match === 'none' || match.kind !== 'end') {
          this.#release();
          return at + 1;
        }
      }
      this.#held += this.#begun;
      this.#begun = '';
    }
    return text.length;
  }

  finish(): void {
    if (this.#begun !== '') return this.#release();
    this.#reply.sink.markup(this.#held);
    this.#held = '';
  }

  #release(): void {
    const begun = this.#begun;
    this.#begun = '';
    this.#reply.giveBack(this.#held);
    this.#reply.enterProse();
    this.#reply.replay(begun);
  }
}
