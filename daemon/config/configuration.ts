import { withoutUndefined } from '../../protocol/base/json.ts';
import { messageOf } from '../../protocol/base/text.ts';
import type { InitializationOptions } from '../../protocol/messages/initialize.ts';
import {
  type ChangedOptions,
  defaultServerName,
  parseAddress,
  type ServerOptions,
  type Timeouts,
} from '../../protocol/messages/settings.ts';
import type { Server } from '../runner/runner.ts';
import { mayChange, type ResolvedSettings, settings, withDefaults } from './settingsTable.ts';

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
export class ConfigurationStore {
  readonly #user: InitializationOptions;
  /** What applies unless an option says otherwise. */
  readonly #usual: InitializationOptions;
  #started: InitializationOptions = {};
  /** All changes since the start, the newest of each key, including those that wait for trust. */
  #changes: ChangedOptions = {};
  #trusted: boolean | undefined;
  #current: Configuration;
  #said: InitializationOptions = {};

  /** `host` is the environment's. It and the `user`'s own settings apply unless an option says otherwise. */
  constructor(host = '', user: InitializationOptions = {}) {
    this.#user = user;
    this.#usual = host === '' ? user : { ...user, host };
    this.#current = resolve(this.#usual);
  }

  get current(): Configuration {
    return this.#current;
  }

  /** What the client said, as far as it counts. */
  get said(): InitializationOptions {
    return this.#said;
  }

  /** Takes `initializationOptions`, which come from the editor itself. */
  start(options: InitializationOptions): void {
    this.#started = options;
    this.#trusted = options.trusted;
    this.#update();
  }

  /**
   * Takes settings, which may come from a workspace. An absent key keeps its value; `null` restores the default.
   * Returns the names of those that do not count because the client says nothing of trust.
   */
  change(changed: ChangedOptions): readonly string[] {
    this.#changes = { ...this.#changes, ...changed };
    this.#update();
    if (this.#trusted !== undefined || this.#started.sendsUserSettings) return [];
    return Object.entries(changed).flatMap(([name, value]) =>
      value === null || mayChange(name, this.#trusted) ? [] : [name],
    );
  }

  trust(isTrusted: boolean): void {
    this.#trusted = isTrusted;
    this.#update();
  }

  #update(): void {
    const { sendsUserSettings, mcpServers: started = {} } = this.#started;
    const holding: ChangedOptions = Object.fromEntries(
      Object.entries(this.#changes).filter(([name]) => sendsUserSettings || mayChange(name, this.#trusted)),
    );
    // Servers are identified by their names: a setting adds its servers to those of the editor.
    const mcpServers = { ...started, ...holding.mcpServers };
    this.#said = { ...withoutNull({ ...this.#started, ...holding }), mcpServers };
    const trusted = this.#trusted ?? settings.trusted.default;
    // What is said of one model leaves what the user's own configuration says of others.
    const modelCapabilities = { ...this.#usual.modelCapabilities, ...this.#said.modelCapabilities };
    this.#current = {
      ...resolve({ ...this.#usual, ...this.#said, modelCapabilities, trusted }, this.#user.servers),
      editorServers: sendsUserSettings ? mcpServers : started,
      ownServers: sendsUserSettings ? started : {},
    };
  }
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
