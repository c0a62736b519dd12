/** Whether a value is an object with keys, and neither null nor a list. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value of a JSON text; undefined if the text is not JSON. */
export function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Exactly the optional keys may have the value undefined. */
type Unset<T> = T extends unknown
  ? { [K in keyof T]: Partial<Pick<T, K>> extends Pick<T, K> ? T[K] | undefined : T[K] }
  : never;

/**
 * Returns the object without the keys whose value is undefined, since a message leaves out what is not known. The type
 * parameter is the wanted result, so an extra key and a required key without a value do not compile.
 */
export function withoutUndefined<T extends object = never>(fields: Unset<NoInfer<T>>): T {
  const given: Record<string, unknown> = {};
  for (const key of Object.keys(fields)) {
    const value: unknown = Reflect.get(fields, key);
    if (value !== undefined) given[key] = value;
  }
  // Every required key has a value, as the parameter's type demands.
  return given as T;
}
