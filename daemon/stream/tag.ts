import { greater, isBlank, newline } from './characters.ts';
import type { Opening } from './openings.ts';
import type { Mode, Scan } from './scan.ts';
import { TagEnd } from './tagEnd.ts';

/** `</think` and its blanks may be this long before it is prose. */
const longestClose = 64;

/** Withholds what may be a tag until that is decided; at most one tag of a stream waits here. */
export class Tag implements Mode {
  readonly #scan: Scan;
  #lead = '';
  #held = '';
  #beginsLine = false;
  #opening: Opening | undefined;
  #end = new TagEnd();
  #closed = false;

  constructor(scan: Scan) {
    this.#scan = scan;
  }

  begin(lead: string, beginsLine: boolean): void {
    this.#lead = lead;
    this.#held = '';
    this.#beginsLine = beginsLine;
    this.#opening = undefined;
    this.#closed = false;
  }

  read(text: string, from: number): number {
    if (this.#opening === undefined) return this.#readName(text, from);
    if (this.#opening.kind === 'thinkingClose') return this.#readClose(text, from);
    return this.#readAttributes(text, from);
  }

  finish(): void {
    if (this.#closed && this.#scan.mentions === 0) this.#acceptClose();
    else this.#scan.giveBack(this.#lead + this.#held);
  }

  #readName(text: string, from: number): number {
    const { openings } = this.#scan;
    if (this.#held === '<' && !openings.mayFollow(text.charCodeAt(from))) return this.#refuse(from);
    if (this.#held === '' && from === text.length - 1) {
      // Only the `<` itself has come.
      this.#held = '<';
      this.#scan.steps++;
      return text.length;
    }
    const piece = this.#held + text.slice(from, from + openings.longest);
    const match = openings.match(piece, 0, this.#beginsLine);
    this.#scan.steps += piece.length;
    if (match === 'none') return this.#refuse(from);
    if (match === 'more') {
      this.#held = piece;
      return text.length;
    }
    const next = from + match.literal.length - this.#held.length;
    this.#held = piece.slice(0, match.literal.length);
    this.#take(match);
    return next;
  }

  #take(opening: Opening): void {
    if (opening.kind === 'call') {
      this.#scan.toCall(opening, this.#lead);
    } else if (opening.kind === 'channel') {
      if (this.#scan.shown) this.#refuse(0);
      else this.#scan.toChannels(this.#lead + opening.literal);
    } else if (opening.kind === 'thinking' && !this.#mayThink()) {
      this.#scan.mentions++;
      this.#refuse(0);
    } else {
      this.#opening = opening;
      this.#end = new TagEnd();
    }
  }

  /** Before the answer; in a line of it, or after a completed block, only where the profile has it. */
  #mayThink(): boolean {
    const { profile, shown, thought } = this.#scan;
    if (profile.thinkingOpens === 'lineStart' && this.#beginsLine) return true;
    if (!thought) return !shown;
    if (profile.thinkingReopens === 'lineStart') return this.#beginsLine;
    return profile.thinkingReopens === 'beforeText' && !shown;
  }

  #readAttributes(text: string, from: number): number {
    const at = this.#end.read(text, from);
    const next = at < 0 ? text.length : at;
    this.#scan.steps += next - from + 1;
    this.#held += text.slice(from, next);
    if (at >= 0 && this.#end.failed) return this.#refuse(next);
    if (at >= 0) this.#acceptOpen();
    return next;
  }

  #acceptOpen(): void {
    const { sink } = this.#scan;
    const opening = this.#opening;
    if (opening?.kind === 'context') {
      if (!this.#end.selfClosing) return this.#scan.toBlock(opening.name, this.#lead, this.#held);
      sink.markup(this.#lead);
      sink.add({ type: 'context', name: opening.name, text: this.#held });
      return this.#scan.toLineRest('context');
    }
    // In mid-answer the lines around the block stay apart.
    if (this.#scan.shown) this.#scan.giveBack(this.#lead);
    else sink.markup(this.#lead);
    sink.markup(this.#held);
    if (opening?.kind !== 'thinking' || this.#end.selfClosing) return this.#scan.toLineRest('thinking');
    this.#scan.toThinking([opening.name]);
  }

  /**
   * A close tag that nothing opened. The template may have opened thinking unseen; what came before has been
   * shown and stays text, but the tag itself is dropped where it begins or ends a line. Anywhere else, or when
   * prose has opened such a tag, it is a mention and stays.
   */
  #readClose(text: string, from: number): number {
    for (let at = from; at < text.length; at++) {
      const code = text.charCodeAt(at);
      this.#scan.steps++;
      if (this.#closed) {
        if (code !== newline && code !== 13) return this.#refuseClose(at);
        this.#acceptClose();
        return at;
      }
      if (code === greater) {
        this.#held += '>';
        if (this.#scan.mentions > 0) return this.#refuseClose(at + 1);
        if (this.#beginsLine) {
          this.#acceptClose();
          return at + 1;
        }
        this.#closed = true;
      } else if (isBlank(code) && this.#held.length < longestClose) this.#held += text[at];
      else return this.#refuse(at);
    }
    return text.length;
  }

  #acceptClose(): void {
    const { sink } = this.#scan;
    sink.add({
      type: 'warning',
      code: 'stray-thinking-close',
      message: `${this.#held} came without its opening tag; the text before it may have been thinking.`,
    });
    sink.markup(this.#lead + this.#held);
    this.#scan.thought = true;
    if (this.#beginsLine) this.#scan.toBlanks();
    else this.#scan.toProse();
  }

  #refuseClose(next: number): number {
    if (this.#scan.mentions > 0) this.#scan.mentions--;
    return this.#refuse(next);
  }

  #refuse(next: number): number {
    this.#scan.giveBack(this.#lead === '' ? this.#held : this.#lead + this.#held);
    this.#scan.toProse();
    return next;
  }
}
