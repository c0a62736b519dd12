import type { ChangedOptions, InitializationOptions } from '../../protocol/messages/initialize.ts';
import type { Log } from '../base/log.ts';
import { validate } from '../base/validate.ts';
import { readEach, unknownKeys, withoutUnset } from './eachSetting.ts';
import { isChangeable, schemaFor, settings } from './settings.ts';

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
    start(value) {
      const given = withoutUnset(value);
      const options = validate(schemaFor(given), given, 'initializationOptions');
      nameUnknown(unknownKeys(given, options));
      return options;
    },
    change(value) {
      const { taken, wrong, unknown } = readEach(value, 'runner', isChangeable);
      nameUnknown(unknown);
      for (const { message, path, problem } of wrong)
        warn(`A setting is left as it was. ${message}`, { code: 'setting', refused: { path, problem } });
      return taken;
    },
    ready() {
      for (const tell of waiting ?? []) tell();
      waiting = undefined;
    },
  };
}
