import { greater, isBlank, less, newline } from './characters.ts';
import { TagEnd } from './elements.ts';
import type { ThinkingMarks } from './family.ts';
import {
  bareCall,
  type CallOpening,
  type CallStart,
  type ContextOpening,
  type ModeOpening,
} from './openingTable.ts';
import type { Mode, OpenBlock, Reply, TagPlace } from './reply.ts';
import { isFramed } from './sentence.ts';

/** `</think` with its blanks may have this length. Longer text is prose. */
const maxCloseLength = 64;
const sentenceEnd = /[.!?…。！？]/;
const wordOrSentenceEnd = /[\p{L}\p{N}.!?…。！？]/u;

/** Withholds text that may be a tag until that is decided. At most one tag of a stream waits here. */
export class TagMode implements Mode {
  #held = '';
  #opening: ModeOpening | undefined;
  /** The attributes of the opening, if it may have any. */
  #end: TagEnd | undefined;
  #closed = false;

  constructor(
    private readonly reply: Reply,
    private readonly place: TagPlace,
  ) {}

  read(text: string, from: number): number {
    if (this.#opening === undefined) return this.#readName(text, from);
    const { kind } = this.#opening;
    if (kind === 'thinkingClose' || kind === 'thinkingMarkClose') return this.#readClose(text, from);
    return this.#readAttributes(this.#end ?? new TagEnd(), text, from);
  }

  finish(): void {
    if (this.#closed) return this.#acceptClose();
    // Nothing comes that could make it a longer opening.
    const match = this.reply.openings.match(`${this.#held}\0`, 0, this.place.beginsLine);
    if (this.#opening === undefined && typeof match === 'object' && match.kind === 'end') this.#takeEnd();
    else this.reply.giveBack(this.place.lead + this.#held);
  }

  #readName(text: string, from: number): number {
    const { openings } = this.reply;
    if (this.#held === '<' && !openings.mayFollow(text.charCodeAt(from), this.place.beginsLine))
      return this.#refuseName(from);
    if (this.#held === '' && from === text.length - 1 && text.charCodeAt(from) === less) {
      // Only the `<` itself has come.
      this.#held = '<';
      this.reply.visit(1);
      return text.length;
    }
    const piece = this.#held + text.slice(from, from + openings.longest);
    const match = openings.match(piece, 0, this.place.beginsLine);
    this.reply.visit(piece.length);
    if (match === 'none') return this.#refuseName(from);
    if (match === 'more') {
      this.#held = piece;
      return text.length;
    }
    const next = from + match.literal.length - this.#held.length;
    this.#held = piece.slice(0, match.literal.length);
    this.#take(match);
    return next;
  }

  /** Acts on a whole opening. For an element it first waits for the attributes. */
  #take(opening: ModeOpening): void {
    switch (opening.kind) {
      case 'call':
      case 'element':
      case 'tool':
        return this.#takeCall(opening);
      case 'channel':
        return this.#takeChannel(this.place.lead + opening.literal);
      case 'answer':
        return this.#takeAnswer(opening.marks.close);
      case 'answerClose':
        if (opening.literal === this.reply.answerClose) return this.#drop();
        return this.reply.profile.ends.includes(opening.literal) ? this.#takeEnd() : this.#refuseAll();
      case 'callClose':
        return this.place.afterCall ? this.#takeAfterCall() : this.#refuseAll();
      case 'end':
        return this.#takeEnd();
      case 'thinkingMarkClose':
        return this.#takeMarkClose(opening);
      case 'context':
        return this.#takeContext(opening);
      case 'suffix':
        return this.#wait(opening);
      case 'contextClose':
        return this.#isCodeLine() ? this.#refuseAll() : this.#wait(opening);
      case 'thinking':
        return this.#mayThink() ? this.#wait(opening) : this.#takeMention();
      case 'thinkingMark':
        return this.#mayThink() ? this.#takeThinking(opening.marks) : this.#takeMention();
      case 'thinkingClose':
        return this.#wait(opening);
    }
  }

  /** Only a reply that begins in channels is in channels. */
  #takeChannel(header: string): void {
    if (this.reply.shown) this.#refuseAll();
    else this.reply.enter({ mode: 'channels', header });
  }

  /** A thinking tag in prose is a mention, and prose closes it too. */
  #takeMention(): void {
    this.reply.mentions++;
    this.#refuseAll();
  }

  #wait(opening: ModeOpening): void {
    this.#opening = opening;
    this.#end = new TagEnd();
  }

  #takeCall(opening: CallOpening): void {
    const { code, shown } = this.reply;
    if (shown && !this.place.afterCall && (code.isQuote || code.isCodeLine)) return this.#refuseAll();
    if (shown && !this.place.afterCall && isFramed(this.reply.sink.recent)) return this.#refuseAll();
    const isInLine = shown && !this.place.afterCall && !this.place.beginsLine;
    // A word is the weakest sign of a call, even at the beginning of a line.
    const mayBeQuoted = isInLine || (opening.kind === 'call' && opening.tag.onlyBefore === 'toolName');
    const start: CallStart = { lead: this.place.lead, opening, beginsLine: this.place.beginsLine };
    this.reply.enter({ mode: 'call', start: mayBeQuoted ? { ...start, mayBeQuoted } : start });
  }

  /** Reads the tag again as one of the marks with its suffix. */
  #takeSuffix(begun: string): void {
    const [lead, held] = [this.place.lead, this.#held];
    const suffix = held.slice(begun.length, -1);
    if (this.#isCodeLine() || !/^\w{1,16}$/.test(suffix)) return this.#refuseAll();
    this.reply.useSuffix(suffix);
    this.reply.enter({
      mode: 'tag',
      lead,
      beginsLine: this.place.beginsLine,
      afterCall: this.place.afterCall === true,
    });
    this.reply.replay(held);
  }

  /** Marks around the answer are removed if nothing of the answer came before them. */
  #takeAnswer(close: string): void {
    if ((this.reply.shown && !this.reply.isAfterStray) || this.place.afterCall) return this.#refuseAll();
    this.reply.answerClose = close;
    this.reply.sink.markup(this.place.lead + this.#held);
    this.reply.enter({ mode: 'blanks' });
  }

  #drop(): void {
    this.reply.giveBack(this.place.lead);
    this.reply.sink.markup(this.#held);
    this.reply.answerClose = '';
    this.reply.enterProse();
  }

  /** An extra close tag, or the end of a turn, right after a call. */
  #takeAfterCall(): void {
    this.reply.sink.markup(this.place.lead + this.#held);
    this.reply.enter({ mode: 'lead', afterCall: true });
  }

  #takeEnd(): void {
    if (this.place.afterCall) return this.#takeAfterCall();
    const { lead, last } = { lead: this.place.lead, last: this.reply.sink.last };
    // After a blank within a line, the token is part of a sentence.
    if (this.reply.shown && !this.place.beginsLine && isBlank(last)) return this.#refuseAll();
    this.reply.enter({ mode: 'end', token: lead + this.#held });
  }

  #takeContext(opening: ContextOpening): void {
    if (this.#isCodeLine()) this.#refuseAll();
    else if (opening.close === undefined) this.#wait(opening);
    else this.reply.enterBlock(this.#blockOf(opening));
  }

  #blockOf(opening: Omit<ContextOpening, 'kind' | 'literal'>): OpenBlock {
    return { ...opening, lead: this.place.lead, tag: this.#held, beginsLine: this.place.beginsLine };
  }

  #isCodeLine(): boolean {
    return this.reply.shown && !this.place.afterCall && this.reply.code.isCodeLine;
  }

  #takeThinking({ close, beforeCall, label }: ThinkingMarks): void {
    if (this.reply.shown) this.reply.giveBack(this.place.lead);
    else this.reply.sink.markup(this.place.lead);
    this.reply.sink.markup(this.#held);
    const marks = beforeCall === undefined ? [close] : [close, beforeCall];
    const end = { names: [], marks, ...(label === undefined ? {} : { label }) };
    this.reply.enter({ mode: 'thinking', end });
  }

  #takeMarkClose(opening: ModeOpening): void {
    this.#opening = opening;
    if (this.reply.mentions > 0) {
      this.reply.mentions--;
      return this.#refuseAll();
    }
    if (this.place.beginsLine) this.#acceptClose();
    else this.#closed = true;
  }

  #refuseAll(): void {
    this.#refuse(0);
  }

  /**
   * Whether thinking may open here: always before the answer; within the answer or after a completed block only if the
   * profile allows it.
   */
  #mayThink(): boolean {
    const { profile, shown, thought } = this.reply;
    if (profile.thinkingOpens === 'lineStart' && this.place.beginsLine) return true;
    return thought && profile.thinkingReopens === 'lineStart' ? this.place.beginsLine : !shown;
  }

  #readAttributes(end: TagEnd, text: string, from: number): number {
    const at = end.read(text, from);
    const next = at < 0 ? text.length : at;
    this.reply.visit(next - from + 1);
    this.#held += text.slice(from, next);
    if (at >= 0 && end.failed) return this.#refuse(next);
    if (at >= 0) this.#acceptOpen(end.selfClosing);
    return next;
  }

  #acceptOpen(closesItself: boolean): void {
    const { sink } = this.reply;
    const opening = this.#opening;
    if (opening?.kind === 'suffix') return this.#takeSuffix(opening.literal);
    if (opening?.kind === 'context') {
      const block = this.#blockOf(opening);
      return closesItself ? this.reply.enterContent(block) : this.reply.enterBlock(block);
    }
    if (opening?.kind === 'contextClose')
      return this.reply.enterContent(this.#blockOf({ name: opening.name, dropsTag: true }));
    // In the middle of an answer the lines around the block stay separate.
    if (this.reply.shown) this.reply.giveBack(this.place.lead);
    else sink.markup(this.place.lead);
    sink.markup(this.#held);
    if (opening?.kind !== 'thinking' || closesItself) return this.reply.enterLineRest('thinking');
    this.reply.enter({ mode: 'thinking', end: { names: [opening.name] } });
  }

  /**
   * Reads a close tag that nothing has opened. The template may have opened thinking invisibly. The text before the tag
   * was already shown and stays, but the tag itself is dropped if it begins or ends a line, or if its open tag was
   * inside thinking. Anywhere else, or if prose has opened such a tag, it is a mention and stays.
   */
  #readClose(text: string, from: number): number {
    for (let at = from; at < text.length; at++) {
      const code = text.charCodeAt(at);
      this.reply.visit(1);
      if (this.#closed) {
        if (this.reply.nested === 0 && code !== newline && code !== 13 && !this.#endsThoughtAt(code))
          return this.#refuse(at);
        this.#acceptClose();
        return at;
      }
      if (code === greater) {
        this.#held += '>';
        if (this.reply.mentions > 0) {
          this.reply.mentions--;
          return this.#refuse(at + 1);
        }
        if (this.place.beginsLine) {
          this.#acceptClose();
          return at + 1;
        }
        this.#closed = true;
      } else if (isBlank(code) && this.#held.length < maxCloseLength) this.#held += text[at];
      else return this.#refuse(at);
    }
    return text.length;
  }

  /** Whether thinking ends within a line: after a word or a sentence, and nothing after the tag shows a quotation. */
  #endsThoughtAt(next: number): boolean {
    const { thought, profile, sink } = this.reply;
    const isMark = this.#opening?.kind === 'thinkingMarkClose';
    if (thought || (!isMark && profile.thinkingOpens !== 'lineStart')) return false;
    const before = String.fromCharCode(sink.last);
    if (isBlank(next)) return sentenceEnd.test(before);
    return wordOrSentenceEnd.test(before) && !/["'`)\]}.,;:!?…”’»]/.test(String.fromCharCode(next));
  }

  #acceptClose(): void {
    const { sink } = this.reply;
    if (this.reply.nested > 0) this.reply.nested--;
    else this.#warnOfStray();
    this.reply.noteStray();
    sink.markup(this.place.lead + this.#held);
    this.reply.thought = true;
    if (this.place.beginsLine) this.reply.enter({ mode: 'blanks' });
    else this.reply.enterProse();
  }

  #warnOfStray(): void {
    this.reply.sink.add({
      type: 'warning',
      code: 'stray-thinking-close',
      message: `${this.#held} came without its opening tag; the text before it may have been thinking.`,
    });
  }

  /** The text is not an opening, but another opening may begin in it, or a reply that consists only of calls. */
  #refuseName(next: number): number {
    const held = this.#held;
    if (this.place.mayBeCall && held !== '' && !held.startsWith('<')) {
      this.reply.enter({ mode: 'call', start: bareCall(this.place.lead) });
      this.reply.replay(held);
      return next;
    }
    // Another opening may begin after the first character.
    if (!/[<[\]]/.test(held.slice(1))) return this.#refuse(next);
    this.#held = held.slice(0, 1);
    this.#refuse(next);
    this.reply.replay(held.slice(1));
    return next;
  }

  #refuse(next: number): number {
    this.reply.giveBack(this.place.lead === '' ? this.#held : this.place.lead + this.#held);
    this.reply.enterProse();
    return next;
  }
}
