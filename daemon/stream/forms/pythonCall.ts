import { closeBracket, less } from '../characters.ts';
import { CallRefusal, over, type Reading, type Source, skipBlanks, takeWord } from '../source.ts';
import type { FormContext, WrittenCall } from './call.ts';
import { afterItem, expect, pythonStyle, readKey, readValue } from './values.ts';

const comma = 44;
const equals = 61;
const openParenthesis = 40;
const closeParenthesis = 41;
const maxNameLength = 256;

/** Reads the rest of `name(city="Köln", days=2)`, from its parenthesis on. */
export function* readPythonCall(source: Source, context: FormContext, name: string): Reading<WrittenCall> {
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
    name += yield* takeWord(source, endsName, maxNameLength);
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

/** Whether a character cannot be part of the name of a tool. */
function endsName(code: number): boolean {
  return code <= 32 || code === openParenthesis || code === comma || code === closeBracket || code === 60;
}
