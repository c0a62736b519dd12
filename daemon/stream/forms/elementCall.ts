import { isCutClose, readCallMark, readMark } from '../callMarks.ts';
import { less, newline, openBrace } from '../characters.ts';
import type { ElementForm } from '../family.ts';
import { propertiesOf } from '../requestTools.ts';
import {
  CallRefusal,
  over,
  peek,
  type Reading,
  refuse,
  type Source,
  skipBlanks,
  takeLiteral,
  takeWord,
} from '../source.ts';
import { type FormContext, type FoundMark, readTitle, titleOf, type WrittenCall } from './call.ts';
import { readElementValue, readTag } from './elementValue.ts';
import { jsonStyle, readObject } from './values.ts';
import { readVerbatim, sectionClose, sectionOpen, type VerbatimEnd } from './verbatim.ts';

const maxNameLength = 256;
/** `name="get_time"/`, of a call without arguments. */
const selfClosing = /["']\s*\/\s*$/;
const nameless = /^(?:param|parameter|arg|argument)$/;

/** Reads the rest of a call written as elements, after `<function=` or a similar tag. */
export function* readElementCall(
  source: Source,
  context: FormContext,
  form: ElementForm,
): Reading<WrittenCall> {
  const { raw } = yield* readTitle(source, form);
  const isWhole = selfClosing.test(raw);
  const title = titleOf(isWhole ? raw.replace(/\/\s*$/, '') : raw);
  if (title === undefined) throw new CallRefusal('mention');
  if (context.tools.find(title.name) === undefined) throw new CallRefusal('unknown');
  context.begun = true;
  if (isWhole) return { name: title.name, arguments: {}, isEmpty: true, closesItself: true };
  if ((yield* skipBlanks(source)) === openBrace)
    return yield* readBody(source, context, { name: title.name, form });
  return yield* readParameters(source, context, { name: title.name, form });
}

interface ElementHead {
  readonly name: string;
  readonly form: ElementForm;
  /** The mark of the first parameter, if it was already read. */
  readonly first?: FoundMark;
}

/** `<function=name>{…}</function>` */
function* readBody(source: Source, context: FormContext, { name, form }: ElementHead): Reading<WrittenCall> {
  const given = yield* readObject(source, jsonStyle);
  source.settle();
  yield* readCallClose(source, context, form);
  return { name, arguments: given };
}

/** Reads the close tag of a call, which may be missing. Any other mark is left for the next reader. */
function* readCallClose(source: Source, context: FormContext, form: ElementForm): Reading<void> {
  const { offset } = source;
  const code = yield* skipBlanks(source);
  if (code === over) return;
  const at = source.offset;
  const { token, text } = yield* readMark(source, context.marks);
  if (text === form.callClose || (token === undefined && isCutClose(source, text))) return;
  if (token === undefined) context.endAt = offset;
  else context.pending = { token, text, offset: at };
}

/**
 * Reads parameters until the call ends: at its close tag, at a mark that occurs only after a call, or at the end of the
 * reply.
 */
export function* readParameters(
  source: Source,
  context: FormContext,
  called: ElementHead,
): Reading<WrittenCall> {
  const { name, form } = called;
  const given: ParameterValues = { values: new Map(), words: new Set() };
  let mark = called.first;
  for (;;) {
    mark ??= yield* nextMark(source, context);
    source.countPart();
    if (mark === undefined) {
      if (given.values.size === 0) throw new CallRefusal('cut');
      break;
    }
    if (mark.token.kind !== 'element' && mark.text === form.callClose) break;
    if (mark.token.kind !== 'parameter' && mark.token.kind !== 'element') {
      if (!mayEndCall(mark)) throw new CallRefusal('malformed');
      context.pending = mark;
      break;
    }
    const next: Next = yield* mark.token.kind === 'element'
      ? readElement(source, mark, {
          ...given,
          properties: propertiesOf(context.tools.find(name)?.inputSchema),
        })
      : readParameter(source, context, { mark, given, called });
    if (next === 'over') break;
    mark = next;
  }
  const isEmpty = given.values.size === 0;
  const nothing = form.call === '' ? { isArgumentFree: true as const } : { isEmpty: true as const };
  return {
    name,
    arguments: Object.fromEntries(given.values),
    words: given.words,
    ...(isEmpty ? nothing : {}),
  };
}

interface ParameterValues {
  readonly values: Map<string, unknown>;
  readonly words: Set<string>;
}

/** The mark after a parameter, if it was already read; `over` if the call has ended. */
type Next = FoundMark | undefined | 'over';

function mayEndCall({ token }: FoundMark): boolean {
  return token.kind === 'close' || token.kind === 'open' || token.kind === 'call' || token.kind === 'end';
}

interface Parameter {
  readonly mark: FoundMark;
  readonly given: ParameterValues;
  readonly called: ElementHead;
}

function* readParameter(
  source: Source,
  context: FormContext,
  { mark, given, called }: Parameter,
): Reading<Next> {
  if (mark.token.kind !== 'parameter') throw new CallRefusal('malformed');
  const { close } = mark.token;
  const form = called.form.parameters.some(({ open }) => open === mark.text) ? called.form : mark.token.form;
  const { values, words } = given;
  const read = mark.title ?? (yield* readTitle(source, form));
  const title = titleOf(read.raw);
  if (title === undefined || values.has(title.name)) throw new CallRefusal('malformed');
  if (form.valueOpen !== undefined && !read.isOpen) yield* readOpen(source, form.valueOpen);
  const properties = propertiesOf(context.tools.find(called.name)?.inputSchema);
  const isNext = (key: string) => key !== title.name && Object.hasOwn(properties, key) && !values.has(key);
  const end = yield* readVerbatim(source, context, { form, close, isNext });
  values.set(title.name, verbatimValue(end, form));
  if (title.isString !== true) words.add(title.name);
  if (end.endAt !== undefined) context.endAt = end.endAt;
  else source.settle();
  return end.next ?? 'over';
}

/**
 * Reads a parameter that is an element with its own name. `<param>` and `<parameter>` without a name are not, unless
 * the tool has such a parameter.
 */
function* readElement(
  source: Source,
  mark: FoundMark,
  { values, words, properties }: ParameterValues & { readonly properties: Readonly<Record<string, unknown>> },
): Reading<Next> {
  const isNameless = nameless.test(mark.text) && !Object.hasOwn(properties, mark.text);
  if (isNameless || values.has(mark.text)) throw new CallRefusal('malformed');
  const value = yield* readElementValue(source, mark.text);
  values.set(mark.text, value);
  words.add(mark.text);
  source.settle();
  return undefined;
}

function* nextMark(source: Source, context: FormContext): Reading<FoundMark | undefined> {
  if ((yield* skipBlanks(source)) === over) return undefined;
  const { token, text, offset, isStray } = yield* readCallMark(source, context.marks);
  if (isStray) throw new CallRefusal('malformed');
  if (token !== undefined) return { token, text, offset };
  return { token: { kind: 'element' }, text: yield* readElementName(source, text), offset };
}

/** Reads the name of an element such as `<city>`, of which `begun` was already read. Such an element is a parameter. */
export function* readElementName(source: Source, begun: string): Reading<string> {
  let tag = begun;
  for (;;) {
    if ((yield* peek(source)) === over) throw new CallRefusal('cut');
    tag += source.character;
    source.at++;
    if (tag.length > maxNameLength || !/^<[\p{L}_]?[\p{L}\p{N}_.:-]*>?$/u.test(tag))
      throw new CallRefusal('malformed');
    if (tag.endsWith('>')) return tag.slice(1, -1);
  }
}

/** Reads the mark that opens a value, past an element with the type of the value. */
function* readOpen(source: Source, mark: string): Reading<void> {
  if ((yield* skipBlanks(source)) !== less) refuse(source);
  for (;;) {
    const tag = yield* readTag(source);
    if (tag === mark) return;
    if (source.code === over && mark.startsWith(tag)) throw new CallRefusal('cut');
    if (!/type>$/.test(tag)) throw new CallRefusal('malformed');
    yield* takeWord(source, (code) => code === less, maxNameLength, 'malformed');
  }
}

export function* readLiteral(source: Source, literal: string): Reading<void> {
  yield* skipBlanks(source);
  if ((yield* takeLiteral(source, literal)) !== literal) refuse(source);
}

/** A value without its close tag has the line break before the next tag. */
function verbatimValue({ value, isClosed }: VerbatimEnd, form: ElementForm): string {
  if (form.valueOpen !== undefined) return isClosed ? value : value.replace(/\r?\n$/, '');
  const trimmed = form.hasSections ? value.trim() : '';
  if (trimmed.startsWith(sectionOpen) && trimmed.endsWith(sectionClose))
    return trimmed.slice(sectionOpen.length, -sectionClose.length);
  return form.isRaw ? withoutFrame(value) : withoutBreaks(value);
}

/** Line breaks around a value that the template writes without any belong to it, unless there is one on both sides. */
export function withoutFrame(value: string): string {
  return /^\r?\n[\s\S]*\n$/.test(value) ? withoutBreaks(value) : value;
}

/**
 * The template puts a line break after the open tag and before the close tag. Further line breaks belong to the value.
 */
function withoutBreaks(value: string): string {
  const start = value.startsWith('\r\n') ? 2 : value.charCodeAt(0) === newline ? 1 : 0;
  const rest = value.slice(start);
  if (rest.endsWith('\r\n')) return rest.slice(0, -2);
  return rest.endsWith('\n') ? rest.slice(0, -1) : rest;
}
