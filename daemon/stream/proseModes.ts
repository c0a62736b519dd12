import { isBlank, less, newline, openBrace, openBracket, skipBlanks, tick } from './characters.ts';
import { anywhere, bareCall } from './openingTable.ts';
import type { Mode, NextMode, Reply } from './reply.ts';

const tagAtLineStart: NextMode = { mode: 'tag', lead: '', beginsLine: true };
const tagInLine: NextMode = { mode: 'tag', lead: '', beginsLine: false };

/** The answer itself. All of it streams at once, up to a `<` outside code that may begin a tag. */
export class Prose implements Mode {
  constructor(private readonly reply: Reply) {}

  /**
   * Whether a chunk is text that changes no state, so that it need not be read further. Most chunks of an answer are.
   */
  isPlain(chunk: string): boolean {
    const reply = this.reply;
    if (reply.code.busy) return false;
    const { stops } = reply.openings;
    for (let at = 0; at < chunk.length; at++) {
      const character = chunk.charCodeAt(at);
      if (character <= tick && stops[character] === 1) return false;
    }
    reply.sink.keep(chunk);
    reply.visit(chunk.length);
    return true;
  }

  read(text: string, from: number): number {
    const { code, sink, openings } = this.reply;
    const { begins, stops } = openings;
    const { length } = text;
    let busy = code.busy;
    let at = from;
    for (; at < length; at++) {
      const character = text.charCodeAt(at);
      if (!busy && (character > tick || stops[character] !== 1)) continue;
      if (character === less) {
        if (this.#mayBeTag(text, at, busy)) break;
        if (!busy) continue;
      } else {
        const begin = begins[character];
        if (begin && (busy || begin === anywhere) && this.#mayBegin(character, text, at)) break;
      }
      code.step(character);
      busy = code.busy;
    }
    this.reply.visit(at - from);
    sink.text(from === 0 && at === length ? text : text.slice(from, at));
    if (at < length) this.#leave(text.charCodeAt(at));
    return at;
  }

  finish(): void {
    // This mode never withholds anything.
  }

  /** A brace does not begin a tag, but a call without its open tag may begin a line with it. */
  #leave(character: number): void {
    const { beginsLine } = this.reply.code;
    if (character !== openBrace) return this.reply.enter(beginsLine ? tagAtLineStart : tagInLine);
    const opening = { kind: 'untagged', literal: '', onlyIf: 'closed' } as const;
    this.reply.enter({ mode: 'call', start: { lead: '', opening, beginsLine } });
  }

  #mayBegin(character: number, text: string, at: number): boolean {
    const { code, openings, profile } = this.reply;
    code.settle();
    if (code.inside || code.isQuote || code.isCodeLine) return false;
    if (character === openBrace) return profile.isReply && code.beginsLine;
    const match = openings.match(text, at, code.beginsLine);
    this.reply.visit(match === 'none' ? 2 : openings.longest);
    return match !== 'none';
  }

  #mayBeTag(text: string, at: number, busy: boolean): boolean {
    const { code, openings } = this.reply;
    if (at + 1 < text.length && !openings.mayFollow(text.charCodeAt(at + 1), busy)) return false;
    code.settle();
    if (code.inside) return false;
    const match = openings.match(text, at, code.beginsLine);
    this.reply.visit(match === 'none' ? 2 : openings.longest);
    return match !== 'none';
  }
}

/**
 * The state before the answer, or right after a tool call. Blanks are withheld until it is known whether they belong to
 * a tag or are text. Here thinking may open in every profile. A reply can be a bare tool call only if it begins here,
 * before the answer.
 */
export class Lead implements Mode {
  #blanks = '';

  constructor(
    private readonly reply: Reply,
    private readonly afterCall: boolean,
  ) {}

  read(text: string, from: number): number {
    const reply = this.reply;
    const at = skipBlanks(text, from);
    this.#blanks += text.slice(from, at);
    reply.visit(at - from + 1);
    if (at < text.length) this.#leave(text, at);
    return at;
  }

  /** White space after the last call belongs to the call. A reply of only white space is text. */
  finish(): void {
    if (this.afterCall) this.reply.sink.markup(this.#blanks);
    else this.reply.giveBack(this.#blanks);
    this.#blanks = '';
  }

  #leave(text: string, at: number): void {
    const reply = this.reply;
    const code = text.charCodeAt(at);
    const isCode = !this.afterCall && indentation(this.#blanks) >= codeIndent;
    const beginsLine = !reply.shown || this.#blanks.includes('\n');
    const mayBeCall = !isCode && !reply.shown && this.#mayBeCall(code, text.charAt(at));
    if (!isCode && reply.openings.match(text, at, true) !== 'none')
      reply.enter({ mode: 'tag', lead: this.#blanks, beginsLine, afterCall: this.afterCall, mayBeCall });
    else if (mayBeCall) reply.enter({ mode: 'call', start: bareCall(this.#blanks) });
    else {
      reply.giveBack(this.#blanks);
      reply.enterProse();
    }
  }

  /** A reply that consists only of calls may begin with a brace, a bracket, a fence or the name of a tool. */
  #mayBeCall(code: number, character: string): boolean {
    const { tools, profile } = this.reply;
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
  constructor(private readonly reply: Reply) {}

  read(text: string, from: number): number {
    const reply = this.reply;
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
  #held = '';

  constructor(
    private readonly reply: Reply,
    private readonly after: 'thinking' | 'context',
  ) {}

  read(text: string, from: number): number {
    for (let at = from; at < text.length; at++) {
      const code = text.charCodeAt(at);
      this.reply.visit(1);
      if (code === newline) {
        this.#endLine();
        return at + 1;
      }
      if (!isBlank(code)) {
        if (this.after === 'thinking') this.reply.sink.markup(this.#held);
        else this.reply.giveBack(this.#held);
        this.reply.enterProse();
        return at;
      }
      this.#held += text[at];
    }
    return text.length;
  }

  finish(): void {
    this.reply.sink.markup(this.#held);
    this.#held = '';
  }

  #endLine(): void {
    const { code, sink } = this.reply;
    if (code.isIndented) this.reply.giveBack(`${this.#held}\n`);
    else {
      sink.markup(`${this.#held}\n`);
      code.step(newline);
    }
    this.reply.enterProse();
  }
}

/** Withholds tokens that end a turn. If only blanks follow them, they are not part of the answer. */
export class EndToken implements Mode {
  #held: string;
  /** The beginning of what may be another such token. */
  #begun = '';

  constructor(
    private readonly reply: Reply,
    token: string,
  ) {
    this.#held = token;
  }

  read(text: string, from: number): number {
    for (let at = from; at < text.length; at++) {
      this.reply.visit(1);
      this.#begun += text.charAt(at);
      if (this.#begun.length > 1 || !isBlank(text.charCodeAt(at))) {
        const match = this.reply.openings.match(this.#begun, 0, false);
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
    this.reply.sink.markup(this.#held);
    this.#held = '';
  }

  #release(): void {
    const begun = this.#begun;
    this.#begun = '';
    this.reply.giveBack(this.#held);
    this.reply.enterProse();
    this.reply.replay(begun);
  }
}
