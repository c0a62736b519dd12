import { badRequest } from './failure.ts';

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

const milliseconds: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

/**
 * `keep_alive` in milliseconds. A number is seconds, a string is a Go duration, and a negative value means for ever.
 * @throws {ApiFailure} 400 with the texts of Go's `time.ParseDuration`.
 */
export function parseKeepAlive(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'number') return value < 0 ? Number.POSITIVE_INFINITY : value * 1_000;
  if (typeof value !== 'string') throw badRequest(`Unsupported type: '${goType(value)}'`);
  const duration = parseDuration(value);
  return duration < 0 ? Number.POSITIVE_INFINITY : duration;
}

function parseDuration(text: string): number {
  if (text === '0') return 0;
  const [, sign = '', rest = ''] = /^([+-]?)(.*)$/s.exec(text) ?? [];
  if (!/^[\d.]/.test(rest)) throw badRequest(`time: invalid duration ${JSON.stringify(text)}`);
  let total = 0;
  for (const [, amount = '', unit = ''] of rest.matchAll(/([\d.]+)([^\d.]*)/g)) {
    if (unit === '') throw badRequest(`time: missing unit in duration ${JSON.stringify(text)}`);
    const factor = milliseconds[unit];
    if (factor === undefined) throw badRequest(`time: unknown unit "${unit}" in duration "${text}"`);
    total += Number(amount) * factor;
  }
  return sign === '-' ? -total : total;
}

function goType(value: unknown): string {
  if (typeof value === 'boolean') return 'bool';
  return Array.isArray(value) ? '[]interface {}' : 'map[string]interface {}';
}
