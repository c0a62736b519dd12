import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Compares with a file under `test/fixtures/golden`; with `ACCEPT=1` the file becomes what is.
 * Returns what is and what was accepted, for the test's own comparison.
 */
export function golden(
  name: string,
  actual: unknown,
): { readonly actual: string; readonly accepted: string } {
  const path = join('test', 'fixtures', 'golden', name);
  const text = `${JSON.stringify(actual, null, 1)}\n`;
  if (process.env['ACCEPT'] === '1') {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return { actual: text, accepted: existsSync(path) ? readFileSync(path, 'utf8') : '' };
}

/** A description without its sentences, which may be worded anew, and without its version. */
export function withoutProse(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutProse);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(
    ([key, inner]) => !(['description', 'summary', 'version'].includes(key) && typeof inner === 'string'),
  );
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutProse(inner)]));
}
