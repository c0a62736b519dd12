import type { IncomingMessage } from 'node:http';
import { readBounded, TooLargeError } from '../../protocol/base/boundedBody.ts';
import { isRecord } from '../../protocol/base/json.ts';
import { badRequest } from './failure.ts';

/** The limit of a real runner is not known. This one keeps a runaway client from filling the memory. */
const maxBytes = 64 * 1024 * 1024;

export async function readText(request: IncomingMessage): Promise<string> {
  try {
    return (await readBounded(request, maxBytes)).toString('utf8');
  } catch (error) {
    throw error instanceof TooLargeError ? badRequest('http: request body too large') : error;
  }
}

/**
 * Reads the first JSON value of a body, like Go's decoder: it ignores what follows.
 * @throws {ApiFailure} 400 with Go's text.
 */
export function parseBody(text: string): unknown {
  const start = text.trimStart();
  if (start === '') throw badRequest('missing request body');
  if (!/^[[{"\d\-tfn]/.test(start)) throw unexpected(start, 'looking for beginning of value');
  const end = endOfValue(start);
  if (end === undefined) throw badRequest('unexpected EOF');
  try {
    return JSON.parse(start.slice(0, end));
  } catch (error) {
    throw unexpected(characterAt(error, start), 'in literal or after value');
  }
}

/** The body if it is JSON, else its text. Tests look at it in the record. */
export function tryBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function endOfValue(text: string): number | undefined {
  if (!/^[[{]/.test(text)) return text.length;
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*("|$)|[[{\]}]/gs)) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    if (depth === 0) return index + token.length;
  }
  return undefined;
}

function unexpected(text: string, where: string) {
  return badRequest(`invalid character '${text.slice(0, 1)}' ${where}`);
}

function characterAt(error: unknown, text: string): string {
  const position = /position (\d+)/.exec(String(error))?.[1];
  return position === undefined ? text : text.slice(Number(position));
}

type FieldType = 'string' | 'bool' | 'int' | 'object' | 'array' | 'any';
export type Fields = Readonly<Record<string, unknown>>;

/** The Go struct that a route reads: its name in errors, and its fields. */
export interface Struct {
  readonly name: string;
  readonly fields: Readonly<Record<string, FieldType>>;
}

const goTypes: Readonly<Record<FieldType, string>> = {
  string: 'string',
  bool: 'bool',
  int: 'int',
  object: 'map[string]interface {}',
  array: '[]interface {}',
  any: 'interface {}',
};

/**
 * Reads a body like Go's decoder: keys match in upper and lower case, unknown keys are ignored, and `null` counts as
 * absent.
 * @throws {ApiFailure} 400 if a field has the wrong type.
 */
export function readFields(body: unknown, struct: Struct): Fields {
  if (!isRecord(body))
    throw badRequest(`json: cannot unmarshal ${jsonType(body)} into Go value of type api.${struct.name}`);
  const names = new Map(Object.keys(struct.fields).map((name) => [name.toLowerCase(), name]));
  const fields: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(body)) {
    const name = names.get(key.toLowerCase());
    if (name === undefined || value === null) continue;
    checkType(value, struct.fields[name] ?? 'any', `${struct.name}.${name}`);
    fields[name] = value;
  }
  return fields;
}

/** @throws {ApiFailure} 400 with Go's text: the actual type, the field, and the expected type. */
export function checkType(value: unknown, type: FieldType, path: string): void {
  const actual = jsonType(value);
  const fits =
    type === 'any' || actual === type || (type === 'int' && actual === 'number' && Number.isInteger(value));
  if (fits) return;
  const came = actual === 'number' && type === 'int' ? `number ${String(value)}` : actual;
  throw badRequest(`json: cannot unmarshal ${came} into Go struct field ${path} of type ${goTypes[type]}`);
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function jsonType(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'number' || typeof value === 'string' ? typeof value : 'object';
}
