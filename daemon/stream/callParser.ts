import type { CallPiece } from './callReader.ts';
import { coerceArguments, isRecord, missingArguments } from './coerce.ts';
import type { ToolCall, WarningCode } from './events.ts';
import { tryParseJson } from './jsonRepair.ts';
import type { OfferedTools } from './offeredTools.ts';
import { tryParsePythonCalls, type WrittenCall } from './pythonCalls.ts';
import { functionBody, parsePairCall, tryParseXmlCall } from './xmlCalls.ts';

/** What a source turned out to hold: its calls, or why it stays text. */
export type ParsedCalls =
  | { readonly calls: readonly ToolCall[]; readonly missing: readonly string[] }
  | {
      readonly problem: WarningCode & ('malformed-tool-call' | 'unknown-tool');
      readonly message: string;
      /** It has the shape of a call, whatever is wrong with it. */
      readonly isCall: boolean;
    };

/** Parses the pieces that a reader found. One piece that is no call leaves the whole source text. */
export function parseCalls(source: string, pieces: readonly CallPiece[], tools: OfferedTools): ParsedCalls {
  const calls: ToolCall[] = [];
  const missing: string[] = [];
  for (const piece of pieces) {
    const written = writtenCalls(piece.kind, source.slice(piece.start, piece.end));
    if (written === undefined) return malformed(false);
    for (const one of written) {
      const tool = tools.find(one.name);
      const words = argumentsOf(one.arguments);
      if (tool === undefined) return unknownTool(one.name);
      if (words === undefined) return malformed(true);
      const values = one.untyped === true ? coerceArguments(words, tool.inputSchema) : words;
      missing.push(...missingArguments(values, tool.inputSchema).map((name) => `${tool.name}.${name}`));
      calls.push({ name: tool.name, arguments: values });
    }
  }
  return calls.length === 0 ? malformed(false) : { calls, missing };
}

function malformed(isCall: boolean): ParsedCalls {
  const message = 'The model wrote a tool call that cannot be read; it is shown as text.';
  return { problem: 'malformed-tool-call', message, isCall };
}

function unknownTool(name: string): ParsedCalls {
  const message = `The model called ${JSON.stringify(name)}, a tool that was not offered; it is shown as text.`;
  return { problem: 'unknown-tool', message, isCall: true };
}

function writtenCalls(kind: CallPiece['kind'], text: string): WrittenCall[] | undefined {
  if (kind === 'pairs') return [parsePairCall(text)];
  if (kind === 'xml') return tryXml(text);
  if (/^\[\s*[^\s{[\]"]/.test(text)) return tryParsePythonCalls(text);
  return tryFlatten(tryParseJson(text), 0);
}

function tryXml(text: string): WrittenCall[] | undefined {
  const object = functionBody(text);
  const call = object === undefined ? tryParseXmlCall(text) : { name: object.name, arguments: object.body };
  return call === undefined ? undefined : [call];
}

/** Objects name a call in several ways, and wrap it in several more. */
function tryFlatten(value: unknown, depth: number): WrittenCall[] | undefined {
  if (depth > 4) return undefined;
  if (Array.isArray(value)) return tryFlattenAll(value, depth);
  if (!isRecord(value)) return undefined;
  if (Array.isArray(value['tool_calls'])) return tryFlattenAll(value['tool_calls'], depth);
  const wrapped = value['function'] ?? value['function_call'];
  if (isRecord(wrapped)) return tryFlatten(wrapped, depth + 1);
  const name = [value['name'], value['tool_name'], value['function_name'], value['tool'], wrapped].find(
    isName,
  );
  const words = value['arguments'] ?? value['parameters'] ?? value['args'] ?? value['input'];
  if (name === undefined || (words === undefined && !isBareName(value))) return undefined;
  return [{ name, arguments: words }];
}

/** Without arguments only an object that says nothing else is a call: `{"name": "Ann", "age": 3}` is none. */
function isBareName(value: Record<string, unknown>): boolean {
  return Object.keys(value).every((key) =>
    /^(?:name|type|id|tool|tool_name|function|function_name)$/.test(key),
  );
}

function tryFlattenAll(values: readonly unknown[], depth: number): WrittenCall[] | undefined {
  const calls: WrittenCall[] = [];
  for (const value of values) {
    const flat = tryFlatten(value, depth + 1);
    if (flat === undefined) return undefined;
    calls.push(...flat);
  }
  return calls;
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** Arguments may be an object, an object written as a string, or left out. */
function argumentsOf(value: unknown): Record<string, unknown> | undefined {
  if (value === undefined || value === null || value === '') return {};
  const object = typeof value === 'string' ? tryParseJson(value) : value;
  return isRecord(object) ? object : undefined;
}
