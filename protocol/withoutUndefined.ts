/** What may be undefined is exactly what may be left out. */
type Unset<T> = T extends unknown
  ? { [K in keyof T]: Partial<Pick<T, K>> extends Pick<T, K> ? T[K] | undefined : T[K] }
  : never;

/**
 * The object without its keys whose value is undefined: what is not known is left out of a message. The result's type
 * is the one that is wanted, so that a key too many and a required key without a value are errors.
 */
export function withoutUndefined<T extends object = never>(fields: Unset<NoInfer<T>>): T {
  const given: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(fields)) if (value !== undefined) given[key] = value;
  // The keys that are required have a value, as the parameter's type says.
  return given as T;
}
