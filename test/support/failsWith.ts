/** What an error must have, for `t.rejects` and `t.throws`, whose types know of `Error`'s own properties alone. */
export function failsWith(properties: Readonly<Record<string, unknown>>): Error {
  return properties as unknown as Error;
}
