/**
 * Encodes like Go's encoder: `<`, `>`, `&` and the line separators U+2028/2029 are escaped, and half a surrogate pair
 * becomes U+FFFD. So a client that looks for tags in the bytes fails here too, as it would with a real runner.
 */
export function encodeJson(value: unknown): string {
  const json = JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'string' ? part.replace(loneSurrogate, '\uFFFD') : part,
  );
  return json.replace(escaped, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const loneSurrogate = /\p{Surrogate}/gu;
const escaped = /[<>&\u2028\u2029]/g;

/** RFC 3339 in Go's form: UTC, without trailing zeros in the fraction. */
export function goTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.?0*Z$/, 'Z');
}
