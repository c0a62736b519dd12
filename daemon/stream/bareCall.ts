import { CallReader } from './callReader.ts';
import { isBlank } from './characters.ts';
import { HeldText } from './heldText.ts';
import { reportCalls } from './reportCalls.ts';
import type { Mode, Scan } from './scan.ts';

/** How some families begin a list of calls that lasts until the end of the reply. */
const listMark = '[TOOL_CALLS]';
const fenceMark = '```';
/** The first line of a fence is not longer. */
const longestFence = 40;

/**
 * A reply that may be nothing but tool calls: an object or a list from its first character on, alone or in one
 * fenced block. It is withheld until that is refuted, which an ordinary object does with its first key, or until
 * the reply ends.
 */
export class BareCall implements Mode {
  readonly #scan: Scan;
  #lead = '';
  /** What came before it was known what stands before the calls, and all after. */
  #held = '';
  #rest = new HeldText();
  /** Where the calls begin in what is held. */
  #start = 0;
  #reader: CallReader | undefined;
  #isOver = false;

  constructor(scan: Scan) {
    this.#scan = scan;
  }

  begin(lead: string): void {
    this.#lead = lead;
    this.#held = '';
    this.#rest = new HeldText();
    this.#start = 0;
    this.#reader = undefined;
    this.#isOver = false;
  }

  read(text: string, from: number): number {
    let at = from;
    while (at < text.length) {
      const next =
        this.#reader === undefined ? this.#readHead(text, at) : this.#readRest(this.#reader, text, at);
      this.#scan.steps += Math.abs(next - at) + 1;
      if (next < 0) return -next - 1;
      at = next;
    }
    return at;
  }

  finish(): void {
    const reader = this.#reader;
    if (!reader || !(this.#isOver || reader.isWhole)) return this.#refuse();
    const text = this.#held + this.#rest.toString();
    reportCalls(this.#scan, {
      lead: this.#lead,
      source: text.slice(this.#start),
      pieces: reader.pieces,
      text,
      isTagged: false,
    });
  }

  /** A character more of what may stand before the calls; `-at - 1` says that the text is refuted at `at`. */
  #readHead(text: string, at: number): number {
    const head = this.#held + text.charAt(at);
    if (head === listMark) return this.#take(head, '', at);
    if (listMark.startsWith(head)) return this.#hold(head, at);
    if (/^`{3,}[\w-]*[ \t]*\r?\n$/.test(head)) return this.#take(head, fenceMark, at);
    const mayBeFence =
      head.length < longestFence && (/^`{1,2}$/.test(head) || /^`{3,}[\w-]*[ \t]*\r?$/.test(head));
    if (mayBeFence) return this.#hold(head, at);
    if (head.startsWith('`')) return this.#refuseAt(at);
    return this.#readFrom(head, at);
  }

  #hold(head: string, at: number): number {
    this.#held = head;
    return at + 1;
  }

  #take(head: string, close: string, at: number): number {
    this.#reader = new CallReader(this.#scan.tools, close);
    this.#start = head.length;
    return this.#hold(head, at);
  }

  /** Nothing stands before the calls: what was held is the beginning of one. */
  #readFrom(head: string, at: number): number {
    const reader = new CallReader(this.#scan.tools, '');
    this.#reader = reader;
    reader.read(this.#held, 0);
    if (reader.failed) return this.#refuseAt(at);
    reader.read(head.slice(-1), 0);
    if (reader.failed) return this.#refuseAt(at);
    return this.#hold(head, at);
  }

  #readRest(reader: CallReader, text: string, at: number): number {
    if (this.#isOver) return this.#readAfterFence(text, at);
    const end = reader.read(text, at);
    const next = end < 0 ? text.length : end;
    this.#rest.add(text.slice(at, next));
    if (end < 0) return next;
    if (reader.failed) return this.#refuseAt(next);
    this.#isOver = true;
    return next;
  }

  /** Only blanks may follow the block, or it stands in prose. */
  #readAfterFence(text: string, at: number): number {
    if (!isBlank(text.charCodeAt(at))) return this.#refuseAt(at);
    this.#rest.add(text.charAt(at));
    return at + 1;
  }

  #refuseAt(at: number): number {
    this.#refuse();
    return -at - 1;
  }

  #refuse(): void {
    this.#scan.giveBack(this.#lead + this.#held + this.#rest.toString());
    this.#rest = new HeldText();
    this.#scan.toProse();
  }
}
