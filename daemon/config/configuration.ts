import { parseAddress } from '../../protocol/messages/address.ts';
import {
  type ChangedOptions,
  defaultServerName,
  type InitializationOptions,
  type Timeouts,
} from '../../protocol/messages/initialize.ts';
import type { Server } from '../runner/client.ts';
import { isHarmless, type Settled, settings, withDefaults } from './settings.ts';

/** What holds now, with every default filled in. */
export interface Configuration extends Omit<Settled, 'host' | 'caFile' | 'servers' | 'timeouts'> {
  /** The one at `host` first. */
  readonly servers: readonly Server[];
  readonly timeouts: Required<Timeouts>;
  /** Those of `mcpServers` that the editor itself gives. */
  readonly editorServers: Settled['mcpServers'];
  /** Somebody named the address of the first server: an option, the environment or the user's configuration. */
  readonly isHostNamed: boolean;
}

/** The configuration over its life. */
export interface ConfigurationStore {
  readonly current: Configuration;
  /** From `initializationOptions`, which the editor itself gives. */
  start(options: InitializationOptions): void;
  /** From settings, which a workspace may give: an absent key keeps its value, and `null` is the default again. */
  change(changes: ChangedOptions): void;
  trust(trusted: boolean): void;
}

/** `host` is the environment's; it and what the `user` always has hold where no option says otherwise. */
export function createConfiguration(host = '', user: InitializationOptions = {}): ConfigurationStore {
  const usual = host === '' ? user : { ...user, host };
  let started: InitializationOptions = {};
  /** All since the start, the newest of each key. What waits for trust is among them. */
  let changes: ChangedOptions = {};
  let trusted = true;
  let current = resolve(usual);

  const update = () => {
    const holds = (name: string) => trusted || started.sendsUserSettings === true || isHarmless(name);
    const holding: ChangedOptions = Object.fromEntries(
      Object.entries(changes).filter(([name]) => holds(name)),
    );
    const said = withoutNull({ ...started, ...holding });
    // Servers are told apart by their names: a setting adds its own to those of the editor.
    const mcpServers = { ...started.mcpServers, ...holding.mcpServers };
    const editorServers = started.sendsUserSettings ? mcpServers : (started.mcpServers ?? {});
    current = { ...resolve({ ...usual, ...said, mcpServers, trusted }), editorServers };
  };

  return {
    get current() {
      return current;
    },
    start(options) {
      started = options;
      trusted = options.trusted ?? settings.trusted.default;
      update();
    },
    change(changed) {
      changes = { ...changes, ...changed };
      update();
    },
    trust(isTrusted) {
      trusted = isTrusted;
      update();
    },
  };
}

function resolve(options: InitializationOptions): Configuration {
  const { host = '', caFile, servers, contextLength, ...settled } = withDefaults(options);
  return {
    ...settled,
    ...(contextLength ? { contextLength } : {}),
    isHostNamed: options.host !== undefined,
    editorServers: {},
    servers: [
      serverOf(defaultServerName, host, caFile),
      ...servers.map(({ name, url, caFile: own }) => serverOf(name, url, own)),
    ],
    timeouts: { ...settings.timeouts.default, ...settled.timeouts },
    catalogUrl: parseAddress(settled.catalogUrl),
  };
}

function serverOf(name: string, address: string, caFile: string | undefined): Server {
  return { name, url: parseAddress(address), ...(caFile === undefined ? {} : { caFile }) };
}

function withoutNull(options: object): InitializationOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== null));
}
