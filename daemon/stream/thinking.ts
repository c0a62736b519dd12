import {
  closeBracket,
  greater,
  isBlank,
  less,
  newline,
  openBracket,
  skipBlanks,
  slash,
  tick,
} from './characters.ts';
import type { ThinkingEnd } from './family.ts';
import { endedBy, type Mode, type Reply } from './reply.ts';

/** The longest tag. With more blanks the text is thinking. */
const maxTagLength = 64;

/**
 * Thinking streams at once, up to its close tag. A mention of the opening tag does not nest, because it would then
 * swallow the answer; its own close tag, if one follows, is not shown. For the same reason a code fence inside hides
 * nothing. Only a close tag between single ticks, as in a quotation, is a mention.
 */
export class Thinking implements Mode {
  /** The first characters of close tags, and a search for them if they are not only a `<`. */
  readonly #firsts: string;
  readonly #search: RegExp | undefined;
  #held = '';
  #atStart = true;
  #isEmpty = true;
  #afterTick = false;

  constructor(
    private readonly reply: Reply,
    private readonly end: ThinkingEnd,
  ) {
    const { names, marks = [] } = end;
    this.#firsts = [
      ...new Set([...(names.length > 0 ? ['<'] : []), ...marks.map((mark) => mark.charAt(0))]),
    ].join('');
    this.#search =
      this.#firsts === '<' ? undefined : new RegExp(`[${this.#firsts.replace(/[[\]\\^-]/g, '\\$&')}]`, 'g');
  }

  /** Whether a chunk is thinking that changes no state, so that it need not be read further. */
  isPlain(chunk: string): boolean {
    if (this.#held !== '' || this.#atStart || this.reply.thoughts.isReading) return false;
    for (let at = 0; at < chunk.length; at++) {
      const code = chunk.charCodeAt(at);
      if (code === less || code === openBracket || code === closeBracket) return false;
    }
    if (this.#search !== undefined && this.#find(chunk, 0) >= 0) return false;
    this.#afterTick = chunk.charCodeAt(chunk.length - 1) === tick;
    this.reply.visit(chunk.length);
    return true;
  }

  read(text: string, from: number): number {
    if (this.#atStart) return this.#readStart(text, from);
    if (this.#held !== '') return this.#readTag(text, from);
    const found = this.#find(text, from);
    const at = found < 0 ? text.length : found;
    this.reply.visit(at - from + 1);
    if (at > from) this.#afterTick = text.charCodeAt(at - 1) === tick;
    this.#think(from === 0 && found < 0 ? text : text.slice(from, at));
    if (found < 0) return at;
    this.#held = text.charAt(at);
    return at + 1;
  }

  /** The next character that may begin a close tag. */
  #find(text: string, from: number): number {
    if (this.#search === undefined) return text.indexOf('<', from);
    this.#search.lastIndex = from;
    return this.#search.exec(text)?.index ?? -1;
  }

  finish(reason: string): void {
    const whole = this.#held !== '' && closeLength(this.#held, this.end) === this.#held.length;
    if (whole && this.#call === '') return this.#close();
    this.#think(this.#held);
    this.#held = '';
    this.reply.sink.add({
      type: 'warning',
      code: 'unclosed-thinking',
      message: `${endedBy(reason)} while the model was still thinking; there may be no answer.`,
    });
  }

  #think(text: string): void {
    if (text !== '') this.#isEmpty = false;
    this.reply.sink.thinking(text);
    const { thoughts, tools } = this.reply;
    if (tools.isEmpty) return;
    const before = thoughts.steps;
    thoughts.read(text);
    this.reply.visit(thoughts.steps - before);
  }

  /** Drops the blanks after the tag, and the name of a channel on a line of its own. */
  #readStart(text: string, from: number): number {
    if (this.#held !== '') return this.#readLabel(text, from);
    const at = skipBlanks(text, from);
    this.reply.visit(at - from + 1);
    this.reply.sink.markup(text.slice(from, at));
    if (at === text.length) return at;
    if (this.end.label?.startsWith(text.charAt(at)) !== true) {
      this.#atStart = false;
      return at;
    }
    this.#held = text.charAt(at);
    return at + 1;
  }

  #readLabel(text: string, from: number): number {
    const { label = '' } = this.end;
    this.reply.visit(1);
    const longer = this.#held + text.charAt(from);
    if (label.startsWith(longer)) {
      this.#held = longer;
      return from + 1;
    }
    const code = text.charCodeAt(from);
    if (this.#held === label && (code === newline || this.#firsts.includes(text.charAt(from)))) {
      this.reply.sink.markup(this.#held);
      this.#held = '';
      return from;
    }
    this.#atStart = false;
    this.#think(this.#held);
    this.#held = '';
    return from;
  }

  /** The held text is at most as long as a tag, so reading it again is cheap. */
  #readTag(text: string, from: number): number {
    let at = from;
    while (at < text.length) {
      const code = text.charCodeAt(at);
      const length = closeLength(this.#held, this.end);
      this.reply.visit(this.#held.length);
      if (length > 0) return this.#decide(code, at);
      if (!this.#mayBeTag() || this.#beginsAnew(text.charAt(at))) return this.#refuse(at);
      this.#held += text[at++];
      if (this.#afterTick) continue;
      if (closeLength(this.#held, this.end) > 0) {
        this.#close();
        return at;
      }
      if (openLength(this.#held, this.end) > 0) return this.#nest(at);
    }
    return this.#mayBeTag() ? at : this.#refuse(at);
  }

  #mayBeTag(): boolean {
    return closeLength(this.#held, this.end) >= 0 || openLength(this.#held, this.end) === 0;
  }

  /** An open tag inside. At the very beginning it only repeats the tag, or the template, that opened the thinking. */
  #nest(next: number): number {
    this.reply.nested++;
    if (!this.#isEmpty) return this.#refuse(next);
    this.reply.sink.markup(this.#held);
    this.#held = '';
    this.#atStart = true;
    return next;
  }

  /** Whether a new close tag may begin with this character, which does not continue the held one. */
  #beginsAnew(character: string): boolean {
    const longer = this.#held + character;
    return (
      this.#firsts.includes(character) && this.end.marks?.some((mark) => mark.startsWith(longer)) !== true
    );
  }

  /** Decides about a whole close tag after a tick. Another tick makes it a mention. */
  #decide(code: number, at: number): number {
    if (code === tick) return this.#refuse(at);
    this.#close();
    return at;
  }

  #refuse(next: number): number {
    this.#think(this.#held);
    this.#afterTick = false;
    this.#held = '';
    return next;
  }

  #close(): void {
    const call = this.#call;
    this.reply.sink.markup(this.#held.slice(0, this.#held.length - call.length));
    this.reply.thought = true;
    this.#held = '';
    this.reply.enterLineRest('thinking');
    this.reply.replay(call);
  }

  /** The mark of a call with which the held close mark ends. */
  get #call(): string {
    return this.reply.profile.calls.find(({ open }) => this.#held.endsWith(open))?.open ?? '';
  }
}

/** The length of `text` if it is a close tag, 0 if it may become one, -1 if it cannot. */
function closeLength(text: string, { names, marks = [] }: ThinkingEnd): number {
  if (marks.includes(text)) return text.length;
  if (marks.some((mark) => mark.startsWith(text))) return 0;
  if (names.length === 0 || text.charCodeAt(0) !== less) return -1;
  if (text.length === 1) return 0;
  return text.charCodeAt(1) === slash ? tagLength(text, 2, names) : -1;
}

/** The same for an open tag without attributes. */
function openLength(text: string, { names }: ThinkingEnd): number {
  return text.charCodeAt(0) === less ? tagLength(text, 1, names) : -1;
}

function tagLength(text: string, from: number, names: readonly string[]): number {
  if (text.length > maxTagLength) return -1;
  const closed = text.charCodeAt(text.length - 1) === greater;
  const body = text.slice(from, closed ? -1 : undefined).toLowerCase();
  let end = body.length;
  while (end > 0 && isBlank(body.charCodeAt(end - 1))) end--;
  const name = body.slice(0, end);
  const isName = (one: string) => one === name || name.startsWith(`${one}:`);
  if (closed) return names.some(isName) ? text.length : -1;
  const blanks = end < body.length;
  return names.some((one) => isName(one) || (!blanks && one.startsWith(name))) ? 0 : -1;
}
