import type { core, output, ZodMiniType } from 'zod/mini';
import { expectationOf, type Finding } from '../../protocol/base/expectation.ts';
import { isRecord } from '../../protocol/base/json.ts';
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
 * Checks a value and returns it without unknown keys. `null` is absent where the schema refuses it, and nothing is a
 * map where it wants one.
 * @throws {InvalidParamsError} that names the first mistake, such as `messages[0].role`.
 */
export function validate<T>(schema: Schema<T>, value: unknown, root = ''): T {
  const parse = (one: unknown) => schema.safeParse(isNothing(one) ? {} : one, { error: problemOf });
  let parsed = parse(value);
  for (let copy: unknown; !parsed.success; parsed = parse(copy)) {
    copy = structuredClone(copy ?? value);
    if (!fillNothing(copy, parsed.error.issues)) break;
  }
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new InvalidParamsError(pathOf(issue?.path ?? [], root), issue?.message ?? unclear);
}

/** Lisp has one value for `null`, false, an empty list and an empty map, and Lua one for the last two. */
function fillNothing(
  value: unknown,
  issues: readonly core.$ZodIssue[],
  above: readonly PropertyKey[] = [],
): boolean {
  let isChanged = false;
  for (const issue of issues) {
    const path = [...above, ...issue.path];
    const key = path.at(-1);
    const holder = path.slice(0, -1).reduce(ownValue, value);
    const found = key === undefined ? undefined : ownValue(holder, key);
    if (key === undefined || !isRecord(holder)) continue;
    if (found === null) isChanged = Reflect.deleteProperty(holder, key);
    else if (isEmptyMap(found, issue)) isChanged = Reflect.set(holder, key, {});
    else if (issue.code === 'invalid_union')
      for (const choice of issue.errors) isChanged = fillNothing(value, choice, path) || isChanged;
  }
  return isChanged;
}

/** The parts of a missing map with known keys are missed by their names. */
function isEmptyMap(found: unknown, issue: core.$ZodIssue): boolean {
  if (issue.code !== 'invalid_type' || !isNothing(found)) return false;
  return issue.expected === 'record' || (issue.expected === 'object' && found !== undefined);
}

function ownValue(holder: unknown, key: PropertyKey): unknown {
  return typeof holder === 'object' && holder !== null && Object.hasOwn(holder, key)
    ? Reflect.get(holder, key)
    : undefined;
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
