import type { core, output, ZodMiniType } from 'zod/mini';
import { expectationOf, type Finding } from '../../protocol/base/expectation.ts';
import { InvalidParamsError } from './errors.ts';

declare const exactly: unique symbol;
declare const keys: unique symbol;

/**
 * A schema whose result is exactly `T`. If one of them has an optional key that the other lacks, the code does not
 * compile. Only {@link exact} creates such a schema.
 */
export type Schema<T> = ZodMiniType<T> & {
  readonly [exactly]: (same: Identity<Writable<T>>) => Identity<Writable<T>>;
  // This makes the compiler compare the property above for each pair of types; otherwise it would only check
  // assignability.
  readonly [keys]: { -readonly [K in keyof T]-?: T[K] };
};

/** Two of these are assignable to each other only if their types are identical. */
type Identity<T> = <G>() => G extends T ? 1 : 2;

/** Schemas have no `readonly`, and they write intersections as one object. */
type Writable<T> = T extends object ? { -readonly [K in keyof T]: Writable<T[K]> } : T;

export function exact<S extends ZodMiniType>(schema: S): Schema<output<S>> {
  return schema as ZodMiniType<output<S>> as Schema<output<S>>;
}

/**
 * Checks a value and returns it without unknown keys.
 * @throws {InvalidParamsError} that names the first mistake, such as `messages[0].role`.
 */
export function validate<T>(schema: Schema<T>, value: unknown, root = ''): T {
  const parsed = schema.safeParse(isNothing(value) ? {} : value, { error: problemOf });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new InvalidParamsError(pathOf(issue?.path ?? [], root), issue?.message ?? unclear);
}

const unclear = 'it is not as the protocol says';

/** What was expected, for a mistake that its schema has no words for. The value itself may be a secret. */
function problemOf(issue: core.$ZodRawIssue): string {
  const finding = findingOf(issue);
  const expectation = finding && expectationOf(finding);
  return expectation === undefined ? unclear : `it ${expectation}`;
}

function findingOf(issue: core.$ZodRawIssue): Finding | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return { keyword: 'type', type: issue.expected };
    case 'invalid_value':
      return { keyword: 'enum', values: issue.values };
    case 'too_small':
      return isNumber(issue.origin) ? { keyword: 'minimum', limit: Number(issue.minimum) } : undefined;
    case 'too_big':
      return isNumber(issue.origin) ? { keyword: 'maximum', limit: Number(issue.maximum) } : undefined;
    default:
      return undefined;
  }
}

function isNumber(origin: string): boolean {
  return origin === 'number' || origin === 'int';
}

/** Lua sends an empty object as an empty array. */
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
