import * as z from 'zod/mini';
import { withoutUndefined } from '../../protocol/base/withoutUndefined.ts';
import type { InitializationOptions } from '../../protocol/messages/initialize.ts';
import { readEach } from './eachSetting.ts';
import { isOfUser, type SettingName } from './settings.ts';

/** What the user's own configuration says: where secrets come from, and settings for every client that reads it. */
export interface UserConfig {
  readonly auth: readonly UserAuth[];
  /** All but the tools. */
  readonly settings: InitializationOptions;
  readonly tools: UserTools;
  /** What it says of conversations; where something of that is wrong, none is kept. */
  readonly sessions: Pick<InitializationOptions, 'keepSessions' | 'sessionDays'>;
  /** What cannot be used, in sentences. The rest counts. */
  readonly problems: readonly string[];
}

export type UserTools = Required<Pick<InitializationOptions, 'mcpServers' | 'approvals'>>;

/** Names of the tool servers that are entered and not disabled. An entry may still turn out to be wrong. */
export function enabledServers({ mcpServers }: UserTools): readonly string[] {
  return Object.entries(mcpServers).flatMap(([name, entry]) => (entry?.disabled === true ? [] : [name]));
}

/**
 * Where a secret comes from; without an origin it is for the runner at `host` as it is at the start. A runner at the
 * origin may get it over plain http if the entry says so, and names the origin.
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
  tools: { mcpServers: {}, approvals: {} },
  sessions: {},
  problems: [],
};

/** Nothing of the file counts. It may have said that no conversation is to be kept. */
export function unusableUserConfig(problem: string): UserConfig {
  return {
    ...emptyUserConfig,
    sessions: { keepSessions: false },
    problems: [`${problem} Nothing in it counts. ${keptNothing}`],
  };
}

const keptNothing = 'Until it is mended, no conversation is kept.';

export interface UserConfigSource {
  readonly path: string;
  /** Then only what holds for every client counts. */
  readonly clientHasSettings: boolean;
}

/** A problem names the file and the key, with its line where that can be had, and never quotes the text. */
export function parseUserConfig(text: string, { path, clientHasSettings }: UserConfigSource): UserConfig {
  const value = tryJson(text);
  if (value instanceof SyntaxError)
    return unusableUserConfig(`The configuration ${path}${lineOfFault(text, value)} is not JSON.`);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return unusableUserConfig(`The configuration ${path} is not a JSON object.`);
  const leftOut = (key: string, why: string) =>
    `The configuration ${path}${lineOfKey(text, key)} has "${key}", which is left out: ${why}.`;
  const { auth, ...rest } = value as { readonly auth?: unknown };
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
  readonly leftOut: (key: string, why: string) => string;
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
  const { mcpServers = {}, approvals = {}, ...settings } = set;
  const { keepSessions, sessionDays } = settings;
  const isOfSessions = (key: string) => key === 'keepSessions' || key === 'sessionDays';
  const isUnclear = wrong.some(({ path }) => isOfSessions(path));
  return {
    settings: clientHasSettings ? {} : settings,
    tools: { mcpServers, approvals },
    sessions: isUnclear ? { keepSessions: false } : withoutUndefined({ keepSessions, sessionDays }),
    problems: [
      ...wrong.map(
        ({ path, problem }) => `${leftOut(path, problem)}${isOfSessions(path) ? ` ${keptNothing}` : ''}`,
      ),
      ...unknown.map((key) => leftOut(key, 'there is no such setting')),
    ],
  };
}

/** What holds also where the client has settings of its own. */
const forEveryClient: ReadonlySet<string> = new Set<SettingName>([
  'mcpServers',
  'approvals',
  'keepSessions',
  'sessionDays',
]);

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    return error;
  }
}

/** The runtime says the position of most faults; of the others it only quotes the text. */
function lineOfFault(text: string, { message }: SyntaxError): string {
  const [, position] = /at position (\d+)/.exec(message) ?? [];
  return position === undefined ? '' : lineAt(text, Number(position));
}

/** Nothing where the key stands more than once. */
function lineOfKey(text: string, path: string): string {
  const name = JSON.stringify(
    path
      .split('.')
      .at(-1)
      ?.replace(/\[\d+\]$/, ''),
  );
  const first = text.indexOf(name);
  return first < 0 || text.includes(name, first + 1) ? '' : lineAt(text, first);
}

function lineAt(text: string, position: number): string {
  return `, line ${text.slice(0, position).split('\n').length},`;
}
