import { readMark } from '../callMarks.ts';
import {
  backslash,
  closeBrace,
  closeBracket,
  colon,
  comma,
  doubleQuote,
  isBlank,
  less,
  openBrace,
  openBracket,
  singleQuote,
  tick,
} from '../characters.ts';
import { isRecord } from '../requestTools.ts';
import { CallRefusal, over, peek, type Reading, refuse, type Source, skipBlanks } from '../source.ts';
import type { FormContext, WrittenCall } from './call.ts';
import {
  afterItem,
  expect,
  jsonStyle,
  readKey,
  readObject,
  readString,
  readStringAfter,
  readValue,
  tryParseValue,
  type ValueStyle,
} from './values.ts';

const bareKeyStyle: ValueStyle = { bareKeys: true };
/** A longer string is neither a key of a call nor a tool's name. */
const maxNameLength = 256;
/** What may follow a list of calls. */
const listEnds = new Set([over, less, tick]);
/** Wrappers around a call may nest. */
const maxDepth = 4;
/** Before the first good call of a list, no more of a broken element is read, because all may be read again as text. */
const maxBroken = 65_536;

export const nameKeys = new Set(['name', 'tool', 'tool_name', 'function_name', 'function']);
export const argumentKeys = new Set(['arguments', 'parameters', 'args', 'input']);
const wrapperKeys = new Set(['function', 'function_call', 'tool_call']);
/** Keys that a call may have besides its name and arguments. */
const minorKeys = /^(?:type|id|call_id|tool_call_id|index|role|content)$/;
const kinds = new Set(['function', 'tool', 'tool_call', 'tool_use', 'function_call']);

interface CallKeys {
  name?: string;
  given?: Readonly<Record<string, unknown>>;
  nested?: WrittenCall[];
  isPython: boolean;
}

/**
 * Reads an object that is a call, or that wraps calls: `{"name": …, "arguments": {…}}` and its relatives. The first key
 * that calls do not have refutes it, so an ordinary object is released at once.
 */
export function* readObjectCall(source: Source, context: FormContext, depth = 0): Reading<WrittenCall[]> {
  source.at++;
  let code = yield* skipBlanks(source);
  if (code === openBrace) return yield* readDoubled(source, context, depth);
  const found: CallKeys = { isPython: false };
  const keys = new Set<string>();
  while (code !== closeBrace) {
    found.isPython ||= code === singleQuote;
    const key = yield* readKey(source, styleOf(context), maxNameLength);
    yield* expect(source, colon);
    if (keys.has(key)) throw foreign(found, context);
    keys.add(key);
    if (isNamedByKey(key, keys, context) && (yield* skipBlanks(source)) === openBrace) {
      context.begun = true;
      found.name = key;
      found.given = yield* readObject(source, styleOf(context));
    } else yield* readEntry(source, context, { key, found, depth });
    if ((yield* skipBlanks(source)) === less) {
      if (depth > 0 || !(yield* closesWithoutBrace(source, context, found)))
        throw new CallRefusal('malformed');
      return callsOf(found, context);
    }
    code = yield* afterItem(source, closeBrace);
    if (found.name !== undefined && keys.size > 1 && isNamedByKey(found.name, keys, context))
      throw new CallRefusal('malformed');
  }
  source.at++;
  return callsOf(found, context);
}

/** One brace too few: the close tag comes where the last brace is missing. It is left for the next reader. */
function* closesWithoutBrace(source: Source, context: FormContext, found: CallKeys): Reading<boolean> {
  if (!context.isMarked || (found.given ?? found.nested) === undefined) return false;
  const { offset } = source;
  const { token, text } = yield* readMark(source, context.marks);
  if (token?.kind !== 'close') return false;
  context.pending = { token, text, offset };
  return true;
}

/** In a tag, keys may have no quotes. */
function styleOf({ isMarked }: FormContext): ValueStyle {
  return isMarked ? bareKeyStyle : jsonStyle;
}

/** `{{…}}`: a template has doubled the braces. */
function* readDoubled(source: Source, context: FormContext, depth: number): Reading<WrittenCall[]> {
  if (depth >= maxDepth) throw new CallRefusal('mention');
  const calls = yield* readObjectCall(source, context, depth + 1);
  yield* expect(source, closeBrace);
  return calls;
}

/** Inside a tag, a call may be an object whose only key is the name of its tool. */
function isNamedByKey(key: string, keys: ReadonlySet<string>, { isMarked, tools }: FormContext): boolean {
  return isMarked && keys.has(key) && !isCallKey(key) && tools.find(key) !== undefined;
}

function isCallKey(key: string): boolean {
  return nameKeys.has(key) || argumentKeys.has(key) || wrapperKeys.has(key) || key === 'tool_calls';
}

interface Entry {
  readonly key: string;
  readonly found: CallKeys;
  readonly depth: number;
}

function* readEntry(source: Source, context: FormContext, entry: Entry): Reading<void> {
  const { key, found, depth } = entry;
  if (!isCallKey(key) && !minorKeys.test(key)) throw foreign(found, context);
  const code = yield* skipBlanks(source);
  const isWrapper = wrapperKeys.has(key) && code === openBrace;
  if (isWrapper || (key === 'tool_calls' && code === openBracket)) {
    if (found.nested !== undefined || depth >= maxDepth) throw foreign(found, context);
    if (isWrapper) context.begun = true;
    else source.at++;
    const read = isWrapper ? readObjectCall : readRestOfList;
    found.nested = yield* read(source, context, depth + 1);
  } else if (nameKeys.has(key)) yield* readName(source, context, found);
  else if (argumentKeys.has(key)) {
    context.begun = true;
    if (found.given !== undefined) throw foreign(found, context);
    found.given = yield* readArguments(source, context, found);
  } else yield* readMinor(source, context, entry);
}

function* readName(source: Source, context: FormContext, found: CallKeys): Reading<void> {
  const { code } = source;
  if (code !== doubleQuote && code !== singleQuote) throw foreign(found, context);
  const name = yield* readString(source, jsonStyle, maxNameLength);
  if (found.name !== undefined) throw foreign(found, context);
  context.begun = true;
  if (context.tools.find(name) === undefined) throw new CallRefusal('unknown');
  found.name = name;
}

/** Reads an object, an object written as a string, or nothing. Anything else is refused at its first character. */
function* readArguments(
  source: Source,
  context: FormContext,
  { name }: CallKeys,
): Reading<Readonly<Record<string, unknown>>> {
  const wrong = new CallRefusal(name === undefined ? 'mention' : 'malformed');
  if (source.code === openBrace) return yield* readObject(source, styleOf(context));
  if (source.code === openBracket) throw wrong;
  const isString = source.code === doubleQuote || source.code === singleQuote;
  const value = isString ? yield* readArgumentString(source, wrong) : yield* readValue(source, jsonStyle);
  const given = typeof value === 'string' ? (value.trim() === '' ? null : tryParseValue(value)) : value;
  if (given === null) return {};
  if (!isRecord(given)) throw wrong;
  return given;
}

function* readArgumentString(source: Source, wrong: CallRefusal): Reading<string> {
  const quote = source.code;
  source.at++;
  if (!mayBeginObject(yield* peek(source), quote)) throw wrong;
  return yield* readStringAfter(source, jsonStyle, { quote });
}

function mayBeginObject(code: number, quote: number): boolean {
  return code === openBrace || code === quote || code === backslash || isBlank(code) || code === over;
}

/**
 * Reads another key of a call. Its value must be one that calls have. Any other value would be lost, so then it is not
 * a call.
 */
function* readMinor(source: Source, context: FormContext, { key, found }: Entry): Reading<void> {
  const code = yield* peek(source);
  if (code === openBrace || code === openBracket) throw foreign(found, context);
  const isString = code === doubleQuote || code === singleQuote;
  const value = isString
    ? yield* readString(source, jsonStyle, maxNameLength)
    : yield* readValue(source, jsonStyle);
  if (!isMinor(key, value)) throw foreign(found, context);
}

function isMinor(key: string, value: unknown): boolean {
  if (key === 'type') return typeof value === 'string' && kinds.has(value);
  if (key === 'role') return value === 'assistant';
  if (key === 'content') return value === null || value === '';
  return true;
}

function foreign({ name }: CallKeys, { isMarked }: FormContext): CallRefusal {
  return new CallRefusal(isMarked && name !== undefined ? 'malformed' : 'mention');
}

function callsOf({ name, given, nested, isPython }: CallKeys, context: FormContext): WrittenCall[] {
  if (nested !== undefined) {
    if (name !== undefined || given !== undefined) throw new CallRefusal('malformed');
    return nested;
  }
  if (name === undefined) throw new CallRefusal('mention');
  if (given === undefined) {
    // A Python dictionary with only a name is an answer.
    if (isPython && !context.isMarked) throw new CallRefusal('mention');
    return [{ name, arguments: {}, isArgumentFree: true }];
  }
  if (isDefinition(given, context.tools.find(name)?.inputSchema))
    throw new CallRefusal(context.isMarked ? 'malformed' : 'mention');
  return [{ name, arguments: given }];
}

/**
 * Reads the rest of a list of such objects, after its bracket. Behind a mark, an element that cannot be read is noted
 * as broken if another one is a call.
 */
export function* readRestOfList(source: Source, context: FormContext, depth = 0): Reading<WrittenCall[]> {
  const calls: WrittenCall[] = [];
  let first: CallRefusal | undefined;
  for (let code = yield* skipBlanks(source); code !== closeBracket || calls.length === 0; ) {
    if (code !== openBrace)
      throw new CallRefusal(code === over ? 'cut' : calls.length > 0 ? 'malformed' : 'mention');
    source.countPart();
    const from = source.offset;
    try {
      calls.push(...(yield* readObjectCall(source, context, depth)));
    } catch (error) {
      const { isMarked, pending, broken } = context;
      if (!(error instanceof CallRefusal) || !isMarked || !broken || depth > 0 || pending) throw error;
      first ??= new CallRefusal(error.reason, error.at ?? source.offset);
      const to = yield* skipBroken(source, calls.length > 0 ? Number.POSITIVE_INFINITY : maxBroken);
      broken.push({ reason: error.reason, from, to: to ?? source.offset });
      code = source.code;
      if (to !== undefined && code === openBrace) continue;
      if (calls.length > 0) return calls;
      throw first;
    }
    code = yield* skipBlanks(source);
    if (code === comma) {
      source.at++;
      code = yield* skipBlanks(source);
    } else if (context.isMarked && (code === over || code === less)) {
      // The model forgot the bracket, but each of its calls is whole.
      return calls;
    } else if (code !== closeBracket && code !== openBrace) refuse(source);
  }
  source.at++;
  return calls;
}

/**
 * Skips the rest of an element, up to the next one or behind the list. Returns where the element ends; undefined if
 * that is not within `most` characters.
 */
function* skipBroken(source: Source, most: number): Reading<number | undefined> {
  const limit = source.offset + most;
  let depth = 0;
  try {
    for (let isItem = true; source.offset < limit; ) {
      const code = yield* skipBlanks(source);
      const { offset } = source;
      if (code === over || code === less || (code === openBrace && isItem)) return offset;
      if (code === doubleQuote) yield* readString(source, jsonStyle, limit - offset);
      else source.at++;
      if (code === openBrace || code === openBracket) depth++;
      else if (code === closeBrace || code === closeBracket) depth--;
      isItem = code === comma && depth < 0;
      if (code === closeBracket && listEnds.has(yield* skipBlanks(source))) return offset;
    }
  } catch (error) {
    if (!(error instanceof CallRefusal)) throw error;
  }
  return undefined;
}

const schemaTypes = /^(?:string|number|integer|boolean|array|object|null)$/;
const schemaWords =
  /^(?:type|title|description|enum|const|default|examples?|format|pattern|items|properties|required|nullable|additionalProperties|minimum|maximum|minLength|maxLength|minItems|maxItems|anyOf|oneOf)$/;
/** Beside these, a schema may accept parameters that it does not declare by name. */
const openWords = ['anyOf', 'oneOf', 'allOf', '$ref', 'additionalProperties', 'patternProperties', 'if'];

/**
 * Whether the schema of a tool stands in place of its arguments, or the schema of each argument in place of its value:
 * then the tool is described, not called.
 */
function isDefinition(given: Readonly<Record<string, unknown>>, inputSchema: unknown): boolean {
  const declared =
    isRecord(inputSchema) && isRecord(inputSchema['properties']) ? inputSchema['properties'] : undefined;
  const own = declared ?? {};
  if (isRecord(given['properties']) && !Object.hasOwn(own, 'properties')) {
    const isWritten = given['type'] === 'object' || Array.isArray(given['required']);
    if (isWritten || (declared !== undefined && !isOpen(inputSchema))) return true;
  }
  const entries = Object.entries(given);
  return entries.length > 0 && entries.every(([key, value]) => isSchema(value) && isPlain(own[key]));
}

function isOpen(schema: unknown): boolean {
  return isRecord(schema) && openWords.some((word) => Object.hasOwn(schema, word) && schema[word] !== false);
}

function isSchema(value: unknown): boolean {
  if (!isRecord(value) || typeof value['type'] !== 'string' || !schemaTypes.test(value['type'])) return false;
  return Object.keys(value).every((key) => schemaWords.test(key));
}

/** Whether a parameter is declared with values that are not objects. */
function isPlain(declared: unknown): boolean {
  const type = isRecord(declared) ? declared['type'] : undefined;
  return typeof type === 'string' && type !== 'object' && type !== 'array';
}
