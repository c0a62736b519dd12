import { badRequest } from './failure.ts';

export type FieldType = 'string' | 'bool' | 'int' | 'object' | 'array' | 'any';
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

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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
