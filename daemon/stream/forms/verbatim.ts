import { isCutClose, readMark } from '../callMarks.ts';
import { greater, isBlank, LongText, less, openBrace, openBracket } from '../characters.ts';
import type { ElementForm } from '../family.ts';
import { CallRefusal, over, peek, type Reading, type Source, takeBlanks, takeLiteral } from '../source.ts';
import { type FormContext, type FoundMark, readTagRest, titleOf } from './call.ts';

interface VerbatimForm {
  readonly form: ElementForm;
  readonly close: string;
  /** Whether a parameter of this name may come next. */
  readonly isNext: (key: string) => boolean;
}

/** A value, and what ended it: a mark, the end of the reply, or an earlier offset (`endAt`). */
export interface VerbatimEnd {
  readonly value: string;
  readonly next?: FoundMark;
  readonly endAt?: number;
  /** Whether its own close tag ended it. */
  readonly isClosed?: true;
}

const maxNameLength = 256;
export const sectionOpen = '<![CDATA[';
export const sectionClose = ']]>';

/**
 * Reads a value that is verbatim text. A close tag ends it only if the call continues or ends right after it. Any other
 * close tag is part of the value, and so are whole calls inside. If the close tag never comes, the value ends where its
 * call certainly ends: with the reply, or where the next call begins. In a section at the beginning of a value only the
 * end of the section counts.
 */
export function* readVerbatim(
  source: Source,
  context: FormContext,
  asked: VerbatimForm,
): Reading<VerbatimEnd> {
  const value = new Value(source);
  for (;;) {
    while (source.isDry) yield;
    if (source.code === over) return value.atTheEnd();
    value.add(source.takeUntil((code) => code === less));
    if (source.isDry || source.code === over) continue;
    const { offset } = source;
    const { token, text } = yield* readMark(source, context.marks);
    const mark = token === undefined ? undefined : { token, text, offset };
    const end = mark === undefined ? undefined : yield* value.take(mark, context, asked);
    if (end !== undefined) return end;
    if (mark === undefined) {
      const mayBeSection = asked.form.hasSections && value.isBlank && sectionOpen.startsWith(text);
      value.add(text);
      if (!mayBeSection) continue;
      const rest = sectionOpen.slice(text.length);
      const more = yield* takeLiteral(source, rest);
      value.add(more);
      if (more === rest) yield* takeSection(source, value);
    }
  }
}

function* takeSection(source: Source, value: Value): Reading<void> {
  let last = '';
  for (;;) {
    while (source.isDry) yield;
    if (source.code === over) throw new CallRefusal('malformed');
    const text = source.takeUntil((code) => code === greater);
    value.add(text);
    last = (last + text).slice(1 - sectionClose.length);
    if (source.isDry || source.code !== greater) continue;
    source.at++;
    value.add('>');
    if (`${last}>` === sectionClose) return;
    last = '>';
  }
}

/** A place where the value may have ended although the text went on. */
interface Candidate {
  readonly length: number;
  readonly endAt: number;
}

class Value {
  readonly #text = new LongText();
  /** The calls and wrappers that are open inside of the value. */
  #nested = 0;
  #wrapped = 0;
  /** The parameters that are open in a call inside of the value. */
  #nestedParameters = 0;
  /** Whether a call was opened inside of the value, so that only the value's own close tag can end it. */
  #hasNested = false;
  /** The first close tag of the value after which the call did not continue. */
  #early: Candidate | undefined;
  /** The close tag of the call, or of its wrapper. */
  #late: Candidate | undefined;
  /** Whether only blanks came since the last close tag of a call. */
  #isClosing = false;
  #isAmbiguous = false;
  isBlank = true;

  constructor(private readonly source: Source) {}

  add(text: string): void {
    this.#text.add(text);
    if ((this.isBlank || this.#isClosing) && text.trim() !== '') this.isBlank = this.#isClosing = false;
  }

  atTheEnd(): VerbatimEnd {
    const candidate = this.#candidate();
    if (candidate === undefined) throw new CallRefusal('cut');
    return { value: this.#upTo(candidate.length), endAt: candidate.endAt };
  }

  /** The end of the value at a mark, or undefined if the mark is text. */
  *take(mark: FoundMark, context: FormContext, asked: VerbatimForm): Reading<VerbatimEnd | undefined> {
    const { kind } = mark.token;
    // A close tag of a parameter that was not opened inside belongs to this value: the call inside was a mention.
    if (kind === 'parameterClose' && this.#nested > 0 && this.#nestedParameters-- <= 0)
      this.#nested = this.#nestedParameters = 0;
    const isInside = this.#nested > 0;
    if (kind === 'parameter' && isInside) this.#nestedParameters++;
    if (kind === 'parameterClose' && mark.text === asked.close && !isInside)
      return yield* this.#takeClose(mark, context, asked.form);
    if (kind === 'parameter' && isParameterOf(mark, asked.form) && !isInside)
      return yield* this.#takeNext(mark, asked);
    if (kind === 'call' || kind === 'open') return yield* this.#takeOpen(mark, context);
    if (kind === 'callClose' && mark.text === asked.form.callClose && isInside) this.#nested--;
    else if (kind === 'close' && this.#wrapped > 0) this.#wrapped--;
    else if (
      !isInside &&
      (kind === 'close' || (kind === 'callClose' && mark.text === asked.form.callClose))
    ) {
      this.#takeCallClose(mark);
      return undefined;
    }
    this.add(mark.text);
    return undefined;
  }

  *#takeClose(mark: FoundMark, context: FormContext, form: ElementForm): Reading<VerbatimEnd | undefined> {
    const source = this.source;
    const { length } = this.#text;
    const endAt = source.offset;
    const blanks = yield* takeBlanks(source);
    if (source.code === over) return { value: this.#upTo(length), isClosed: true };
    const { offset } = source;
    const isMark = source.code === less;
    const { token, text } = isMark ? yield* readMark(source, context.marks) : { token: undefined, text: '' };
    if (token !== undefined && mayFollow({ token, text, offset }, form))
      return { value: this.#upTo(length), next: { token, text, offset }, isClosed: true };
    if (token === undefined && isCutClose(source, text)) return { value: this.#upTo(length), isClosed: true };
    this.#early ??= { length, endAt };
    source.doubt();
    this.add(mark.text + blanks + text);
    return undefined;
  }

  /** The next parameter ends a value without a close tag, if this tool can have that parameter. */
  *#takeNext(mark: FoundMark, { form, isNext }: VerbatimForm): Reading<VerbatimEnd | undefined> {
    const { length } = this.#text;
    const { text, title } = yield* readTagRest(this.source, form);
    const name = titleOf(title?.raw ?? '')?.name;
    if (title !== undefined && name !== undefined && isNext(name)) {
      // The words between the value's close tag and the next parameter would become a part of the value.
      if (this.#early !== undefined) throw new CallRefusal('malformed');
      return { value: this.#upTo(length), next: { ...mark, title } };
    }
    this.add(mark.text + text);
    return undefined;
  }

  /** The next call if this one may have ended, otherwise a call inside of the value. */
  *#takeOpen(mark: FoundMark, context: FormContext): Reading<VerbatimEnd | undefined> {
    const { token } = mark;
    const read =
      token.kind === 'call'
        ? yield* readName(this.source, token.form)
        : yield* readBeginning(this.source, context);
    const isCall =
      read.name !== undefined && (read.name === '' || context.tools.find(read.name) !== undefined);
    if (isCall && (this.#early !== undefined || this.#late !== undefined)) return this.atTheEnd();
    if (token.kind === 'open') this.#wrapped++;
    else if (isCall) {
      this.#nested++;
      this.#hasNested = true;
    }
    this.add(mark.text + read.text);
    return undefined;
  }

  #takeCallClose(mark: FoundMark): void {
    const { length } = this.#text;
    const isClosing = this.#isClosing;
    this.add(mark.text);
    const endAt = this.source.offset;
    if (this.#late !== undefined && !isClosing) this.#isAmbiguous = true;
    this.#late = { length: this.#late?.length ?? length, endAt };
    this.#isClosing = true;
    this.source.doubt();
  }

  /** The only place where the value may have ended. With two places it is ambiguous. */
  #candidate(): Candidate | undefined {
    if (this.#hasNested || this.#isAmbiguous || (this.#early !== undefined && this.#late !== undefined))
      throw new CallRefusal('malformed');
    return this.#early ?? this.#late;
  }

  #upTo(length: number): string {
    return this.#text.toString().slice(0, length);
  }
}

/** Several forms may write their parameters alike. */
function isParameterOf({ text }: FoundMark, { parameters }: ElementForm): boolean {
  return parameters.some(({ open }) => open === text);
}

function mayFollow(mark: FoundMark, form: ElementForm): boolean {
  const { token, text } = mark;
  if (text === form.callClose) return true;
  if (token.kind === 'callClose') return false;
  if (token.kind === 'parameter') return isParameterOf(mark, form);
  return token.kind === 'close' || token.kind === 'open' || token.kind === 'call' || token.kind === 'end';
}

interface CallHead {
  /** Perhaps a tool's name; empty if an object begins. */
  readonly name?: string;
  readonly text: string;
}

function* readName(source: Source, form: ElementForm): Reading<CallHead> {
  const { text, title } = yield* readTagRest(source, form);
  const name = titleOf(title?.raw ?? '')?.name;
  return { text, ...(name === undefined ? {} : { name }) };
}

/** Reads what follows the open tag of a wrapper. */
function* readBeginning(source: Source, { tools }: FormContext): Reading<CallHead> {
  const blanks = yield* takeBlanks(source);
  const code = yield* peek(source);
  if (code === openBrace || code === openBracket || code === less) return { name: '', text: blanks };
  let text = '';
  while (text.length <= maxNameLength && code !== over) {
    while (source.isDry) yield;
    if (source.code === over || isBlank(source.code) || source.code === less) break;
    text += source.character;
    source.at++;
  }
  return { text: blanks + text, ...(tools.find(text) === undefined ? {} : { name: text }) };
}
