import { type ErrorKind, errorCodes } from '../../protocol/messages/errors.ts';
import { protocolVersion } from '../../protocol/messages/initialize.ts';
import type { JsonSchema, ProtocolMessage, ProtocolTypes } from './schema.ts';

const about = `Messages between an editor and runnerd --stdio, besides those of the Language Server Protocol (LSP) 3.18. Frames, order and rules are in docs/PROTOCOL.md. A client ignores what it does not know: fields, notifications, kinds, reasons and codes may be added within version ${protocolVersion}.`;

/** Every message as JSON Schema: types, and each message whole, as it is on the wire. */
export function schemaDocument({ messages, types }: ProtocolTypes): string {
  const all = messages.flatMap(wholeMessages);
  const refs = (from: string) =>
    all.filter((each) => each.from === from).map(({ name }) => ({ $ref: `#/$defs/${name}` }));
  return asJson({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'The protocol between editors and runnerd',
    description: about,
    anyOf: [{ $ref: '#/$defs/MessageOfClient' }, { $ref: '#/$defs/MessageOfDaemon' }],
    $defs: {
      ...types,
      MessageOfClient: { anyOf: refs('client') },
      MessageOfDaemon: { anyOf: [...refs('daemon'), { $ref: '#/$defs/ErrorResponse' }] },
      ErrorResponse: errorResponse,
      ...Object.fromEntries(all.map(({ name, schema }) => [name, schema])),
    },
  });
}

const errorResponse: JsonSchema = {
  type: 'object',
  description: 'The answer to a request that failed.',
  properties: {
    jsonrpc: { const: '2.0' },
    id: { type: ['string', 'integer', 'null'] },
    error: {
      type: 'object',
      properties: {
        code: { type: 'integer' },
        message: { type: 'string', description: 'It says what to do next.' },
        data: { anyOf: [{ $ref: '#/$defs/ErrorData' }, { $ref: '#/$defs/InvalidParamsData' }] },
      },
      required: ['code', 'message'],
    },
  },
  required: ['jsonrpc', 'id', 'error'],
};

/** A request and its answer, or a notification. `runner/chat` becomes `RunnerChatRequest` and `RunnerChatResponse`. */
function wholeMessages({ method, from, description, params, result }: ProtocolMessage) {
  const name = method.replace(/(?:^\$?|\/)(\w)/g, (_, letter: string) => letter.toUpperCase());
  const whole = (fields: Readonly<Record<string, JsonSchema>>): JsonSchema => ({
    type: 'object',
    properties: { jsonrpc: { const: '2.0' }, ...fields },
    required: ['jsonrpc', ...Object.keys(fields)],
  });
  const id = { type: ['string', 'integer'] };
  if (!result)
    return [
      {
        name: `${name}Notification`,
        from,
        schema: { description, ...whole({ method: { const: method }, params }) },
      },
    ];
  return [
    {
      name: `${name}Request`,
      from,
      schema: { description, ...whole({ id, method: { const: method }, params }) },
    },
    { name: `${name}Response`, from: from === 'client' ? 'daemon' : 'client', schema: whole({ id, result }) },
  ];
}

/** The same for programs that read OpenRPC, which lists parameters one by one. */
export function openRpcDocument({ messages, types, errors }: ProtocolTypes): string {
  const schemas = moved(types) as Readonly<Record<string, JsonSchema>>;
  return asJson({
    openrpc: '1.3.2',
    info: {
      title: 'The protocol between editors and runnerd',
      version: `${protocolVersion}.0.0`,
      description: about,
    },
    methods: messages.map(({ method, from, description, params, result }) => ({
      name: method,
      tags: [{ name: `from ${from}` }, { name: result ? 'request' : 'notification' }],
      description,
      paramStructure: 'by-name',
      params: descriptorsOf(moved(params) as JsonSchema, schemas),
      ...(result
        ? {
            result: { name: 'result', schema: moved(result) },
            errors: [{ $ref: '#/components/errors/invalid-params' }],
          }
        : {}),
      'x-params': moved(params),
    })),
    components: {
      schemas,
      errors: {
        'invalid-params': {
          code: -32602,
          message: 'A parameter is wrong; data says which, and why.',
          data: { $ref: '#/components/schemas/InvalidParamsData' },
        },
        ...Object.fromEntries(
          errors.map(({ text, description }) => [
            text,
            {
              code: errorCodes[text as ErrorKind],
              message: description,
              data: { $ref: '#/components/schemas/ErrorData' },
            },
          ]),
        ),
      },
    },
  });
}

function descriptorsOf(params: JsonSchema, schemas: Readonly<Record<string, JsonSchema>>): readonly object[] {
  const whole = resolved(params, schemas);
  const choices = (whole.anyOf ?? [whole]).map((choice) => resolved(choice, schemas));
  const fields = new Map(choices.flatMap(({ properties = {} }) => Object.entries(properties)));
  return [...fields].map(([name, { description, ...schema }]) => ({
    ...{ name, ...(description === undefined ? {} : { description }) },
    required: choices.every(({ required = [] }) => required.includes(name)),
    schema,
  }));
}

/** The schema behind a reference. */
export function resolved(schema: JsonSchema, types: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined ? schema : resolved(types[name] ?? {}, types);
}

/** References lead to where OpenRPC keeps schemas. */
function moved(schema: unknown): unknown {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/'));
}

function asJson(value: unknown): string {
  return `${JSON.stringify(value, null, 1)}\n`;
}
