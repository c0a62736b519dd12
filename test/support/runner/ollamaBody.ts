import { ApiFailure, badRequest, type Fields, listOf, textOf } from '../../../daemon/practice/exchange.ts';
import { isRecord, tryJson } from '../../../protocol/base/json.ts';
import { checkInference } from './ollamaOptions.ts';

/**
 * The fields of a body as a real runner reads them, with its checks: keys match in upper and lower case, unknown keys
 * are ignored, `null` counts as absent, and what follows the first value is not read.
 * @throws {ApiFailure} 400 with Go's texts.
 */
export function readBody(path: string, text: string): Fields {
  const struct = structs[path];
  if (!struct) return {};
  const fields = readFields(parseBody(text), struct);
  if (struct.name === 'ChatRequest') for (const message of listOf(fields['messages'])) checkMessage(message);
  if (inference.includes(struct.name)) checkInference(fields);
  const name = textOf(fields['model']) || textOf(fields['name']);
  if (name === '' && /Chat|Show/.test(struct.name)) throw badRequest('model is required');
  if (name === '' && struct.name === 'GenerateRequest') throw new ApiFailure(404, "model '' not found");
  for (const file of isRecord(fields['files']) ? Object.keys(fields['files']) : [])
    if (/^[/\\]|^[a-z]:|(^|[/\\])\.\.([/\\]|$)/i.test(file)) throw badRequest('file path must be relative');
  if (fields['raw'] === true && (fields['template'] || fields['system'] || fields['context']))
    throw badRequest('raw mode does not support template, system, or context');
  return fields;
}

type FieldType = 'string' | 'bool' | 'int' | 'object' | 'array' | 'any';

/** The Go struct that a route reads: its name in errors, and its fields. */
interface Struct {
  readonly name: string;
  readonly fields: Readonly<Record<string, FieldType>>;
}

const inference: readonly string[] = ['ChatRequest', 'GenerateRequest', 'EmbedRequest'];
const shared = {
  ...fieldsOfType('string', 'model'),
  ...fieldsOfType('bool', 'stream truncate shift logprobs _debug_render_only'),
  ...fieldsOfType('any', 'format think keep_alive'),
  ...fieldsOfType('object', 'options'),
  ...fieldsOfType('int', 'top_logprobs'),
};
const structs: Readonly<Record<string, Struct>> = {
  '/api/chat': { name: 'ChatRequest', fields: { ...shared, messages: 'array', tools: 'array' } },
  '/api/generate': {
    name: 'GenerateRequest',
    fields: {
      ...shared,
      ...fieldsOfType('string', 'prompt suffix system template'),
      ...{ context: 'array', raw: 'bool', images: 'array' },
    },
  },
  '/api/embed': {
    name: 'EmbedRequest',
    fields: {
      ...fieldsOfType('string', 'model prompt'),
      ...fieldsOfType('any', 'input keep_alive'),
      ...{ truncate: 'bool', dimensions: 'int', options: 'object' },
    },
  },
  '/api/show': {
    name: 'ShowRequest',
    fields: { ...fieldsOfType('string', 'model name system'), verbose: 'bool', options: 'object' },
  },
  '/api/pull': {
    name: 'PullRequest',
    fields: { ...fieldsOfType('string', 'model name'), ...fieldsOfType('bool', 'insecure stream') },
  },
  '/api/create': {
    name: 'CreateRequest',
    fields: {
      ...fieldsOfType(
        'string',
        'model name from quantize remote_host template system renderer parser requires',
      ),
      ...fieldsOfType('object', 'files adapters draft_files info parameters'),
      ...{ stream: 'bool', license: 'any', messages: 'array' },
    },
  },
  '/api/copy': { name: 'CopyRequest', fields: fieldsOfType('string', 'source destination') },
  '/api/delete': { name: 'DeleteRequest', fields: fieldsOfType('string', 'model name') },
};

function fieldsOfType(type: FieldType, names: string): Readonly<Record<string, FieldType>> {
  return Object.fromEntries(names.split(' ').map((name) => [name, type]));
}

function parseBody(text: string): unknown {
  const start = text.trimStart();
  if (start === '') throw badRequest('missing request body');
  if (!/^[[{"\d\-tfn]/.test(start)) throw unexpected(start, 'looking for beginning of value');
  const end = endOfValue(start);
  if (end === undefined) throw badRequest('unexpected EOF');
  const value = tryJson(start.slice(0, end));
  if (value === undefined) throw unexpected(start, 'in literal or after value');
  return value;
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

function unexpected(text: string, where: string): ApiFailure {
  return badRequest(`invalid character '${text.slice(0, 1)}' ${where}`);
}

function readFields(body: unknown, { name: struct, fields: types }: Struct): Fields {
  if (!isRecord(body))
    throw badRequest(`json: cannot unmarshal ${jsonType(body)} into Go value of type api.${struct}`);
  const names = new Map(Object.keys(types).map((name) => [name.toLowerCase(), name]));
  const fields: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(body)) {
    const name = names.get(key.toLowerCase());
    if (name === undefined || value === null) continue;
    checkType(value, types[name] ?? 'any', `${struct}.${name}`);
    fields[name] = value;
  }
  return fields;
}

/** The texts for content parts, for arguments as a string, and for an image that is not base64. */
function checkMessage(message: unknown): void {
  if (!isRecord(message))
    throw badRequest('json: cannot unmarshal into Go struct field ChatRequest.messages');
  for (const field of ['role', 'content', 'thinking']) {
    const value = message[field] ?? undefined;
    if (value !== undefined) checkType(value, 'string', `ChatRequest.messages.${field}`);
  }
  for (const call of listOf(message['tool_calls'])) {
    const called = isRecord(call) ? call['function'] : undefined;
    if (isRecord(called) && typeof called['arguments'] === 'string')
      throw badRequest("Value looks like object, but can't find closing '}' symbol");
  }
  for (const image of listOf(message['images'])) {
    const at = textOf(image).search(/[^A-Za-z0-9+/=\r\n]/);
    if (at !== -1) throw badRequest(`illegal base64 data at input byte ${at}`);
  }
}

const goTypes: Readonly<Record<FieldType, string>> = {
  string: 'string',
  bool: 'bool',
  int: 'int',
  object: 'map[string]interface {}',
  array: '[]interface {}',
  any: 'interface {}',
};

function checkType(value: unknown, type: FieldType, path: string): void {
  const actual = jsonType(value);
  const fits =
    type === 'any' || actual === type || (type === 'int' && actual === 'number' && Number.isInteger(value));
  if (fits) return;
  const came = actual === 'number' && type === 'int' ? `number ${String(value)}` : actual;
  throw badRequest(`json: cannot unmarshal ${came} into Go struct field ${path} of type ${goTypes[type]}`);
}

function jsonType(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'number' || typeof value === 'string' ? typeof value : 'object';
}
