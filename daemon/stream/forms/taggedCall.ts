import { readCallMark } from '../callMarks.ts';
import { less, openBrace } from '../characters.ts';
import { missingArguments, propertiesOf } from '../requestTools.ts';
import { CallRefusal, over, type Reading, type Source, skipBlanks } from '../source.ts';
import type { FormContext, WrittenCall } from './call.ts';
import { readElementName, readLiteral, withoutFrame } from './elementCall.ts';
import { readElementValue } from './elementValue.ts';
import { argumentKeys, nameKeys } from './objectCall.ts';
import { jsonStyle, readObject } from './values.ts';

/**
 * Reads a call whose parts are elements in the tag of a call: `<name>tool</name><parameters>…</parameters>` and its
 * relatives, or `<tool>…</tool>`. `begun` was already read of the first tag.
 */
export function* readTaggedCall(source: Source, context: FormContext, begun: string): Reading<WrittenCall> {
  const tag = yield* readElementName(source, begun);
  if (!nameKeys.has(tag)) return yield* readToolElement(source, context, tag);
  const name = String(yield* readElementValue(source, tag));
  if (context.tools.find(name) === undefined) throw new CallRefusal('unknown');
  context.begun = true;
  if ((yield* skipBlanks(source)) !== less) throw new CallRefusal(source.code === over ? 'cut' : 'malformed');
  const { token, text, offset } = yield* readCallMark(source, context.marks);
  if (token !== undefined) {
    context.pending = { token, text, offset };
    return { name, arguments: {}, isArgumentFree: true };
  }
  const key = yield* readElementName(source, text);
  if (!argumentKeys.has(key)) throw new CallRefusal('malformed');
  return { name, ...(yield* readContent(source, key, () => true)) };
}

/**
 * Reads the arguments of a tool whose name is the tag around them. Prose may name the same tag, so only arguments that
 * the tool has make it a call, and none that it requires may be missing.
 */
export function* readToolElement(source: Source, context: FormContext, tag: string): Reading<WrittenCall> {
  const tool = context.tools.find(tag);
  if (tool === undefined) throw new CallRefusal('mention');
  const properties = propertiesOf(tool.inputSchema);
  const content = yield* readContent(source, tag, (key) => Object.hasOwn(properties, key));
  if (missingArguments(content.arguments, tool.inputSchema).length > 0) throw new CallRefusal('mention');
  return { name: tool.name, ...content };
}

/** Reads what stands in `<tag>`, an object or an element for each argument, and its close tag. */
function* readContent(
  source: Source,
  tag: string,
  mayBe: (key: string) => boolean,
): Reading<Omit<WrittenCall, 'name'>> {
  if ((yield* skipBlanks(source)) === openBrace) {
    const given = yield* readObject(source, jsonStyle);
    if (!Object.keys(given).every(mayBe)) throw new CallRefusal('mention');
    source.settle();
    yield* readLiteral(source, `</${tag}>`);
    return { arguments: given };
  }
  const values = new Map<string, unknown>();
  for (;;) {
    source.countPart();
    const code = yield* skipBlanks(source);
    if (code !== less) throw new CallRefusal(code === over ? 'cut' : 'mention');
    source.at++;
    while (source.isDry) yield;
    if (source.character === '/') break;
    const key = yield* readElementName(source, '<');
    if (!mayBe(key) || values.has(key)) throw new CallRefusal('mention');
    const value = yield* readElementValue(source, key);
    values.set(key, typeof value === 'string' ? withoutFrame(value) : value);
    source.settle();
  }
  yield* readLiteral(source, `/${tag}>`);
  return { arguments: Object.fromEntries(values), words: new Set(values.keys()) };
}
