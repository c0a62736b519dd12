import { judgeCalls } from './callJudge.ts';
import { type BlockResult, CallReader } from './callReader.ts';
import type { CallStart } from './callStart.ts';
import { LongText } from './longText.ts';
import type { Mode, Scan } from './scan.ts';
import { Sentence, type Verdict } from './sentence.ts';

/** Withholds text that may be tool calls until that is decided. Text that is not a call is given back. */
export class CallMode implements Mode {
  readonly #scan: Scan;
  #start: CallStart | undefined;
  #reader: CallReader | undefined;
  /** The text after the opening, from earlier pieces. */
  #held = new LongText();
  /** Calls that may be quoted in a sentence. What follows them decides. */
  #found: BlockResult | undefined;
  #sentence: Sentence | undefined;
  /** What the last calls were, and where that was. */
  #judged: { readonly verdict: Verdict; readonly at: number } | undefined;

  constructor(scan: Scan) {
    this.#scan = scan;
  }

  begin(start: CallStart): void {
    this.#start = start;
    this.#held = new LongText();
    this.#found = undefined;
    const { tools, callMarks } = this.#scan;
    this.#reader = new CallReader({ tools, marks: callMarks, close: start.close, start: start.start });
  }

  read(text: string, from: number): number {
    if (this.#found !== undefined) return this.#readOn(this.#found, text, from);
    const result = this.#reader?.read(text, from);
    if (result === undefined) {
      this.#scan.steps += text.length - from;
      this.#held.add(text.slice(from));
      return text.length;
    }
    const before = this.#held.length;
    this.#scan.steps += Math.abs(result.end - before) + 1;
    const next = from + Math.max(0, result.end - before);
    this.#held.add(text.slice(from, next));
    if (!this.#mayBeMention(result)) this.#take(result);
    else this.#decide(result, this.#held.toString().slice(result.end));
    return next;
  }

  finish(): void {
    const result = this.#found ?? this.#reader?.finish();
    if (result === undefined) return;
    if (!this.#mayBeMention(result)) return this.#take(result);
    this.#decide(result, this.#held.toString().slice(result.end));
    if (this.#found === result) this.#settle(result, this.#sentence?.end() ?? 'meant');
  }

  #mayBeMention({ kind }: BlockResult): boolean {
    return kind === 'calls' && this.#start?.mayBeQuoted === true;
  }

  /** Reads one more piece after calls that may be quoted. */
  #readOn(result: BlockResult, text: string, from: number): number {
    const { verdict, end } = this.#judge(text, from);
    this.#scan.steps += end - from + 1;
    this.#held.add(text.slice(from, end));
    this.#settle(result, verdict);
    return end;
  }

  #decide(result: BlockResult, ahead: string): void {
    const { line } = this.#scan.sink;
    this.#found = result;
    this.#scan.steps += line.length;
    this.#sentence = new Sentence(line, this.#earlier(line));
    const isClosed = this.#sentence.isClosedBy(this.#held.toString().charAt(result.end - 1));
    this.#settle(result, isClosed ? 'mention' : this.#judge(ahead, 0).verdict);
  }

  /** What the calls before these were, if they stand in the same sentence. */
  #earlier(line: string): Verdict {
    const { sink } = this.#scan;
    if (this.#judged === undefined) return 'unknown';
    const since = sink.length - this.#judged.at;
    const between = line.slice(Math.max(0, line.length - since));
    const isSame = since <= line.length && !/[.:!?。：！？]/.test(between);
    return isSame ? this.#judged.verdict : 'unknown';
  }

  #judge(text: string, from: number): { verdict: Verdict; end: number } {
    for (let at = from; at < text.length; at++) {
      const verdict = this.#sentence?.take(text.charAt(at)) ?? 'meant';
      if (verdict !== 'unknown') return { verdict, end: at };
    }
    return { verdict: 'unknown', end: text.length };
  }

  #settle(result: BlockResult, verdict: Verdict): void {
    if (verdict === 'unknown') return;
    if (verdict === 'meant') return this.#take(result);
    this.#take({ kind: 'refused', reason: 'mention', end: result.end, begun: false }, true);
  }

  #take(result: BlockResult, isQuoted = false): void {
    this.#found = undefined;
    const text = this.#held.toString();
    const [own, rest] = [text.slice(0, result.end), text.slice(result.end)];
    this.#reader = undefined;
    this.#held = new LongText();
    if (result.kind === 'calls') this.#report(result, own);
    else this.#refuse(result, own);
    if (result.kind === 'calls' || isQuoted) this.#remember(isQuoted ? 'mention' : 'meant');
    if (rest !== '') this.#scan.replay(rest);
  }

  #remember(verdict: Verdict): void {
    this.#judged = { verdict, at: this.#scan.sink.length };
  }

  #report({ block }: BlockResult & { readonly kind: 'calls' }, body: string): void {
    const { lead = '', opening = '' } = this.#start ?? {};
    const { sink, tools } = this.#scan;
    const { calls, missing } = judgeCalls(block.calls, tools);
    sink.markup(lead);
    for (const [index, call] of calls.entries())
      sink.add({ type: 'toolCall', call, text: index === 0 ? opening + body : '' });
    for (const name of missing) {
      const message = `The model left out the argument ${name}, which the tool requires.`;
      sink.add({ type: 'warning', code: 'missing-argument', message });
    }
    this.#scan.toLead(true);
  }

  #refuse({ reason, begun }: BlockResult & { readonly kind: 'refused' }, body: string): void {
    const { lead = '', opening = '', start } = this.#start ?? {};
    if (start?.proof === 'tag') this.#warnOfTagged(reason, begun);
    else if (reason === 'malformed') this.#warn('malformed-tool-call', 'cannot be read');
    this.#scan.giveBack(lead + opening + body);
    this.#scan.toProse();
  }

  #warnOfTagged(reason: string, begun: boolean): void {
    if (reason === 'unknown') this.#warn('unknown-tool', 'is of a tool that was not offered');
    else if (reason === 'cut' && begun) this.#warn('unclosed-tool-call', 'is cut off');
    else if (reason === 'malformed' && begun) this.#warn('malformed-tool-call', 'cannot be read');
  }

  #warn(code: 'unknown-tool' | 'unclosed-tool-call' | 'malformed-tool-call', what: string): void {
    const message = `The model wrote a tool call that ${what}; it is shown as text.`;
    this.#scan.sink.add({ type: 'warning', code, message });
  }
}
