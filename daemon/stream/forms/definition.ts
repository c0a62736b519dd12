import { isRecord } from '../coerce.ts';

const schemaTypes = /^(?:string|number|integer|boolean|array|object|null)$/;
const schemaWords =
  /^(?:type|title|description|enum|const|default|examples?|format|pattern|items|properties|required|nullable|additionalProperties|minimum|maximum|minLength|maxLength|minItems|maxItems|anyOf|oneOf)$/;
/** Beside these, a schema may accept parameters that it does not declare by name. */
const openWords = ['anyOf', 'oneOf', 'allOf', '$ref', 'additionalProperties', 'patternProperties', 'if'];

/**
 * Whether the schema of a tool stands in place of its arguments, or the schema of each argument in place of its value:
 * then the tool is described, not called.
 */
export function isDefinition(given: Readonly<Record<string, unknown>>, inputSchema: unknown): boolean {
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

/** Whether a parameter is declared with values that are no objects. */
function isPlain(declared: unknown): boolean {
  const type = isRecord(declared) ? declared['type'] : undefined;
  return typeof type === 'string' && type !== 'object' && type !== 'array';
}
