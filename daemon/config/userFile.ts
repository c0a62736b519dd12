import { statSync } from 'node:fs';
import * as z from 'zod/mini';
import { isRecord, withoutUndefined } from '../../protocol/base/json.ts';
import type { InitializationOptions } from '../../protocol/messages/initialize.ts';
import { builtinServer } from '../../protocol/messages/tools.ts';
import { indexOfFault } from './jsonFault.ts';
import { readEach } from './settingsReader.ts';
import { isOfUser, type SettingName } from './settingsTable.ts';

/** The user's own configuration over the life of a daemon. No other code reads the file. */
export interface UserFile {
  readonly path: string;
  /** The client has settings and tokens of its own. */
  readonly clientHasSettings: boolean;
  /** Its content when the daemon started; empty if the client has settings of its own. */
  readonly atStart: UserConfig;
  /** Its content now. Each problem is only in the first result that has it. */
  read(): Promise<UserConfig>;
}

export interface UserFileOptions {
  readonly path: string;
  /** If so, only the settings for every client count, and the file is not read before it is needed. */
  readonly clientHasSettings: boolean;
}

/** Larger configurations are not read. */
export const maxUserFileBytes = 1024 * 1024;

export async function openUserFile({ path, clientHasSettings }: UserFileOptions): Promise<UserFile> {
  const known = new Set<string>();
  const read = async () => {
    const config = await readUserConfig(path, clientHasSettings);
    const problems = config.problems.filter((problem) => !known.has(problem));
    for (const problem of problems) known.add(problem);
    return { ...config, problems };
  };
  return { path, clientHasSettings, read, atStart: clientHasSettings ? emptyUserConfig : await read() };
}

/** A missing file is an empty configuration. */
async function readUserConfig(path: string, clientHasSettings: boolean): Promise<UserConfig> {
  let text: string;
  try {
    // Most users have no file. Then this throws, and nothing is loaded to read it.
    statSync(path);
    const { readRegularFile } = await import('../base/regularFile.ts');
    text = await readRegularFile(path, maxUserFileBytes);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return emptyUserConfig;
    return unusableUserConfig(`The configuration ${path} cannot be read: ${message}.`);
  }
  return parseUserConfig(text, { path, clientHasSettings });
}

/** The content of the user's own configuration: sources of secrets, and settings. */
export interface UserConfig {
  readonly auth: readonly UserAuth[];
  /** All settings except those of tools. */
  readonly settings: InitializationOptions;
  readonly tools: UserTools;
  /** The settings of conversations. If one of them is wrong, no conversation is kept. */
  readonly sessions: Pick<InitializationOptions, 'keepSessions' | 'sessionDays'>;
  /** Sentences about what cannot be used. Everything else counts. */
  readonly problems: readonly string[];
}

type UserTools = Required<
  Pick<InitializationOptions, 'mcpServers' | 'approvals' | 'builtinTools' | 'checks'>
>;

/**
 * Names of the tool servers that are entered and not disabled, the built-in one first. An entry may still turn out to
 * be wrong.
 */
export function enabledServers({
  mcpServers,
  builtinTools,
}: Pick<UserTools, 'mcpServers' | 'builtinTools'>): readonly string[] {
  const entered = Object.entries(mcpServers).flatMap(([name, entry]) =>
    entry?.disabled === true || entry?.enabled === false || name === builtinServer ? [] : [name],
  );
  return builtinTools ? [builtinServer, ...entered] : entered;
}

/**
 * Where a secret comes from. Without an origin it belongs to the runner at the `host` of the start. A runner may get it
 * over plain http only if the entry says so and names the origin.
 */
export type UserAuth = {
  readonly origin?: string | undefined;
  readonly allowPlainHttp?: boolean | undefined;
} & (
  | { readonly command: readonly [string, ...string[]]; readonly file?: undefined }
  | { readonly file: string; readonly command?: undefined }
);

const authSchema = () => {
  const common = { origin: z.optional(z.url()), allowPlainHttp: z.optional(z.boolean()) };
  return z.union([
    z.object({ ...common, command: z.tuple([z.string()], z.string()) }),
    z.object({ ...common, file: z.string() }),
  ]);
};

export const emptyUserConfig: UserConfig = {
  auth: [],
  settings: {},
  tools: { mcpServers: {}, approvals: {}, builtinTools: false, checks: {} },
  sessions: {},
  problems: [],
};

/** A file that cannot be used. It may have said that no conversation is to be kept. */
export function unusableUserConfig(problem: string): UserConfig {
  return {
    ...emptyUserConfig,
    sessions: { keepSessions: false },
    problems: [`${problem} Nothing in it counts. ${keptNothing}`],
  };
}

const keptNothing = 'Until it is mended, no conversation is kept.';

interface UserConfigSource {
  readonly path: string;
  /** If so, only the settings for every client count. */
  readonly clientHasSettings: boolean;
}

/** A problem names the file, the key and, if it is known, its line. It never quotes the text. */
export function parseUserConfig(text: string, { path, clientHasSettings }: UserConfigSource): UserConfig {
  const value = jsonOrFault(text);
  if (value instanceof SyntaxError)
    return unusableUserConfig(
      `The configuration ${path}${lineAfter(text.slice(0, indexOfFault(text)))} is not JSON.`,
    );
  if (!isRecord(value)) return unusableUserConfig(`The configuration ${path} is not a JSON object.`);
  const leftOut = (key: string, why: string, whole = key) => {
    const what = whole === key ? 'which is left out' : `so all of "${whole}" is left out`;
    return `The configuration ${path}${lineOfKey(text, key)} has "${key}", ${what}: ${why}.`;
  };
  const { auth, ...rest } = value;
  const settings = readSettings(rest, { clientHasSettings, leftOut });
  const sources = z.array(authSchema()).safeParse([clientHasSettings ? [] : (auth ?? [])].flat());
  if (sources.success) return { ...settings, auth: sources.data as readonly UserAuth[] };
  const problem = leftOut(
    'auth',
    'it takes { origin?, command: [..] } or { origin?, file }, and "allowPlainHttp": true or false',
  );
  return { ...settings, auth: [], problems: [problem, ...settings.problems] };
}

interface SettingsReading {
  readonly clientHasSettings: boolean;
  /** `whole` is the setting that is left out because of the key. */
  readonly leftOut: (key: string, why: string, whole?: string) => string;
}

function readSettings(
  value: object,
  { clientHasSettings, leftOut }: SettingsReading,
): Omit<UserConfig, 'auth'> {
  const given = clientHasSettings
    ? Object.fromEntries(Object.entries(value).filter(([name]) => forEveryClient.has(name)))
    : value;
  const { taken, wrong, unknown } = readEach(given, '', isOfUser);
  const set: InitializationOptions = Object.fromEntries(
    Object.entries(taken).filter(([, setting]) => setting !== null),
  );
  const { mcpServers = {}, approvals = {}, builtinTools = false, checks = {}, ...settings } = set;
  const { keepSessions, sessionDays } = settings;
  const isOfSessions = (key: string) => key === 'keepSessions' || key === 'sessionDays';
  const isUnclear = wrong.some(({ path }) => isOfSessions(path));
  return {
    settings: clientHasSettings ? {} : settings,
    tools: { mcpServers, approvals, builtinTools, checks },
    sessions: isUnclear ? { keepSessions: false } : withoutUndefined({ keepSessions, sessionDays }),
    problems: [
      ...wrong.map(
        ({ path, problem }) =>
          `${leftOut(path, problem, settingOf(path))}${isOfSessions(path) ? ` ${keptNothing}` : ''}`,
      ),
      ...unknown.map((key) => leftOut(key, 'there is no such setting')),
    ],
  };
}

/** Such as `servers[1]` for `servers[1].name`, and `timeouts` for `timeouts.list`. */
function settingOf(path: string): string {
  return /^\w+\[\d+\]/.exec(path)?.[0] ?? path.replace(/[.[].*$/s, '');
}

/** These settings count even if the client has settings of its own. */
const forEveryClient: ReadonlySet<string> = new Set<SettingName>([
  'mcpServers',
  'approvals',
  'builtinTools',
  'checks',
  'keepSessions',
  'sessionDays',
]);

function jsonOrFault(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    return error;
  }
}

/** Empty if the key occurs more than once. */
function lineOfKey(text: string, path: string): string {
  const name = JSON.stringify(
    path
      .split('.')
      .at(-1)
      ?.replace(/\[\d+\]$/, ''),
  );
  const [before = '', ...after] = text.split(name);
  return after.length === 1 ? lineAfter(before) : '';
}

function lineAfter(before: string): string {
  return `, line ${before.split('\n').length},`;
}
