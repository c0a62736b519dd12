import type { ZodMiniType } from 'zod/mini';
import { InvalidParamsError } from '../errors.ts';

/** A schema whose result is exactly a type of the protocol. */
export type Schema<T> = ZodMiniType<T>;

/**
 * The value, checked; unknown keys are left out.
 * @throws {InvalidParamsError} that names the first thing that is wrong, such as `messages[0].role`.
 */
export function validate<T>(schema: Schema<T>, value: unknown, root = ''): T {
  const parsed = schema.safeParse(isNothing(value) ? {} : value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new InvalidParamsError(
    pathOf(issue?.path ?? [], root),
    issue?.message ?? 'it is not as the protocol says',
  );
}

/** An empty object of Lua goes over the wire as an empty array. */
function isNothing(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

function pathOf(path: readonly PropertyKey[], root: string): string {
  return path.reduce<string>(
    (text, part) =>
      typeof part === 'number' ? `${text}[${part}]` : text === '' ? String(part) : `${text}.${String(part)}`,
    root,
  );
}
