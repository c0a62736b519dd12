import { defaultHost, defaultServerName, type RunnerOptions } from '../../../protocol/initialize.ts';

/** The names of the servers that the settings have, the one at `runner.host` first. Settings may say anything. */
export function serverNames({ servers }: Pick<RunnerOptions, 'servers'>): readonly string[] {
  const given: readonly unknown[] = Array.isArray(servers) ? servers : [];
  const names = given.flatMap((server) => {
    const isNamed = typeof server === 'object' && server !== null && 'name' in server;
    return isNamed && typeof server.name === 'string' ? [server.name] : [];
  });
  return [...new Set([defaultServerName, ...names])];
}

/** The servers that the settings name, with their origins: those to which a token can belong. */
export function originsOf({ host = defaultHost, servers = [] }: RunnerOptions): ReadonlyMap<string, string> {
  const named = [{ name: 'default', url: host }, ...servers];
  return new Map(named.flatMap(({ name, url }) => (URL.canParse(url) ? [[name, new URL(url).origin]] : [])));
}
