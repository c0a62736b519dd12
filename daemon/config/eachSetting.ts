import { InvalidParamsError } from '../base/errors.ts';
import { validate } from '../base/validate.ts';
import { schemaFor } from './settings.ts';

/** Settings that were read one by one, so that a wrong one leaves the others. */
export interface SettingsRead {
  /** By name; null is what is not set. */
  readonly taken: Readonly<Record<string, unknown>>;
  readonly wrong: readonly InvalidParamsError[];
  /** Paths of keys that nobody knows, such as `timeouts.conect`. */
  readonly unknown: readonly string[];
}

/** Those of the settings that may stand here; the others are unknown. `root` stands before the paths of errors. */
export function readEach(value: unknown, root: string, isAllowed: (name: string) => boolean): SettingsRead {
  const taken: Record<string, unknown> = {};
  const wrong: InvalidParamsError[] = [];
  const unknown: string[] = [];
  for (const [name, given] of entriesOf(value)) {
    const set = withoutUnset({ [name]: given });
    try {
      if (!isAllowed(name)) unknown.push(name);
      else if (Object.keys(set).length === 0) taken[name] = null;
      else {
        const read = validate(schemaFor(set), set, root);
        unknown.push(...unknownKeys(set, read));
        Object.assign(taken, read);
      }
    } catch (error) {
      if (!(error instanceof InvalidParamsError)) throw error;
      wrong.push(error);
    }
  }
  return { taken, wrong, unknown };
}

/** Editors say `null` or `""` for what is not set. */
export function withoutUnset(value: unknown): object {
  return Object.fromEntries(
    entriesOf(value).flatMap(([key, given]) =>
      given === null || given === '' ? [] : [[key, withoutNull(given)] as const],
    ),
  );
}

/** Also inside of a setting, such as a single time limit. */
function withoutNull(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNull);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([, inner]) => inner !== null);
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutNull(inner)]));
}

/** Where something was given that was not taken, such as `timeouts.conect` or `servers[0].path`. */
export function* unknownKeys(given: unknown, taken: unknown, path = ''): Generator<string> {
  if (typeof given !== 'object' || given === null || typeof taken !== 'object' || taken === null) return;
  for (const [key, value] of Object.entries(given)) {
    const at = Array.isArray(given) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;
    if (Object.hasOwn(taken, key)) yield* unknownKeys(value, Reflect.get(taken, key), at);
    else yield at;
  }
}

/** An empty object of Lua comes as an empty array. */
function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
}
