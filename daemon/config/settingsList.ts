import * as z from 'zod/mini';
import { isRecord } from '../../protocol/base/json.ts';
import type { InitializationOptions } from '../../protocol/messages/initialize.ts';
import {
  defaultHost,
  type EffectiveSetting,
  listSettingsRequest,
  parseAddress,
} from '../../protocol/messages/settings.ts';
import { exact } from '../base/validate.ts';
import type { Endpoint } from '../rpc/endpoint.ts';
import { isOfUser, settings } from './settingsTable.ts';
import type { UserConfig } from './userFile.ts';

interface SettingsSources {
  /** What the client said, as far as it counts. */
  readonly client: InitializationOptions;
  /** `OLLAMA_HOST`, if it is an address. */
  readonly environmentHost: string | undefined;
  readonly user: Pick<UserConfig, 'settings' | 'sessions' | 'tools'>;
}

/** Answers which settings count, from the file at `path` and the other sources as they are now. */
export function serveSettingsList(
  endpoint: Endpoint,
  path: string,
  readSources: () => Promise<SettingsSources>,
): void {
  endpoint.onRequest(listSettingsRequest, exact(z.object({})), async () => {
    return { path, settings: effectiveSettings(await readSources()) };
  });
}

/** Each setting of users with its value and with who set it, without secrets. */
function effectiveSettings(sources: SettingsSources): readonly EffectiveSetting[] {
  return Object.entries(settings)
    .filter(([name]) => isOfUser(name))
    .map(([name, row]) => {
      const { value, from } = settingOf(name, sources, 'default' in row ? row.default : undefined);
      return { name, value: shown(name, value), from };
    });
}

type SettingValue = Pick<EffectiveSetting, 'value' | 'from'>;

function settingOf(
  name: string,
  { client, environmentHost, user }: SettingsSources,
  usual: unknown,
): SettingValue {
  const file = { ...user.settings, ...user.sessions, ...withoutEmpty(user.tools) };
  const [ofClient, ofFile] = [Reflect.get(client, name), Reflect.get(file, name)];
  if (stricter[name]?.(ofFile, ofClient)) return { value: ofFile, from: 'file' };
  if (ofClient !== undefined && !isEmpty(ofClient))
    return { value: merged(ofFile, ofClient), from: 'client' };
  if (name === 'host' && environmentHost !== undefined)
    return { value: environmentHost, from: 'environment' };
  if (ofFile !== undefined) return { value: merged(usual, ofFile), from: 'file' };
  return { value: name === 'host' ? defaultHost : (usual ?? null), from: 'default' };
}

/** Where both say something about conversations, the stricter one counts. */
const stricter: Readonly<Record<string, (file: unknown, client: unknown) => boolean>> = {
  keepSessions: (file) => file === false,
  sessionDays: (file, client) => Number(file) < Number(client),
};

function merged(under: unknown, over: unknown): unknown {
  return isRecord(under) && isRecord(over) ? { ...under, ...over } : over;
}

function withoutEmpty(tools: UserConfig['tools']): object {
  return Object.fromEntries(Object.entries(tools).filter(([, value]) => value !== false && !isEmpty(value)));
}

function isEmpty(value: unknown): boolean {
  return isRecord(value) && Object.keys(value).length === 0;
}

function shown(name: string, value: unknown): unknown {
  if (name === 'mcpServers' && isRecord(value))
    return Object.fromEntries(Object.entries(value).map(([server, entry]) => [server, shownServer(entry)]));
  if (name === 'checks' && isRecord(value))
    return Object.fromEntries(Object.entries(value).map(([folder, named]) => [folder, shownChecks(named)]));
  if (name === 'servers' && Array.isArray(value))
    return value.map((server) =>
      isRecord(server) ? { ...server, url: shownAddress(server['url']) } : server,
    );
  return name === 'host' || name === 'catalogUrl' ? shownAddress(value) : value;
}

/** Variables may be secrets. Of a command, the question shows every word. */
function shownChecks(named: unknown): unknown {
  if (!isRecord(named)) return {};
  return Object.fromEntries(
    Object.entries(named).map(([name, check]) => [name, isRecord(check) ? check['command'] : []]),
  );
}

/** Arguments, variables and headers may be secrets, and so may the path of an address. */
function shownServer(entry: unknown): string {
  if (!isRecord(entry)) return '';
  const { command, url, disabled, enabled } = entry;
  const where = typeof command === 'string' ? command : originOf(url);
  return disabled === true || enabled === false ? `${where} (disabled)` : where;
}

function originOf(url: unknown): string {
  return typeof url === 'string' && URL.canParse(url) ? new URL(url).origin : '';
}

/** The name of a server stays as it is. */
function shownAddress(value: unknown): unknown {
  if (typeof value !== 'string' || !/[@/:]/.test(value)) return value;
  try {
    return parseAddress(value);
  } catch {
    return '';
  }
}
