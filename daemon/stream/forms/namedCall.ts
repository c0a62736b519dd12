import { readMark } from '../callMarks.ts';
import {
  closeBracket,
  closeParenthesis,
  comma,
  isBlank,
  less,
  openBrace,
  openBracket,
  openParenthesis,
  tick,
} from '../characters.ts';
import { isRecord } from '../requestTools.ts';
import { CallRefusal, over, type Reading, type Source, skipBlanks, takeBlanks, takeWord } from '../source.ts';
import type { FormContext, FoundMark, WrittenCall } from './call.ts';
import { readElementCall, readParameters } from './elementCall.ts';
import {
  afterItem,
  colonStyle,
  expect,
  jsonStyle,
  pythonStyle,
  readKey,
  readObject,
  readValue,
} from './values.ts';

const equals = 61;
const firstOfJson = 106;
const maxNameLength = 256;

/**
 * Reads a call that begins with the name of its tool: `name{…}`, `name[ARGS]{…}`, `call:name{…}`, `name(…)`, a name and
 * pairs, a name, a separator and an object, or a name alone.
 */
export function* readNamedCall(source: Source, context: FormContext): Reading<WrittenCall> {
  const word = yield* takeWord(source, endsName, maxNameLength);
  const { code } = source;
  if (word === '') throw new CallRefusal(code === over ? 'cut' : 'mention');
  // Without a tag, a call with parentheses is code or part of a sentence.
  if (code === openParenthesis && !context.isMarked) throw new CallRefusal('mention');
  if (code === openParenthesis) return yield* readPythonCall(source, context, word);
  const colon = /^:?call:/.exec(word)?.[0];
  if (code === openBrace && colon !== undefined)
    return yield* readColonCall(source, context, word.slice(colon.length));
  if (word === 'function' && context.isMarked && context.tools.find(word) === undefined)
    return yield* readAfterKind(source, context);
  const name = nameOf(word, context);
  if (name === undefined && !context.isMarked) throw new CallRefusal('mention');
  return yield* readAfterName(source, context, { name, isBroken: isBlank(code) });
}

function endsName(code: number): boolean {
  return (
    isBlank(code) || code === openParenthesis || code === openBrace || code === openBracket || code === less
  );
}

/** Some families put an id after the name, and some models a line break that they escape. */
function nameOf(word: string, { tools }: FormContext): string | undefined {
  return [word, word.replace(/:[\w-]{1,64}$/, ''), word.replace(/\\n$/, '')].find(
    (name) => tools.find(name) !== undefined,
  );
}

/** Reads a separator and a call after the word `function`. */
function* readAfterKind(source: Source, context: FormContext): Reading<WrittenCall> {
  const { token } = source.code === less ? yield* readMark(source, context.marks) : { token: undefined };
  if (token?.kind !== 'separator') throw new CallRefusal('mention');
  context.begun = true;
  const code = yield* skipBlanks(source);
  if (code !== less) {
    const name = nameOf(yield* takeWord(source, endsName, maxNameLength), context);
    return yield* readAfterName(source, context, { name, isBroken: true });
  }
  const read = yield* readMark(source, context.marks);
  if (read.token?.kind !== 'call') throw new CallRefusal('malformed');
  return yield* readElementCall(source, context, read.token.form);
}

interface CallName {
  /** Undefined if no tool has the name: then the tool is unknown if arguments follow, and otherwise it is a mention. */
  readonly name: string | undefined;
  /** Whether a blank follows the name. */
  readonly isBroken: boolean;
}

function* readAfterName(source: Source, context: FormContext, named: CallName): Reading<WrittenCall> {
  if (named.name === undefined && named.isBroken) throw new CallRefusal('mention');
  const blanks = yield* takeBlanks(source);
  const { code } = source;
  // Without a tag, the object must follow at once or on the next line.
  if (code === openBrace && (context.isMarked || !named.isBroken || /^\r?\n$/.test(blanks)))
    return yield* readArguments(source, context, named);
  if (code === tick && context.isMarked) return yield* readFenced(source, context, named);
  if (code === less || code === openBracket) return yield* readAfterMark(source, context, named);
  // The type of the arguments, whose mark a server has dropped.
  if (code === firstOfJson && context.isMarked && (yield* takeWord(source, endsName, 4)) === 'json') {
    yield* takeBlanks(source);
    if (source.code === openBrace) return yield* readArguments(source, context, named);
  }
  return alone(named, source.code);
}

/** A name with nothing after it. */
function alone({ name }: CallName, code: number): WrittenCall {
  if (name === undefined || code !== over) throw new CallRefusal('mention');
  return { name, arguments: {}, isArgumentFree: true };
}

function* readAfterMark(source: Source, context: FormContext, named: CallName): Reading<WrittenCall> {
  const { offset } = source;
  const { token, text } = yield* readMark(source, context.marks);
  if (token === undefined) throw new CallRefusal('mention', offset);
  const mark: FoundMark = { token, text, offset };
  if (token.kind === 'parameter' && token.form.call === '') {
    const name = begin(context, named);
    return yield* readParameters(source, context, { name, form: token.form, first: mark });
  }
  if (token.kind === 'call' && context.isMarked && named.name !== undefined)
    return yield* readElementCall(source, context, token.form);
  if (token.kind === 'callId') {
    yield* takeWord(source, (code) => code === openBracket, maxNameLength);
    return yield* readAfterMark(source, context, named);
  }
  if (token.kind === 'arguments' || token.kind === 'separator')
    return yield* readAfterSeparator(source, context, begin(context, named));
  const isOver = token.kind === 'close' || token.kind === 'end';
  if (named.name === undefined || !isOver || !context.isMarked) throw new CallRefusal('mention', offset);
  context.pending = mark;
  return { name: named.name, arguments: {}, isArgumentFree: true };
}

function begin(context: FormContext, { name }: CallName): string {
  context.begun = true;
  // A mark that occurs only in calls shows that a call was meant.
  context.isMarked = true;
  if (name === undefined) throw new CallRefusal('unknown');
  return name;
}

function* readAfterSeparator(source: Source, context: FormContext, name: string): Reading<WrittenCall> {
  const code = yield* skipBlanks(source);
  if (code === openBrace)
    return unwrapped(yield* readArguments(source, context, { name, isBroken: false }), context);
  if (code === tick) return yield* readFenced(source, context, { name, isBroken: false });
  if (code !== less) throw new CallRefusal(code === over ? 'cut' : 'malformed');
  const { offset } = source;
  const { token, text } = yield* readMark(source, context.marks);
  if (token?.kind === 'parameter')
    return yield* readParameters(source, context, { name, form: token.form, first: { token, text, offset } });
  if (token?.kind !== 'close') throw new CallRefusal('malformed');
  context.pending = { token, text, offset };
  return { name, arguments: {} };
}

/** Inkling repeats the name beside the arguments. */
function unwrapped(call: WrittenCall, { tools }: FormContext): WrittenCall {
  const { name, args, ...others } = call.arguments;
  const isRepeated = typeof name === 'string' && tools.find(name) === tools.find(call.name);
  return isRepeated && isRecord(args) && Object.keys(others).length === 0
    ? { ...call, arguments: args }
    : call;
}

function* readArguments(source: Source, context: FormContext, { name }: CallName): Reading<WrittenCall> {
  if (name === undefined) throw new CallRefusal('unknown');
  context.begun = true;
  const given = yield* readObject(source, jsonStyle);
  source.settle();
  return { name, arguments: given };
}

/** Reads an object in a fence of its own. */
function* readFenced(source: Source, context: FormContext, named: CallName): Reading<WrittenCall> {
  yield* takeWord(source, (code) => code === 10 || code === openBrace || code === less, 40);
  if ((yield* skipBlanks(source)) !== openBrace) throw new CallRefusal('mention');
  const call = yield* readArguments(source, context, named);
  if ((yield* skipBlanks(source)) === tick) yield* takeWord(source, (code) => code !== tick, maxNameLength);
  return call;
}

/** Reads the rest of `call:name{…}` after its first colon. */
export function* readPrefixedCall(source: Source, context: FormContext): Reading<WrittenCall> {
  const name = yield* takeWord(source, endsName, maxNameLength);
  if (source.code !== openBrace) throw new CallRefusal('mention');
  return yield* readColonCall(source, context, name);
}

function* readColonCall(source: Source, context: FormContext, name: string): Reading<WrittenCall> {
  if (!context.isMarked) throw new CallRefusal('mention');
  if (context.tools.find(name) === undefined) throw new CallRefusal('unknown');
  context.begun = true;
  const given = yield* readObject(source, colonStyle);
  source.settle();
  return { name, arguments: given };
}

/** Reads the rest of `name(city="Köln", days=2)`, from its parenthesis on. */
function* readPythonCall(source: Source, context: FormContext, name: string): Reading<WrittenCall> {
  // The runner's own tools are written as methods.
  const bare = context.tools.find(name) === undefined ? name.replace(/\.call$/, '') : name;
  if (context.tools.find(bare) === undefined) throw new CallRefusal('unknown');
  context.begun = true;
  source.at++;
  const given = new Map<string, unknown>();
  for (let code = yield* skipBlanks(source); code !== closeParenthesis; ) {
    const key = yield* readKey(source, pythonStyle);
    yield* expect(source, equals);
    if (given.has(key)) throw new CallRefusal('malformed');
    given.set(key, yield* readValue(source, pythonStyle));
    code = yield* afterItem(source, closeParenthesis);
  }
  source.at++;
  return {
    name: bare,
    arguments: Object.fromEntries(given),
    ...(given.size === 0 ? { isArgumentFree: true } : {}),
  };
}

/** Reads a list of such calls after its bracket. `begun` was already read. */
export function* readPythonList(source: Source, context: FormContext, begun: string): Reading<WrittenCall[]> {
  const calls: WrittenCall[] = [];
  let name = begun;
  for (;;) {
    name += yield* takeWord(source, endsPythonName, maxNameLength);
    if (source.code !== openParenthesis) throw new CallRefusal(calls.length > 0 ? 'malformed' : 'mention');
    source.countPart();
    calls.push(yield* readPythonCall(source, context, name));
    let code = yield* skipBlanks(source);
    if (code === comma) {
      source.at++;
      code = yield* skipBlanks(source);
    }
    if (code === closeBracket) break;
    // The model forgot the bracket, but each of its calls is whole.
    if (context.isMarked && (code === over || code === less)) return calls;
    if (code === over) throw new CallRefusal('cut');
    name = '';
  }
  source.at++;
  return calls;
}

/** Whether a character cannot be part of a name in such a list. */
function endsPythonName(code: number): boolean {
  return code <= 32 || code === openParenthesis || code === comma || code === closeBracket || code === 60;
}
