import { less, openBrace, tick } from './characters.ts';
import { anywhere } from './openingTable.ts';
import type { Mode, NextMode, Reply } from './reply.ts';

const tagAtLineStart: NextMode = { mode: 'tag', lead: '', beginsLine: true };
const tagInLine: NextMode = { mode: 'tag', lead: '', beginsLine: false };

/** The answer itself. All of it streams at once, up to a `<` outside code that may begin a tag. */
export class Prose implements Mode {
  readonly #reply: Reply;

  constructor(reply: Reply) {
    this.#reply = reply;
  }

  /**
   * Whether a chunk is text that changes no state, so that it need not be read further. Most chunks of an answer are.
   */
  isPlain(chunk: string): boolean {
    const reply = this.#reply;
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
    const { code, sink, openings } = this.#reply;
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
    this.#reply.visit(at - from);
    sink.text(from === 0 && at === length ? text : text.slice(from, at));
    if (at < length) this.#leave(text.charCodeAt(at));
    return at;
  }

  finish(): void {
    // This mode never withholds anything.
  }

  /** A brace does not begin a tag, but a call without its open tag may begin a line with it. */
  #leave(character: number): void {
    const { beginsLine } = this.#reply.code;
    if (character !== openBrace) return this.#reply.enter(beginsLine ? tagAtLineStart : tagInLine);
    const opening = { kind: 'untagged', literal: '', onlyIf: 'closed' } as const;
    this.#reply.enter({ mode: 'call', start: { lead: '', opening, beginsLine } });
  }

  #mayBegin(character: number, text: string, at: number): boolean {
    const { code, openings, profile } = this.#reply;
    code.settle();
    if (code.inside || code.isQuote || code.isCodeLine) return false;
    if (character === openBrace) return profile.isReply && code.beginsLine;
    const match = openings.match(text, at, code.beginsLine);
    this.#reply.visit(match === 'none' ? 2 : openings.longest);
    return match !== 'none';
  }

  #mayBeTag(text: string, at: number, busy: boolean): boolean {
    const { code, openings } = this.#reply;
    if (at + 1 < text.length && !openings.mayFollow(text.charCodeAt(at + 1), busy)) return false;
    code.settle();
    if (code.inside) return false;
    const match = openings.match(text, at, code.beginsLine);
    this.#reply.visit(match === 'none' ? 2 : openings.longest);
    return match !== 'none';
  }
}
