import type { ChangedOptions, InitializationOptions } from '../../protocol/initialize.ts';
import { InvalidParamsError } from '../errors.ts';
import type { Log } from '../log.ts';
import { validate } from '../rpc/validate.ts';
import { initializationSchema, isChangeable, schemaOf, settings } from './settings.ts';

/** Reads the options of one session. */
export interface SettingsReader {
  /** @throws {InvalidParamsError} with the first that is wrong. */
  start(value: unknown): InitializationOptions;
  /** What is wrong is logged, and keeps its value. */
  change(value: unknown): ChangedOptions;
  /** The log reaches somebody now: what nobody knows is named in it, once each. */
  ready(): void;
}

/** So many unknown keys are named; a workspace may have any number of them. */
const maxNamed = 20;

export function createSettingsReader(log: Log): SettingsReader {
  const named = new Set<string>();
  let waiting: (() => void)[] | undefined = [];

  const warn = (text: string) => {
    if (waiting) waiting.push(() => log.warn(text));
    else log.warn(text);
  };
  const warnOnce = (key: string, text: string) => {
    if (named.has(key) || named.size >= maxNamed) return;
    named.add(key);
    warn(text);
  };
  const nameUnknown = (given: unknown, taken: unknown) => {
    for (const key of unknownKeys(given, taken))
      warnOnce(
        key,
        `There is no setting "${key.slice(0, 100)}"; it is left out. docs/PROTOCOL.md lists the settings.`,
      );
  };

  return {
    start(value) {
      const given = withoutUnset(value);
      const options = validate(initializationSchema, given, 'initializationOptions');
      nameUnknown(given, options);
      return options;
    },
    change(value) {
      const changes: Record<string, unknown> = {};
      for (const [name, given] of entriesOf(value)) {
        if (isChangeable(name))
          try {
            Object.assign(changes, readSetting(name, given, nameUnknown));
          } catch (error) {
            if (!(error instanceof InvalidParamsError)) throw error;
            warn(`A setting is left as it was. ${error.message}`);
          }
        else if (Object.hasOwn(settings, name))
          warnOnce(name, `The setting "${name}" counts in initializationOptions alone; here it is left out.`);
        else nameUnknown({ [name]: given }, {});
      }
      return changes;
    },
    ready() {
      for (const tell of waiting ?? []) tell();
      waiting = undefined;
    },
  };
}

function readSetting(
  name: Parameters<typeof schemaOf>[0],
  given: unknown,
  nameUnknown: (given: unknown, taken: unknown) => void,
): ChangedOptions {
  const unset = withoutUnset({ [name]: given });
  if (Object.keys(unset).length === 0) return { [name]: null };
  const taken = validate(schemaOf(name), unset, 'runner');
  nameUnknown(unset, taken);
  return taken;
}

/** Editors say `null` or `""` for what is not set. */
function withoutUnset(value: unknown): object {
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
function* unknownKeys(given: unknown, taken: unknown, path = ''): Generator<string> {
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
