import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { isRecord } from '../../protocol/base/json.ts';

/** Holds messages to docs/protocol/schema.json, as clients read it. */
export interface ProtocolModel {
  /** What is wrong with a part of a message; undefined if nothing is, or if the message is not Runner's own. */
  problemWith(method: string, part: 'params' | 'result', value: unknown): string | undefined;
}

interface WholeMessage {
  readonly properties?: {
    readonly method?: { readonly const: string };
    readonly params?: object;
    readonly result?: object;
  };
}

/** The daemon sends no field that the schema does not have; clients may. */
export type Strictness = 'closed' | 'open';

const models = new Map<Strictness, ProtocolModel>();

/** Read once for a test file; a message is compiled when it is first seen. */
export function protocolModel(strictness: Strictness): ProtocolModel {
  const model = models.get(strictness) ?? createModel(strictness);
  models.set(strictness, model);
  return model;
}

function readProtocolSchema(): { readonly $defs: Readonly<Record<string, WholeMessage>> } {
  return JSON.parse(readFileSync('docs/protocol/schema.json', 'utf8'));
}

function createModel(strictness: Strictness): ProtocolModel {
  const schema = readProtocolSchema();
  const ajv = new Ajv2020({ strict: false, validateSchema: false, validateFormats: false });
  ajv.addSchema(strictness === 'closed' ? (closed(schema) as object) : schema, 'own');
  const methods = new Map(
    Object.entries(schema.$defs).flatMap(([name, { properties }]) =>
      properties?.method ? [[properties.method.const, name] as const] : [],
    ),
  );
  const checks = new Map<string, ValidateFunction>();
  return {
    problemWith(method, part, value) {
      const name = methods.get(method);
      if (name === undefined)
        return method.startsWith('runner/') ? 'the schema has no such method' : undefined;
      const whole = part === 'params' ? name : name.replace(/Request$/, 'Response');
      const reference = `own#/$defs/${whole}/properties/${part}`;
      const check = checks.get(reference) ?? ajv.compile({ $ref: reference });
      checks.set(reference, check);
      if (check(value)) return undefined;
      return `${method} against docs/protocol/schema.json: ${ajv.errorsText(check.errors?.slice(0, 5), { dataVar: part })}`;
    },
  };
}

/** Objects with fields have no other ones. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (!isRecord(schema)) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  return isRecord(schema['properties']) && schema['type'] === 'object'
    ? { ...inner, additionalProperties: false }
    : inner;
}
