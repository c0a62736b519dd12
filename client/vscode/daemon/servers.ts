import { isRecord } from '../../../protocol/base/json.ts';
import { defaultServerName, parseAddress, type RunnerOptions } from '../../../protocol/messages/settings.ts';
import { type Ability, type Product, refusalOf, type Status } from '../../../protocol/messages/status.ts';

/** The names of the servers in the settings, the one at `runner.host` first. The settings may contain anything. */
export function serverNames({ servers }: Pick<RunnerOptions, 'servers'>): readonly string[] {
  const given: readonly unknown[] = Array.isArray(servers) ? servers : [];
  const names = given.flatMap((server) =>
    isRecord(server) && typeof server['name'] === 'string' ? [server['name']] : [],
  );
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
  return new Map(
    all.flatMap(({ name, url }) => {
      const origin = tryOrigin(url);
      return origin === undefined ? [] : [[name, origin] as const];
    }),
  );
}

function isServer(value: unknown): value is { readonly name: string; readonly url: string } {
  return isRecord(value) && typeof value['name'] === 'string' && typeof value['url'] === 'string';
}

/** The daemon reads addresses by the same rules, and sends a token only to this origin. */
function tryOrigin(url: string): string | undefined {
  try {
    return new URL(parseAddress(url)).origin;
  } catch {
    return undefined;
  }
}

/** What the servers are and can do, by their names. */
export type KnownServers = ReturnType<typeof createKnownServers>;

/** `names` are the configured servers. */
export function createKnownServers(names: () => readonly string[]) {
  const known = new Map<string, Pick<Status, 'product' | 'can'>>();
  /** Whether a server can do something, by default the one at `runner.host`. One that has not answered yet may. */
  const can = (ability: Ability, server = defaultServerName): boolean =>
    known.get(server)?.can?.includes(ability) ?? true;
  return {
    can,
    /** Those of the configured servers that can do it, or may. */
    those: (ability: Ability): readonly string[] => names().filter((name) => can(ability, name)),
    /** Undefined until it has answered. */
    product: (server = defaultServerName): Product | undefined => known.get(server)?.product,
    /** Keeps what a server says of itself. While it is down, what it was counts. */
    take(server: string, { product, can: able }: Status): void {
      if (product !== undefined && able !== undefined) known.set(server, { product, can: able });
    },
    /** The settings have changed: the default server, or the further ones, may be others. */
    forget(which: 'default' | 'further'): void {
      for (const name of known.keys())
        if ((name === defaultServerName) === (which === 'default')) known.delete(name);
    },
  };
}

/** What a command asks of its server. */
const needed: Readonly<Record<string, readonly Ability[]>> = {
  'runner.pullModel': ['pull'],
  'runner.updateModel': ['pull'],
  'runner.runModel': ['load'],
  'runner.stopModel': ['unload'],
  'runner.stopOtherModels': ['unload'],
  'runner.deleteModel': ['delete'],
  'runner.duplicateModel': ['create'],
  'runner.createModel': ['create'],
  'runner.newModelfile': ['create'],
  'runner.openModelPage': ['catalog'],
};

/** What a server lacks for a command; undefined if nothing. Without a server, one that can do it is enough. */
export function lackedBy(
  servers: Pick<KnownServers, 'can' | 'those'>,
  command: string,
  server?: string,
): Ability | undefined {
  return needed[command]?.find((ability) =>
    server === undefined ? servers.those(ability).length === 0 : !servers.can(ability, server),
  );
}

/** A sentence about the product, if it lacks what a command needs. */
export function refusalFor(
  servers: Pick<KnownServers, 'can' | 'those' | 'product'>,
  command: string,
  server?: string,
): string | undefined {
  const lacked = lackedBy(servers, command, server);
  const product = servers.product(server);
  return lacked === undefined || product === undefined ? undefined : refusalOf(product, lacked);
}

/** Of some buttons or links, those that can work. The first argument may be a row with a server. */
export function possible<T extends { readonly command: string; readonly arguments?: readonly unknown[] }>(
  servers: Pick<KnownServers, 'can' | 'those'>,
  links: readonly T[],
): readonly T[] {
  return links.filter(({ command, arguments: [row] = [] }) => {
    const server = isRecord(row) ? row['server'] : undefined;
    return lackedBy(servers, command, typeof server === 'string' ? server : undefined) === undefined;
  });
}

/** The server whose catalog counts: the one at `runner.host` if it has one, or else the first that has. */
export function catalogServer(facts: Pick<KnownServers, 'those'>): { readonly server: string } {
  const [server = defaultServerName] = facts.those('catalog');
  return { server };
}

/** The abilities on which the menus and the palette depend. */
export const keyedAbilities = ['load', 'unload', 'pull', 'delete', 'create', 'catalog'] as const;

/** The context key that is true if no server has the ability, such as `runner.cannotPull`. */
export function keyOf(ability: Ability): string {
  return `runner.cannot${ability.charAt(0).toUpperCase()}${ability.slice(1)}`;
}

/** What the menu of a model's row depends on: the kind of the row, and what its server can do. */
export function rowContext(kind: string, servers: Pick<KnownServers, 'can'>, server?: string): string {
  return [`runner.${kind}`, ...keyedAbilities.filter((ability) => servers.can(ability, server))].join(' ');
}
