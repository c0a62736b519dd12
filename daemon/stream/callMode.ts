import { type CallBlock, readBlock } from './callBlock.ts';
import { callMarksOf } from './callMarks.ts';
import { LongText } from './characters.ts';
import type { ParsedToolCall } from './events.ts';
import type { FormContext, WrittenCall } from './forms/call.ts';
import type { CallStart } from './openingTable.ts';
import type { Mode, Reply } from './reply.ts';
import { coerceArguments, missingArguments, type RequestTools } from './requestTools.ts';
import { Sentence, type Verdict } from './sentence.ts';
import { CallRefusal, type Reading, type RefusalReason, Source } from './source.ts';

/** Withholds text that may be tool calls until that is decided. Text that is not a call is given back. */
export class CallMode implements Mode {
  readonly #source: Source;
  readonly #context: FormContext;
  readonly #reading: Reading<CallBlock>;
  /** The text after the opening, from earlier pieces. */
  #held = new LongText();
  /** Calls that may be quoted in a sentence. What follows them decides. */
  #found: BlockResult | undefined;
  #sentence = new Sentence('', 'unknown');

  constructor(
    private readonly reply: Reply,
    private readonly start: CallStart,
  ) {
    this.#source = new Source(closeOf(start.opening));
    this.#context = {
      tools: reply.tools,
      marks: callMarksOf(reply.profile),
      isMarked: start.opening.kind !== 'untagged',
      begun: false,
      pending: undefined,
      endAt: undefined,
      broken: reply.hasBrokenList ? undefined : [],
    };
    this.#reading = readBlock(this.#source, this.#context, start);
  }

  read(text: string, from: number): number {
    if (this.#found !== undefined) return this.#readOn(this.#found, text, from);
    this.#source.feed(text, from);
    const result = this.#resume();
    if (result === undefined) {
      this.reply.visit(text.length - from);
      this.#held.add(text.slice(from));
      return text.length;
    }
    const before = this.#held.length;
    this.reply.visit(Math.abs(result.end - before) + 1);
    const next = from + Math.max(0, result.end - before);
    this.#held.add(text.slice(from, next));
    if (!this.#mayBeMention(result)) this.#take(result);
    else this.#decide(result, this.#held.toString().slice(result.end));
    return next;
  }

  finish(): void {
    const result = this.#found ?? this.#end();
    if (!this.#mayBeMention(result)) return this.#take(result);
    this.#decide(result, this.#held.toString().slice(result.end));
    if (this.#found === result) this.#settle(result, this.#sentence.end());
  }

  /** Resumes the reading of the block. A result may come before the end of the piece. */
  #resume(): BlockResult | undefined {
    try {
      const step = this.#reading.next();
      if (step.done) return { kind: 'calls', block: step.value, end: step.value.end };
      return this.#source.isLost ? this.#refused('malformed') : undefined;
    } catch (error) {
      if (error instanceof CallRefusal) return this.#refused(error.reason, error.at);
      throw error;
    }
  }

  /** The reply is over. */
  #end(): BlockResult {
    this.#source.feed('', 0);
    this.#source.ended = true;
    return this.#resume() ?? this.#refused('cut');
  }

  #refused(reason: RefusalReason, end = this.#source.offset): BlockResult {
    return { kind: 'refused', reason, end, begun: this.#context.begun };
  }

  #mayBeMention({ kind }: BlockResult): boolean {
    return kind === 'calls' && this.start.mayBeQuoted === true;
  }

  /** Reads one more piece after calls that may be quoted. */
  #readOn(result: BlockResult, text: string, from: number): number {
    const { verdict, end } = this.#judge(text, from);
    this.reply.visit(end - from + 1);
    this.#held.add(text.slice(from, end));
    this.#settle(result, verdict);
    return end;
  }

  #decide(result: BlockResult, ahead: string): void {
    const { line } = this.reply.sink;
    this.#found = result;
    this.reply.visit(line.length);
    this.#sentence = new Sentence(line, this.#earlier(line));
    const isClosed = this.#sentence.isClosedBy(this.#held.toString().charAt(result.end - 1));
    this.#settle(result, isClosed ? 'mention' : this.#judge(ahead, 0).verdict);
  }

  /** What the calls before these were, if they stand in the same sentence. */
  #earlier(line: string): Verdict {
    const { sink, judged } = this.reply;
    if (judged === undefined) return 'unknown';
    const since = sink.length - judged.at;
    const between = line.slice(Math.max(0, line.length - since));
    const isSame = since <= line.length && !/[.:!?。：！？]/.test(between);
    return isSame ? judged.verdict : 'unknown';
  }

  #judge(text: string, from: number): { verdict: Verdict; end: number } {
    for (let at = from; at < text.length; at++) {
      const verdict = this.#sentence.take(text.charAt(at));
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
    this.#held = new LongText();
    if (result.kind === 'calls') this.#report(result, own);
    else this.#refuse(result, own);
    if (result.kind === 'calls' || isQuoted)
      this.reply.judged = { verdict: isQuoted ? 'mention' : 'meant', at: this.reply.sink.length };
    if (rest !== '') this.reply.replay(rest);
  }

  #report({ block }: BlockResult & { readonly kind: 'calls' }, body: string): void {
    const { lead, opening } = this.start;
    const { sink, tools } = this.reply;
    const { calls, missing } = judgeCalls(block.calls, tools);
    sink.markup(lead);
    const source = this.#reportBroken(opening.literal + body, opening.literal.length);
    for (const [index, call] of calls.entries())
      sink.add({ type: 'toolCall', call, text: index === 0 ? source : '' });
    for (const name of missing) {
      const message = `The model left out the argument ${name}, which the tool requires.`;
      sink.add({ type: 'warning', code: 'missing-argument', message });
    }
    this.reply.enter({ mode: 'lead', afterCall: true });
  }

  /** Shows the elements that are no calls, but not what is around them. Returns the text after them. */
  #reportBroken(text: string, start: number): string {
    const { broken = [] } = this.#context;
    let end = 0;
    for (const [index, { reason, from, to }] of broken.entries()) {
      const isLast = broken[index + 1]?.from !== to;
      const element = text.slice(start + from, start + to).replace(isLast ? /[\s,]+$/ : '', '');
      this.#warnOfTagged(reason === 'mention' ? 'malformed' : reason, true);
      this.reply.sink.markup(text.slice(end, start + from));
      this.reply.giveBack(element);
      end = start + from + element.length;
    }
    return text.slice(end);
  }

  #refuse({ reason, begun }: BlockResult & { readonly kind: 'refused' }, body: string): void {
    const { lead, opening } = this.start;
    this.reply.hasBrokenList ||= Boolean(this.#context.broken?.length);
    if (opening.kind !== 'untagged') this.#warnOfTagged(reason, begun);
    else if (reason === 'malformed') this.#warn('malformed-tool-call', 'cannot be read');
    // A server that reports a call may leave the marks around it. At the end of an answer they say nothing.
    if (this.start.beginsLine && this.reply.shown && isEmptyBlock(opening, body))
      return this.reply.enter({ mode: 'end', token: lead + opening.literal + body });
    this.reply.giveBack(lead + opening.literal + body);
    this.reply.enterProse();
  }

  #warnOfTagged(reason: string, begun: boolean): void {
    if (reason === 'unknown') this.#warn('unknown-tool', 'is of a tool that was not offered');
    else if (reason === 'cut' && begun) this.#warn('unclosed-tool-call', 'is cut off');
    else if (reason === 'malformed' && begun) this.#warn('malformed-tool-call', 'cannot be read');
  }

  #warn(code: 'unknown-tool' | 'unclosed-tool-call' | 'malformed-tool-call', what: string): void {
    const message = `The model wrote a tool call that ${what}; it is shown as text.`;
    this.reply.sink.add({ type: 'warning', code, message });
  }
}

function isEmptyBlock(opening: CallStart['opening'], body: string): boolean {
  if (opening.kind !== 'call' || opening.tag.onlyBefore !== undefined) return false;
  const inside = body.trim();
  return inside === '' || inside === opening.tag.close;
}

/**
 * The calls to report, and the required arguments that they left out. Each name becomes the tool's own, and bare words
 * get the types in the tool's schema.
 */
function judgeCalls(written: readonly WrittenCall[], tools: RequestTools) {
  const calls: ParsedToolCall[] = [];
  const missing: string[] = [];
  for (const { name, arguments: given, words } of written) {
    const tool = tools.find(name);
    if (tool === undefined) continue;
    const values = words === undefined ? { ...given } : coerceArguments(given, words, tool.inputSchema);
    missing.push(...missingArguments(values, tool.inputSchema).map((key) => `${tool.name}.${key}`));
    calls.push({ name: tool.name, arguments: values });
  }
  return { calls, missing };
}

/**
 * The outcome of reading a block. `end` is the offset after the block, or after the part of a mention that was read.
 */
type BlockResult =
  | { readonly kind: 'calls'; readonly block: CallBlock; readonly end: number }
  | {
      readonly kind: 'refused';
      readonly reason: RefusalReason;
      readonly end: number;
      readonly begun: boolean;
    };

/** What closes the block of calls; empty if nothing does. */
function closeOf(opening: CallStart['opening']): string {
  if (opening.kind === 'tool') return `</${opening.tool}>`;
  if (opening.kind === 'element') return opening.form.callClose;
  return opening.kind === 'call' ? opening.tag.close : '';
}
