import { bareCall } from './callStart.ts';
import { greater, isBlank, less, newline } from './characters.ts';
import type { ThinkingMarks } from './families.ts';
import type { CallOpening, ContextOpening, Opening } from './openings.ts';
import type { Mode, OpenBlock, Scan, TagPlace } from './scan.ts';
import { TagEnd } from './tagEnd.ts';

/** `</think` with its blanks may have this length. Longer text is prose. */
const longestClose = 64;

/** Withholds text that may be a tag until that is decided. At most one tag of a stream waits here. */
export class Tag implements Mode {
  readonly #scan: Scan;
  #lead = '';
  #held = '';
  #beginsLine = false;
  #afterCall = false;
  #mayBeCall = false;
  #opening: Opening | undefined;
  #end = new TagEnd();
  #closed = false;

  constructor(scan: Scan) {
    this.#scan = scan;
  }

  begin(lead: string, { beginsLine, afterCall = false, mayBeCall = false }: TagPlace): void {
    this.#lead = lead;
    this.#held = '';
    this.#beginsLine = beginsLine;
    this.#afterCall = afterCall;
    this.#mayBeCall = mayBeCall;
    this.#opening = undefined;
    this.#closed = false;
  }

  read(text: string, from: number): number {
    if (this.#opening === undefined) return this.#readName(text, from);
    const { kind } = this.#opening;
    if (kind === 'thinkingClose' || kind === 'thinkingMarkClose') return this.#readClose(text, from);
    return this.#readAttributes(text, from);
  }

  finish(): void {
    if (this.#closed && this.#scan.mentions === 0) this.#acceptClose();
    else this.#scan.giveBack(this.#lead + this.#held);
  }

  #readName(text: string, from: number): number {
    const { openings } = this.#scan;
    if (this.#held === '<' && !openings.mayFollow(text.charCodeAt(from))) return this.#refuseName(from);
    if (this.#held === '' && from === text.length - 1 && text.charCodeAt(from) === less) {
      // Only the `<` itself has come.
      this.#held = '<';
      this.#scan.steps++;
      return text.length;
    }
    const piece = this.#held + text.slice(from, from + openings.longest);
    const match = openings.match(piece, 0, this.#beginsLine);
    this.#scan.steps += piece.length;
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
  #take(opening: Opening): void {
    switch (opening.kind) {
      case 'call':
      case 'element':
        return this.#takeCall(opening);
      case 'channel':
        return this.#scan.shown ? this.#refuseAll() : this.#scan.toChannels(this.#lead + opening.literal);
      case 'answer':
        return this.#takeAnswer(opening.marks.close);
      case 'answerClose':
        return opening.literal === this.#scan.answerClose ? this.#drop() : this.#refuseAll();
      case 'callClose':
        return this.#afterCall ? this.#takeAfterCall() : this.#refuseAll();
      case 'end':
        return this.#takeEnd();
      case 'thinkingMarkClose':
        return this.#takeMarkClose(opening);
      case 'context':
        return this.#takeContext(opening);
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

  /** A thinking tag in prose is a mention, and prose closes it too. */
  #takeMention(): void {
    this.#scan.mentions++;
    this.#refuseAll();
  }

  #wait(opening: Opening): void {
    this.#opening = opening;
    this.#end = new TagEnd();
  }

  #takeCall(opening: CallOpening): void {
    const { code, shown } = this.#scan;
    if (shown && !this.#afterCall && (code.isQuote || code.isCodeLine)) return this.#refuseAll();
    const isTag = opening.kind === 'call';
    const isInLine = shown && !this.#afterCall && !this.#beginsLine;
    // A word without a tag is the weakest proof, also where it begins a line.
    const mayBeQuoted = isInLine || (isTag && opening.tag.isPrefix === true);
    this.#scan.toCall({
      lead: this.#lead,
      opening: opening.literal,
      close: isTag ? opening.tag.close : opening.form.callClose,
      start: {
        wrapped: isTag,
        proof: 'tag',
        beginsLine: this.#beginsLine,
        ...(isTag ? {} : { form: opening.form }),
        ...(isTag && opening.tag.lineStart ? { word: opening.tag.isPrefix ? 'prefix' : 'mark' } : {}),
      },
      ...(mayBeQuoted ? { mayBeQuoted } : {}),
    });
  }

  /** Marks around the answer are removed if nothing of the answer came before them. */
  #takeAnswer(close: string): void {
    if (this.#scan.shown || this.#afterCall) return this.#refuseAll();
    this.#scan.answerClose = close;
    this.#scan.sink.markup(this.#lead + this.#held);
    this.#scan.toBlanks();
  }

  #drop(): void {
    this.#scan.giveBack(this.#lead);
    this.#scan.sink.markup(this.#held);
    this.#scan.answerClose = '';
    this.#scan.toProse();
  }

  /** An extra close tag, or the end of a turn, right after a call. */
  #takeAfterCall(): void {
    this.#scan.sink.markup(this.#lead + this.#held);
    this.#scan.toLead(true);
  }

  #takeEnd(): void {
    if (this.#afterCall) return this.#takeAfterCall();
    const { lead, last } = { lead: this.#lead, last: this.#scan.sink.last };
    // After a blank within a line, the token is part of a sentence.
    if (this.#scan.shown && !this.#beginsLine && isBlank(last)) return this.#refuseAll();
    this.#scan.toEnd(lead + this.#held);
  }

  #takeContext(opening: ContextOpening): void {
    if (this.#isCodeLine()) this.#refuseAll();
    else if (opening.close === undefined) this.#wait(opening);
    else this.#scan.toBlock(this.#blockOf(opening));
  }

  #blockOf({ name, close, dropsTag }: Omit<ContextOpening, 'kind' | 'literal'>): OpenBlock {
    const block = { name, dropsTag, lead: this.#lead, tag: this.#held, beginsLine: this.#beginsLine };
    return close === undefined ? block : { ...block, close };
  }

  #isCodeLine(): boolean {
    return this.#scan.shown && !this.#afterCall && this.#scan.code.isCodeLine;
  }

  #takeThinking({ close, label }: ThinkingMarks): void {
    if (this.#scan.shown) this.#scan.giveBack(this.#lead);
    else this.#scan.sink.markup(this.#lead);
    this.#scan.sink.markup(this.#held);
    this.#scan.toThinking({ names: [], mark: close, ...(label === undefined ? {} : { label }) });
  }

  #takeMarkClose(opening: Opening): void {
    this.#opening = opening;
    if (this.#scan.mentions > 0) {
      this.#scan.mentions--;
      return this.#refuseAll();
    }
    if (this.#beginsLine) this.#acceptClose();
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
      const block = this.#blockOf(opening);
      return this.#end.selfClosing ? this.#scan.toContent(block) : this.#scan.toBlock(block);
    }
    if (opening?.kind === 'contextClose')
      return this.#scan.toContent(this.#blockOf({ name: opening.name, dropsTag: true }));
    // In the middle of an answer the lines around the block stay separate.
    if (this.#scan.shown) this.#scan.giveBack(this.#lead);
    else sink.markup(this.#lead);
    sink.markup(this.#held);
    if (opening?.kind !== 'thinking' || this.#end.selfClosing) return this.#scan.toLineRest('thinking');
    this.#scan.toThinking({ names: [opening.name] });
  }

  /**
   * Reads a close tag that nothing has opened. The template may have opened thinking invisibly. The text before the tag
   * was already shown and stays, but the tag itself is dropped if it begins or ends a line, or if its open tag was
   * inside thinking. Anywhere else, or if prose has opened such a tag, it is a mention and stays.
   */
  #readClose(text: string, from: number): number {
    for (let at = from; at < text.length; at++) {
      const code = text.charCodeAt(at);
      this.#scan.steps++;
      if (this.#closed) {
        const isMention = this.#scan.nested === 0 && code !== newline && code !== 13;
        if (isMention) return this.#refuseClose(at);
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
    if (this.#scan.nested > 0) this.#scan.nested--;
    else this.#warnOfStray();
    sink.markup(this.#lead + this.#held);
    this.#scan.thought = true;
    if (this.#beginsLine) this.#scan.toBlanks();
    else this.#scan.toProse();
  }

  #warnOfStray(): void {
    this.#scan.sink.add({
      type: 'warning',
      code: 'stray-thinking-close',
      message: `${this.#held} came without its opening tag; the text before it may have been thinking.`,
    });
  }

  #refuseClose(next: number): number {
    if (this.#scan.mentions > 0) this.#scan.mentions--;
    return this.#refuse(next);
  }

  /** The text is not an opening, but another opening may begin in it, or a reply that consists only of calls. */
  #refuseName(next: number): number {
    const held = this.#held;
    if (this.#mayBeCall && held !== '' && !held.startsWith('<')) {
      this.#scan.toCall(bareCall(this.#lead));
      this.#scan.replay(held);
      return next;
    }
    if (!mayHoldOpening(held)) return this.#refuse(next);
    this.#held = held.slice(0, 1);
    this.#refuse(next);
    if (held.length > 1) this.#scan.replay(held.slice(1));
    return next;
  }

  #refuse(next: number): number {
    this.#scan.giveBack(this.#lead === '' ? this.#held : this.#lead + this.#held);
    this.#scan.toProse();
    return next;
  }
}

/** Whether an opening may begin after the first character. */
function mayHoldOpening(held: string): boolean {
  return held.length > 1 && (held.includes('<', 1) || held.includes('[', 1) || held.includes(']', 1));
}
