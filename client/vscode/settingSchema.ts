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
 * The value that counts. Null if the setting has its default, or the wrong type: the editor underlines that, the doctor
 * names it, and the other settings still count, as do the other entries of a list. The values of an untrusted workspace
 * are ignored, whatever the editor lets through.
 */
export function countingValue(
  merged: unknown,
  { defaultValue, globalValue, workspaceValue, workspaceFolderValue, schema, isTrusted }: SettingSource,
): unknown {
  const isOfWorkspace = workspaceValue !== undefined || workspaceFolderValue !== undefined;
  const whole = isOfWorkspace && !isTrusted ? globalValue : merged;
  const isRight = (item: unknown) => problemOf(item, schema?.items) === undefined;
  const value = Array.isArray(whole) ? whole.filter(isRight) : whole;
  const isDefault = JSON.stringify(value) === JSON.stringify(defaultValue);
  return value === undefined || isDefault || problemOf(value, schema) !== undefined ? null : value;
}

/** What is wrong with a value, such as `url is missing`; undefined if it matches its schema, or has none. */
export function problemOf(value: unknown, schema: ValueSchema | undefined, name = 'it'): string | undefined {
  if (schema === undefined) return undefined;
  const { type, items, properties = {}, required = [], minimum = Number.NEGATIVE_INFINITY } = schema;
  const types = [type ?? []].flat();
  if (types.length > 0 && !types.some((one) => isOfType(value, one)))
    return `${name} is not of the type ${types.join(' or ')}`;
  if (typeof value === 'number') return value >= minimum ? undefined : `${name} is less than ${minimum}`;
  if (typeof value !== 'object' || value === null) return undefined;
  const missing = required.find((key) => !Object.hasOwn(value, key));
  if (missing !== undefined) return `${missing} is missing`;
  const parts = Array.isArray(value)
    ? value.map((item) => problemOf(item, items, name))
    : Object.entries(value).map(([key, inner]) => problemOf(inner, properties[key], key));
  return parts.find((problem) => problem !== undefined);
}

/** The wrong entries of a list with what is wrong, or else the setting itself, such as `[1]: url is missing`. */
export function problemsOf(value: unknown, schema: ValueSchema | undefined): readonly string[] {
  const whole = schema && problemOf(value, Array.isArray(value) ? { ...schema, items: {} } : schema);
  if (whole !== undefined || !Array.isArray(value)) return whole === undefined ? [] : [`: ${whole}`];
  return value.flatMap((item, index) => {
    const problem = problemOf(item, schema?.items);
    return problem === undefined ? [] : [`[${index}]: ${problem}`];
  });
}

function isOfType(value: unknown, type: string): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  return typeof value === type;
}
