import { parseAddress } from '../../../protocol/messages/address.ts';
import { defaultServerName, type RunnerOptions } from '../../../protocol/messages/settings.ts';

/** The names of the servers in the settings, the one at `runner.host` first. The settings may contain anything. */
export function serverNames({ servers }: Pick<RunnerOptions, 'servers'>): readonly string[] {
  const given: readonly unknown[] = Array.isArray(servers) ? servers : [];
  const names = given.flatMap((server) => {
    const isNamed = typeof server === 'object' && server !== null && 'name' in server;
    return isNamed && typeof server.name === 'string' ? [server.name] : [];
  });
  return [...new Set([defaultServerName, ...names])];
}

/** The value of `OLLAMA_HOST`, which counts if `runner.host` is empty; `""` is none. */
export function ollamaHost(): string {
  return process.env['OLLAMA_HOST'] ?? '';
}

/** The servers in the settings with their origins. A token belongs to an origin. */
export function originsOf(
  { host, servers }: Pick<RunnerOptions, 'host' | 'servers'>,
  environment = ollamaHost(),
): ReadonlyMap<string, string> {
  const named: readonly unknown[] = Array.isArray(servers) ? servers : [];
  const all = [{ name: defaultServerName, url: host ?? environment }, ...named.filter(isServer)];
  return new Map(all.flatMap(({ name, url }) => [[name, tryOrigin(url)] as const]).filter(hasOrigin));
}

function isServer(value: unknown): value is { readonly name: string; readonly url: string } {
  if (typeof value !== 'object' || value === null || !('name' in value) || !('url' in value)) return false;
  return typeof value.name === 'string' && typeof value.url === 'string';
}

/** The daemon reads addresses by the same rules, and sends a token only to this origin. */
function tryOrigin(url: string): string | undefined {
  try {
    return new URL(parseAddress(url)).origin;
  } catch {
    return undefined;
  }
}

function hasOrigin(entry: readonly [string, string | undefined]): entry is readonly [string, string] {
  return entry[1] !== undefined;
}
