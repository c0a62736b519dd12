import { isRecord } from '../../protocol/base/json.ts';
import type { InitializationOptions } from '../../protocol/messages/initialize.ts';
import type { ChangedOptions } from '../../protocol/messages/settings.ts';
import { InvalidParamsError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { validate } from '../base/validate.ts';
import { isChangeable, schemaFor, settings } from './settingsTable.ts';

/** How many unknown keys are named, since a workspace may have any number of them. */
const maxNamed = 20;

export type SettingsReader = ReturnType<typeof createSettingsReader>;

/** Reads the options of one session. */
export function createSettingsReader(log: Log) {
  const named = new Set<string>();
  let waiting: (() => void)[] | undefined = [];

  const warn: Log['warn'] = (text, more) => {
    if (waiting) waiting.push(() => log.warn(text, more));
    else log.warn(text, more);
  };
  const warnOnce = (key: string, text: string) => {
    if (named.has(key) || named.size >= maxNamed) return;
    named.add(key);
    warn(text);
  };
  const nameUnknown = (keys: Iterable<string>) => {
    for (const key of keys)
      warnOnce(
        key,
        Object.hasOwn(settings, key)
          ? `The setting "${key}" counts in initializationOptions alone; here it is left out.`
          : `There is no setting "${key.slice(0, 100)}"; it is left out. docs/PROTOCOL.md lists the settings.`,
      );
  };

  return {
    /** @throws {InvalidParamsError} with the first that is wrong. */
    start(value: unknown): InitializationOptions {
      const given = withoutUnset(value);
      const options = validate(schemaFor(given), given, 'initializationOptions');
      nameUnknown(unknownKeys(given, options));
      return options;
    },
    /** A wrong setting is logged, and keeps its value; a wrong entry of a list is left out of it. */
    change(value: unknown): ChangedOptions {
      const { taken, wrong, unknown } = readEach(value, 'runner', isChangeable);
      nameUnknown(unknown);
      for (const { message, path, problem } of wrong)
        warn(
          `${/\w\[\d+\]/.test(path) ? 'An entry is left out.' : 'A setting is left as it was.'} ${message}`,
          {
            code: 'setting',
            refused: { path, problem },
          },
        );
      return taken;
    },
    /** The log now reaches the editor: unknown keys are named in it, once each. */
    ready(): void {
      for (const write of waiting ?? []) write();
      waiting = undefined;
    },
  };
}

/** Settings that were read one by one, so that a wrong one leaves the others, and a wrong entry of a list the rest. */
interface SettingsRead {
  /** By name; null means that the setting is not set. */
  readonly taken: Readonly<Record<string, unknown>>;
  readonly wrong: readonly InvalidParamsError[];
  /** Paths of unknown keys, such as `timeouts.conect`. */
  readonly unknown: readonly string[];
}

/** Reads the settings that are allowed here; all others are unknown. `root` precedes the paths of errors. */
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
        const { given, read, errors } = readList(name, set, root);
        wrong.push(...errors);
        unknown.push(...unknownKeys(given, read));
        Object.assign(taken, read);
      }
    } catch (error) {
      if (!(error instanceof InvalidParamsError)) throw error;
      wrong.push(error);
    }
  }
  return { taken, wrong, unknown };
}

/**
 * A wrong entry of a list is left out alone. Its error has the index that it had for the user.
 * @throws {InvalidParamsError} if the setting is no list.
 */
function readList(name: string, set: object, root: string) {
  const list: unknown = Reflect.get(set, name);
  const left = Array.isArray(list) ? list.map((_, index) => index) : [];
  const errors: InvalidParamsError[] = [];
  for (;;) {
    const given = Array.isArray(list) ? { [name]: left.map((index) => list[index]) } : set;
    try {
      return { given, read: validate(schemaFor(given), given, root), errors };
    } catch (error) {
      const before = root === '' ? name : `${root}.${name}`;
      const path = error instanceof InvalidParamsError ? error.path : '';
      const [, at] = (path.startsWith(before) && /^\[(\d+)\]/.exec(path.slice(before.length))) || [];
      if (at === undefined || !(error instanceof InvalidParamsError)) throw error;
      const [index] = left.splice(Number(at), 1);
      const inner = path.slice(before.length + at.length + 2);
      errors.push(new InvalidParamsError(`${before}[${index}]${inner}`, error.problem));
    }
  }
}

/** Editors send `null` or `""` for a setting that is not set. */
export function withoutUnset(value: unknown): object {
  return Object.fromEntries(
    entriesOf(value).flatMap(([key, given]) =>
      given === null || given === '' ? [] : [[key, withoutNull(given)] as const],
    ),
  );
}

/** Removes null also within a setting, such as a single time limit. */
function withoutNull(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNull);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([, inner]) => inner !== null);
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutNull(inner)]));
}

/** Paths of keys that were given but not read, such as `timeouts.conect` or `servers[0].path`. */
function* unknownKeys(given: unknown, taken: unknown, path = ''): Generator<string> {
  if (typeof given !== 'object' || given === null || typeof taken !== 'object' || taken === null) return;
  for (const [key, value] of Object.entries(given)) {
    const at = Array.isArray(given) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;
    if (Object.hasOwn(taken, key)) yield* unknownKeys(value, Reflect.get(taken, key), at);
    else yield at;
  }
}

/** Lua sends an empty object as an empty array. */
function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  return isRecord(value) ? Object.entries(value) : [];
}
