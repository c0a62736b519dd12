import { isRecord } from '../coerce.ts';

const schemaTypes = /^(?:string|number|integer|boolean|array|object|null)$/;

/**
 * Whether the schema of a tool stands in place of its arguments, or the schema of each argument in place of its value:
 * then the tool is described, not called.
 */
export function isDefinition(given: Readonly<Record<string, unknown>>, inputSchema: unknown): boolean {
  const own = isRecord(inputSchema) && isRecord(inputSchema['properties']) ? inputSchema['properties'] : {};
  if (isRecord(given['properties']) && !Object.hasOwn(own, 'properties')) return true;
  const entries = Object.entries(given);
  return entries.length > 0 && entries.every(([key, value]) => isSchema(value) && isPlain(own[key]));
}

function isSchema(value: unknown): boolean {
  return isRecord(value) && typeof value['type'] === 'string' && schemaTypes.test(value['type']);
}

/** Whether a parameter is declared with values that are no objects. */
function isPlain(declared: unknown): boolean {
  const type = isRecord(declared) ? declared['type'] : undefined;
  return typeof type === 'string' && type !== 'object' && type !== 'array';
}
