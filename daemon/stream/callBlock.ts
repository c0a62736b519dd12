import { isCutClose, readCallMark } from './callMarks.ts';
import {
  closeBrace,
  closeBracket,
  comma,
  greater,
  less,
  newline,
  openBrace,
  openBracket,
  tick,
} from './characters.ts';
import type { FormContext, FoundMark, WrittenCall } from './forms/call.ts';
import { readElementCall } from './forms/elementCall.ts';
import { readNamedCall, readPrefixedCall, readPythonList } from './forms/namedCall.ts';
import { readObjectCall, readRestOfList } from './forms/objectCall.ts';
import { readTaggedCall, readToolElement } from './forms/taggedCall.ts';
import type { CallStart } from './openingTable.ts';
import { missingArguments } from './requestTools.ts';
import {
  CallRefusal,
  over,
  peek,
  type Reading,
  type Source,
  skipBlanks,
  takeBlanks,
  takeWord,
} from './source.ts';

/** Calls, and where the text of the block ends. Characters that were read beyond it belong to what follows. */
export interface CallBlock {
  readonly calls: readonly WrittenCall[];
  readonly end: number;
}

const semicolon = 59;
/** The languages that a fence around calls may name. */
const fenceNames = /^(?:json|jsonc|xml|python|py|text|plaintext|tool_?calls?|tool_?code|function_?calls?)?$/i;
/** In fences with these languages a call without a tag is meant as a call. */
const callFences = /^tool_?(?:calls?|code)$/i;
const maxFenceLength = 40;

/** Reads calls in any form, and the marks around and between them, up to the end of the tag that holds them. */
export function* readBlock(source: Source, context: FormContext, start: CallStart): Reading<CallBlock> {
  const block = new BlockReader(source, context, start);
  const { opening } = start;
  if (opening.kind === 'element') yield* block.readCall(() => readElementCall(source, context, opening.form));
  else if (opening.kind === 'tool')
    yield* block.readCall(() => readToolElement(source, context, opening.tool));
  else if (opening.kind === 'call' && opening.tag.onlyBefore === 'toolName')
    yield* block.readCall(() => readPrefixedCall(source, context));
  else if (opening.kind === 'call' && opening.tag.hasAttribute) yield* skipTag(source);
  while (!block.isOver) yield* block.readNextOrStop();
  return yield* block.finish();
}

function* skipTag(source: Source): Reading<void> {
  yield* takeWord(source, (code) => code === greater || code === less, maxFenceLength * 4);
  if (source.code !== greater) throw new CallRefusal(source.code === over ? 'cut' : 'mention');
  source.at++;
}

class BlockReader {
  readonly #opening: CallStart['opening'];
  readonly #beginsLine: boolean;
  readonly #calls: WrittenCall[] = [];
  /** The number of open tags. */
  #depth: number;
  /** The end of the text that certainly belongs to the calls. */
  #end = 0;
  #fence = 0;
  /** Whether a tag was opened after the last call. */
  #isOpened = false;
  /** Whether the tag of the last call was not closed. */
  #isUnclosed = false;
  /** Whether a call begins within the tag of the last one, and so may be the same call again. */
  #mayRepeat = false;
  #isFenced = false;
  #isClosed = false;
  isOver = false;

  constructor(
    private readonly source: Source,
    private readonly context: FormContext,
    { opening, beginsLine }: CallStart,
  ) {
    this.#opening = opening;
    this.#beginsLine = beginsLine;
    this.#depth = opening.kind === 'call' ? 1 : 0;
  }

  *readCall(read: () => Reading<WrittenCall | WrittenCall[]>): Reading<void> {
    const found = yield* read();
    for (const call of [found].flat()) {
      this.source.countPart();
      if (!this.#mayRepeat || !isSame(call, this.#calls.at(-1))) this.#calls.push(call);
    }
    this.#isUnclosed = true;
    this.#mayRepeat = this.#isOpened = false;
    const { endAt } = this.context;
    this.#end = endAt ?? this.context.pending?.offset ?? this.source.offset;
    this.source.settle();
    if (endAt !== undefined || this.#opening.kind === 'tool') this.isOver = true;
    else if (this.#isOneElement && this.context.pending === undefined) this.isOver = true;
  }

  /** A later call that is cut off takes nothing from the calls before it, if a tag shows that they were meant. */
  *readNextOrStop(): Reading<void> {
    try {
      yield* this.#readNext();
    } catch (error) {
      const isCut = error instanceof CallRefusal && error.reason === 'cut';
      if (!isCut || this.#calls.length === 0 || this.#opening.kind === 'untagged') throw error;
      this.isOver = true;
    }
  }

  *#readNext(): Reading<void> {
    const { pending } = this.context;
    this.context.pending = undefined;
    if (pending !== undefined) return yield* this.#takeMark(pending);
    const code = yield* skipBlanks(this.source);
    const source = this.source;
    const context = this.context;
    // An open tag with nothing after it was meant as a close tag.
    if (code === over) this.#endAt(this.#isOpened && this.#calls.length > 0 ? source.offset : this.#end);
    else if (code === less || code === openBracket || code === closeBracket) yield* this.#readMark(code);
    else if (code === openBrace) yield* this.readCall(() => readObjectCall(source, context));
    else if (code === tick) yield* this.#readFence();
    else if (code === closeBrace && this.#calls.length > 0) this.#takeExtraBrace();
    else if ((code === comma || code === semicolon) && this.#calls.length > 0) source.at++;
    else if (this.#calls.length > 0) yield* this.#readLater(() => readNamedCall(source, context));
    else yield* this.#readFirst();
  }

  /** Decides, after all calls are read, whether they were meant and where they end. */
  *finish(): Reading<CallBlock> {
    if (this.#calls.length === 0) throw new CallRefusal(this.source.code === over ? 'cut' : 'mention');
    if (this.#mustBeAlone && (yield* skipBlanks(this.source)) !== over) throw new CallRefusal('mention');
    if (this.#isUntagged('closed') && !this.#isClosed) throw new CallRefusal('mention');
    const isElement =
      this.#opening.kind === 'element' && /^<(?:function|invoke) /.test(this.#opening.literal);
    if (isElement && this.#calls[0]?.closesItself) throw new CallRefusal('mention');
    const bare = this.#calls.filter(({ isArgumentFree }) => isArgumentFree);
    const empty = this.#beginsLine ? [] : this.#calls.filter(({ isEmpty }) => isEmpty);
    if (![...bare, ...empty].every((call) => this.#isMeant(call))) throw new CallRefusal('mention');
    const needsArguments = this.#opening.kind === 'call' && this.#opening.tag.needsArguments === true;
    if (needsArguments && (bare.length > 0 || !this.#isClosed)) throw new CallRefusal('mention');
    if (bare.length > 0) yield* this.#expectLineEnd();
    return { calls: this.#calls, end: this.#end };
  }

  /** An untagged call, or a call in a fence, counts only if nothing else is in the reply. */
  get #mustBeAlone(): boolean {
    if (!this.#isUntagged('alone')) return false;
    return this.#isFenced || (!this.#isClosed && !this.context.isMarked);
  }

  #isUntagged(onlyIf: 'alone' | 'closed'): boolean {
    return this.#opening.kind === 'untagged' && this.#opening.onlyIf === onlyIf;
  }

  /** The tag of the call itself began the block, so the block ends with the call. */
  get #isOneElement(): boolean {
    return this.#opening.kind === 'element' && this.#depth === 0;
  }

  *#readMark(code: number): Reading<void> {
    const { token, text, offset, isStray } = yield* readCallMark(this.source, this.context.marks);
    if (isStray && this.#calls.length === 0) throw new CallRefusal('mention');
    if (isStray) this.#end = offset + (token === undefined && text === '' ? 1 : 0);
    if (token !== undefined) return yield* this.#takeMark({ token, text, offset });
    if (isStray && text === '') return;
    // The reply ends within the close tag, of which nothing is shown.
    if (isCutClose(this.source, text) && this.#calls.length > 0) return this.#endAt(this.source.offset);
    if (code === less && this.#depth > 0) return yield* this.#readTagged(text);
    if (code !== openBracket || this.#calls.length > 0) return this.#stop(offset);
    yield* this.readCall(() => this.#readList(text.slice(1)));
  }

  /**
   * A list of objects or of Python calls. `begun` is the start of the first name, which was read as a possible mark.
   */
  *#readList(begun: string): Reading<WrittenCall[]> {
    const code = begun === '' ? yield* skipBlanks(this.source) : yield* peek(this.source);
    if (begun === '' && code === openBrace) return yield* readRestOfList(this.source, this.context);
    return yield* readPythonList(this.source, this.context, begun);
  }

  *#takeMark(mark: FoundMark): Reading<void> {
    const { token } = mark;
    switch (token.kind) {
      case 'open':
        if (token.tag.hasAttribute) yield* skipTag(this.source);
        this.#mayRepeat = this.#isUnclosed;
        if (this.#isUntagged('alone') && this.#depth === 0) this.context.isMarked = true;
        this.#depth++;
        this.#isOpened = true;
        return;
      case 'close':
        return this.#close();
      case 'callClose':
      case 'end':
        if (this.#calls.length === 0) return this.#stop(mark.offset);
        this.#end = this.source.offset;
        // If no tag was opened around a call, the call is complete by itself.
        if (this.#isOneElement) this.isOver = true;
        return;
      case 'separator':
        if (this.#calls.length === 0) return this.#stop(mark.offset);
        return;
      case 'call':
        if (this.#isOneElement && this.#calls.length > 0) return this.#stop();
        if (this.#isUntagged('alone')) this.context.isMarked = true;
        return yield* this.readCall(() => readElementCall(this.source, this.context, token.form));
      default:
        return this.#stop(mark.offset);
    }
  }

  #close(): void {
    if (this.#calls.length === 0) throw new CallRefusal('mention');
    this.#end = this.source.offset;
    this.#isClosed = true;
    this.#isUnclosed = false;
    this.#depth--;
    // In a fence the block goes on to the end of the fence.
    if (this.#depth <= 0 && this.#fence === 0) this.isOver = true;
  }

  #takeExtraBrace(): void {
    this.source.at++;
    this.#end = this.source.offset;
  }

  #endAt(offset: number): void {
    this.#end = offset;
    this.isOver = true;
  }

  /** The text here is not part of the calls. */
  #stop(at?: number): void {
    if (this.#calls.length === 0) throw new CallRefusal('mention', at);
    if (this.#mustBeAlone) throw new CallRefusal('mention');
    this.isOver = true;
  }

  /** An element in the tag of a call, of which `begun` was already read. */
  *#readTagged(begun: string): Reading<void> {
    const read = () => readTaggedCall(this.source, this.context, begun);
    if (this.#calls.length > 0) yield* this.#readLater(read);
    else yield* this.readCall(read);
  }

  *#readFirst(): Reading<void> {
    const opening = this.#opening;
    if (opening.kind === 'call' && opening.tag.onlyBefore !== undefined) throw new CallRefusal('mention');
    yield* this.readCall(() => readNamedCall(this.source, this.context));
  }

  /** What comes after calls is either another call or the text that follows them. */
  *#readLater(read: () => Reading<WrittenCall>): Reading<void> {
    if (this.#isOneElement) return this.#stop();
    const before = this.#end;
    try {
      yield* this.readCall(read);
    } catch (error) {
      if (!(error instanceof CallRefusal)) throw error;
      this.context.pending = this.context.endAt = undefined;
      this.#end = before;
      this.#stop();
    }
  }

  *#readFence(): Reading<void> {
    const source = this.source;
    const ticks = (yield* takeWord(source, (code) => code !== tick, maxFenceLength)).length;
    if (this.#fence > 0) {
      if (this.#calls.length === 0 || ticks < this.#fence) throw new CallRefusal('mention');
      this.#fence = 0;
      this.#end = source.offset;
      return;
    }
    if (this.#calls.length > 0) return yield* this.#takeStrayFence(ticks);
    const name = yield* takeWord(
      source,
      (code) => code === newline || code === openBrace || code === less,
      maxFenceLength,
    );
    if (ticks < 3 || !fenceNames.test(name.trim())) throw new CallRefusal('mention');
    if (callFences.test(name.trim())) this.context.isMarked = true;
    this.#isFenced = true;
    this.#fence = ticks;
  }

  /** A closing fence that nothing has opened, at the end of the reply. */
  *#takeStrayFence(ticks: number): Reading<void> {
    const { offset } = this.source;
    if (ticks < 3 || (yield* skipBlanks(this.source)) !== over) return this.#stop();
    this.#endAt(offset);
  }

  /** A bare name is a call if the tool requires no argument. */
  #isMeant({ name }: WrittenCall): boolean {
    const tool = this.context.tools.find(name);
    return tool !== undefined && missingArguments({}, tool.inputSchema).length === 0;
  }

  /** A bare name in its tag is a mention if it is part of a sentence. */
  *#expectLineEnd(): Reading<void> {
    if (!this.#beginsLine) throw new CallRefusal('mention');
    if (this.#end < this.source.offset) return;
    const blanks = yield* takeBlanks(this.source);
    const { code } = this.source;
    if (![over, less, openBracket].includes(code) && !blanks.includes('\n')) throw new CallRefusal('mention');
  }
}

function isSame(call: WrittenCall, last: WrittenCall | undefined): boolean {
  return call.name === last?.name && JSON.stringify(call.arguments) === JSON.stringify(last.arguments);
}
