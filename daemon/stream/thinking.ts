import { greater, isBlank, less, skipBlanks, slash, tick } from './characters.ts';
import { endedBy, type Mode, type Scan } from './scan.ts';

/** A close tag with more blanks than this fits is thinking. */
const longestClose = 64;

/**
 * Thinking streams at once, up to its close tag. A mention of the opening tag does not nest, or it would swallow
 * the answer; for the same reason a code fence inside hides nothing. Only a close tag between single ticks, as
 * prose quotes it, is a mention.
 */
export class Thinking implements Mode {
  readonly #scan: Scan;
  #names: readonly string[] = [];
  #held = '';
  #atStart = true;
  #afterTick = false;

  constructor(scan: Scan) {
    this.#scan = scan;
  }

  begin(names: readonly string[]): void {
    this.#names = names;
    this.#held = '';
    this.#atStart = true;
    this.#afterTick = false;
  }

  /** Whether a chunk is thinking and changes nothing, so that it needs no more reading. */
  isPlain(chunk: string): boolean {
    if (this.#held !== '' || this.#atStart) return false;
    for (let at = 0; at < chunk.length; at++) if (chunk.charCodeAt(at) === less) return false;
    this.#afterTick = chunk.charCodeAt(chunk.length - 1) === tick;
    this.#scan.steps += chunk.length;
    return true;
  }

  read(text: string, from: number): number {
    if (this.#held !== '') return this.#readTag(text, from);
    if (this.#atStart) return this.#readStart(text, from);
    const found = text.indexOf('<', from);
    const at = found < 0 ? text.length : found;
    this.#scan.steps += at - from + 1;
    if (at > from) this.#afterTick = text.charCodeAt(at - 1) === tick;
    this.#scan.sink.thinking(from === 0 && found < 0 ? text : text.slice(from, at));
    if (found < 0) return at;
    this.#held = '<';
    return at + 1;
  }

  finish(reason: string): void {
    const whole = this.#held !== '' && closeLength(this.#held, this.#names) === this.#held.length;
    if (whole) return this.#close();
    this.#scan.sink.thinking(this.#held);
    this.#scan.sink.add({
      type: 'warning',
      code: 'unclosed-thinking',
      message: `${endedBy(reason)} while the model was still thinking; there may be no answer.`,
    });
  }

  #readStart(text: string, from: number): number {
    const at = skipBlanks(text, from);
    this.#scan.steps += at - from;
    this.#scan.sink.markup(text.slice(from, at));
    this.#atStart = at === text.length;
    return at;
  }

  /** The held text begins with `<` and has at most a tag's length, so that reading it again is cheap. */
  #readTag(text: string, from: number): number {
    let at = from;
    while (at < text.length) {
      const code = text.charCodeAt(at);
      const length = closeLength(this.#held, this.#names);
      this.#scan.steps += this.#held.length;
      if (length > 0) return this.#decide(code, at);
      if (length < 0 || code === less) return this.#refuse(at);
      this.#held += text[at++];
      if (!this.#afterTick && code === greater && closeLength(this.#held, this.#names) > 0) {
        this.#close();
        return at;
      }
    }
    if (closeLength(this.#held, this.#names) < 0) return this.#refuse(at);
    return at;
  }

  /** A whole close tag after a tick: one more tick makes it a mention. */
  #decide(code: number, at: number): number {
    if (code === tick) return this.#refuse(at);
    this.#close();
    return at;
  }

  #refuse(next: number): number {
    this.#scan.sink.thinking(this.#held);
    this.#afterTick = false;
    this.#held = '';
    return next;
  }

  #close(): void {
    this.#scan.sink.markup(this.#held);
    this.#scan.thought = true;
    this.#held = '';
    this.#scan.toLineRest('thinking');
  }
}

/** The length of the close tag that `text` is, 0 when it may become one, -1 when it cannot. */
function closeLength(text: string, names: readonly string[]): number {
  if (text.length === 1) return 0;
  if (text.charCodeAt(1) !== slash || text.length > longestClose) return -1;
  const closed = text.charCodeAt(text.length - 1) === greater;
  const body = text.slice(2, closed ? -1 : undefined).toLowerCase();
  let end = body.length;
  while (end > 0 && isBlank(body.charCodeAt(end - 1))) end--;
  const name = body.slice(0, end);
  if (closed) return names.includes(name) ? text.length : -1;
  const blanks = end < body.length;
  return names.some((one) => (blanks ? one === name : one.startsWith(name))) ? 0 : -1;
}
