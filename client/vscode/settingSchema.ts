/** The part of JSON Schema that the settings in the manifest use. */
export interface ValueSchema {
  readonly type?: string | readonly string[];
  readonly items?: ValueSchema;
  readonly properties?: Readonly<Record<string, ValueSchema>>;
  readonly required?: readonly string[];
  readonly minimum?: number;
}

/** Of a setting such as `engine`, whose parts are the settings of the manifest, the schema is made of theirs. */
export function schemaOf(
  schemas: Readonly<Record<string, ValueSchema>>,
  name: string,
): ValueSchema | undefined {
  const parts = Object.entries(schemas).filter(([part]) => part.startsWith(`${name}.`));
  if (parts.length === 0) return schemas[name];
  const properties = Object.fromEntries(parts.map(([part, schema]) => [part.slice(name.length + 1), schema]));
  return { type: 'object', properties };
}

/** Where the value of a setting comes from, and what may be in it. */
export interface SettingSource {
  readonly defaultValue?: unknown;
  readonly globalValue?: unknown;
  readonly workspaceValue?: unknown;
  readonly workspaceFolderValue?: unknown;
  readonly schema: ValueSchema | undefined;
  /** Whether the workspace is trusted. */
  readonly isTrusted: boolean;
}

/**
 * The value that counts. Null if the setting has its default, or the wrong type: the editor underlines that, and the
 * other settings still count. The values of an untrusted workspace are ignored, whatever the editor lets through.
 */
export function countingValue(
  merged: unknown,
  { defaultValue, globalValue, workspaceValue, workspaceFolderValue, schema, isTrusted }: SettingSource,
): unknown {
  const isOfWorkspace = workspaceValue !== undefined || workspaceFolderValue !== undefined;
  const value = isOfWorkspace && !isTrusted ? globalValue : merged;
  const isDefault = JSON.stringify(value) === JSON.stringify(defaultValue);
  return value === undefined || isDefault || !fits(value, schema) ? null : value;
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
