import { messageOf } from '../../protocol/base/errorText.ts';
import { withoutUndefined } from '../../protocol/base/withoutUndefined.ts';
import { parseAddress } from '../../protocol/messages/address.ts';
import type { InitializationOptions } from '../../protocol/messages/initialize.ts';
import {
  type ChangedOptions,
  defaultServerName,
  type ServerOptions,
  type Timeouts,
} from '../../protocol/messages/settings.ts';
import type { Server } from '../runner/runner.ts';
import { mayChange, type ResolvedSettings, settings, withDefaults } from './settings.ts';

/** The current settings, with every default filled in. */
interface Configuration extends Omit<ResolvedSettings, 'host' | 'api' | 'caFile' | 'servers' | 'timeouts'> {
  /** The server at `host` comes first. */
  readonly servers: readonly Server[];
  readonly timeouts: Required<Timeouts>;
  /** The entries of `mcpServers` that come from the editor itself. */
  readonly editorServers: ResolvedSettings['mcpServers'];
  /** Those of them that are the user's own, and no workspace's. */
  readonly ownServers: ResolvedSettings['mcpServers'];
  /** Whether an option, the environment or the user's configuration names the address of the first server. */
  readonly isHostNamed: boolean;
}

/** The configuration over its life. */
export type ConfigurationStore = ReturnType<typeof createConfiguration>;

/** `host` is the environment's. It and the `user`'s own settings apply unless an option says otherwise. */
export function createConfiguration(host = '', user: InitializationOptions = {}) {
  const usual = host === '' ? user : { ...user, host };
  let started: InitializationOptions = {};
  /** All changes since the start, the newest of each key, including those that wait for trust. */
  let changes: ChangedOptions = {};
  let trusted: boolean | undefined;
  let current = resolve(usual);
  let said: InitializationOptions = {};

  const update = () => {
    const holding: ChangedOptions = Object.fromEntries(
      Object.entries(changes).filter(([name]) => started.sendsUserSettings || mayChange(name, trusted)),
    );
    said = withoutNull({ ...started, ...holding });
    // Servers are identified by their names: a setting adds its servers to those of the editor.
    const mcpServers = { ...started.mcpServers, ...holding.mcpServers };
    said = { ...said, mcpServers };
    const editorServers = started.sendsUserSettings ? mcpServers : (started.mcpServers ?? {});
    const ownServers = (started.sendsUserSettings && started.mcpServers) || {};
    const isTrusted = trusted ?? settings.trusted.default;
    // What is said of one model leaves what the user's own configuration says of others.
    const modelCapabilities = { ...usual.modelCapabilities, ...said.modelCapabilities };
    const resolved = resolve(
      { ...usual, ...said, mcpServers, modelCapabilities, trusted: isTrusted },
      user.servers,
    );
    current = { ...resolved, editorServers, ownServers };
  };

  return {
    get current(): Configuration {
      return current;
    },
    /** What the client said, as far as it counts. */
    get said(): InitializationOptions {
      return said;
    },
    /** Takes `initializationOptions`, which come from the editor itself. */
    start(options: InitializationOptions): void {
      started = options;
      trusted = options.trusted;
      update();
    },
    /**
     * Takes settings, which may come from a workspace. An absent key keeps its value; `null` restores the default.
     * Returns the names of those that do not count because the client says nothing of trust.
     */
    change(changed: ChangedOptions): readonly string[] {
      changes = { ...changes, ...changed };
      update();
      if (trusted !== undefined || started.sendsUserSettings) return [];
      return Object.entries(changed).flatMap(([name, value]) =>
        value === null || mayChange(name, trusted) ? [] : [name],
      );
    },
    trust(isTrusted: boolean): void {
      trusted = isTrusted;
      update();
    },
  };
}

/** `host` may name one of `own` too: a client that wants this server alone sends no others. */
function resolve(options: InitializationOptions, own: InitializationOptions['servers'] = []): Configuration {
  const { host = '', api, caFile, servers, contextLength, ...settled } = withDefaults(options);
  const named = [...servers, ...own].find(({ name }) => name === host.trim());
  return {
    ...settled,
    ...(contextLength ? { contextLength } : {}),
    isHostNamed: options.host !== undefined,
    editorServers: {},
    ownServers: {},
    servers: [
      named
        ? serverOf({ ...named, name: defaultServerName })
        : serverOf(withoutUndefined<ServerOptions>({ name: defaultServerName, url: host, api, caFile })),
      ...servers.map(serverOf),
    ],
    timeouts: { ...settings.timeouts.default, ...settled.timeouts },
    catalogUrl: parseAddress(settled.catalogUrl),
  };
}

function serverOf({ name, url, caFile, api }: ServerOptions): Server {
  return withoutUndefined({
    name,
    url: parseAddress(url),
    caFile,
    api: api === 'auto' ? undefined : api,
  });
}

function withoutNull(options: object): InitializationOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== null));
}

/** The address in the environment. A wrong one is reported and ignored, because the daemon must start all the same. */
export function readHost(host: string | undefined): { readonly host?: string; readonly problem?: string } {
  try {
    return host === undefined || host.trim() === '' ? {} : { host: parseAddress(host) };
  } catch (error) {
    const reason = messageOf(error);
    return { problem: `OLLAMA_HOST is left out: ${reason}. It counts as not set.` };
  }
}
