/** The part of JSON Schema that the settings in the manifest use. */
export interface ValueSchema {
  readonly type?: string | readonly string[];
  readonly items?: ValueSchema;
  readonly properties?: Readonly<Record<string, ValueSchema>>;
  readonly required?: readonly string[];
  readonly minimum?: number;
}

/** Whether a value matches its schema. Any value matches without one. */
export function fits(value: unknown, schema: ValueSchema | undefined): boolean {
  if (schema === undefined) return true;
  const { type, items, properties = {}, required = [], minimum = Number.NEGATIVE_INFINITY } = schema;
  if (type !== undefined && ![type].flat().some((one) => isOfType(value, one))) return false;
  if (typeof value === 'number') return value >= minimum;
  if (Array.isArray(value)) return value.every((item) => fits(item, items));
  if (typeof value !== 'object' || value === null) return true;
  return (
    required.every((key) => Object.hasOwn(value, key)) &&
    Object.entries(value).every(([key, inner]) => fits(inner, properties[key]))
  );
}

function isOfType(value: unknown, type: string): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  return typeof value === type;
}
