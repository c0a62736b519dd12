import { isRecord } from '../../protocol/base/json.ts';

/** Keywords whose value is a schema, schemas by name, or a list of schemas. */
const ofOne = ['items', 'additionalProperties', 'not', 'contains', 'propertyNames', 'if', 'then', 'else'];
const byName = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'];
const ofList = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
/** One of them at least says what an answer looks like. Without any, a file is probably something else. */
const telling = ['type', 'enum', 'const', '$ref', ...ofOne, ...byName, ...ofList];
const types = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];

/**
 * Why an object is no JSON Schema for an answer; undefined if it looks like one. It checks what people get wrong by
 * hand; the runner reads the rest.
 */
export function problemOfSchema(schema: Readonly<Record<string, unknown>>): string | undefined {
  if (!telling.some((keyword) => Object.hasOwn(schema, keyword)))
    return 'it has none of the keywords of a JSON Schema, such as "type"';
  return problemIn(schema, '');
}

function problemIn(schema: unknown, place: string): string | undefined {
  if (typeof schema === 'boolean' && place !== '') return undefined;
  if (!isRecord(schema)) return `${place} is no schema`;
  const at = (keyword: string) => `${place}/${keyword}`;
  const { type, required, enum: values } = schema;
  const named = Array.isArray(type) ? type : [type];
  if (type !== undefined && (named.length === 0 || !named.every((name) => types.includes(name))))
    return `${at('type')} is none of ${types.join(', ')}`;
  if (
    required !== undefined &&
    !(Array.isArray(required) && required.every((name) => typeof name === 'string'))
  )
    return `${at('required')} is no list of names`;
  if (values !== undefined && !Array.isArray(values)) return `${at('enum')} is no list`;
  return (
    firstOf(ofOne, (keyword) => (keyword in schema ? problemIn(schema[keyword], at(keyword)) : undefined)) ??
    firstOf(byName, (keyword) =>
      keyword in schema ? problemOfNamed(schema[keyword], at(keyword)) : undefined,
    ) ??
    firstOf(ofList, (keyword) =>
      keyword in schema ? problemOfList(schema[keyword], at(keyword)) : undefined,
    )
  );
}

function problemOfNamed(schemas: unknown, place: string): string | undefined {
  if (!isRecord(schemas)) return `${place} is no object`;
  return firstOf(Object.entries(schemas), ([name, schema]) =>
    problemIn(schema, `${place}/${name.slice(0, 60)}`),
  );
}

function problemOfList(schemas: unknown, place: string): string | undefined {
  if (!Array.isArray(schemas) || schemas.length === 0) return `${place} is no list of schemas`;
  return firstOf([...schemas.entries()], ([index, schema]) => problemIn(schema, `${place}/${index}`));
}

function firstOf<T>(all: readonly T[], find: (one: T) => string | undefined): string | undefined {
  for (const one of all) {
    const found = find(one);
    if (found !== undefined) return found;
  }
  return undefined;
}
