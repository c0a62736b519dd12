import type { RequestMessage } from './messageTypes.ts';
import type { ToolServers } from './tools.ts';

/** The address of the runner if neither `host` nor `OLLAMA_HOST` names one. */
export const defaultHost = 'http://127.0.0.1:11434';

/** The name of the server at `host`. */
export const defaultServerName = 'default';

/** The address of the public catalog unless `catalogUrl` names another one. */
export const defaultCatalogUrl = 'https://ollama.com';

/** How long a conversation is kept after its last turn, in days. */
export const defaultSessionDays = 90;

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** A runner besides the one at `host`. */
export interface ServerOptions {
  /** Unique. The name `default` belongs to the server at `host`. */
  readonly name: string;
  /** Scheme, host, port and an optional path prefix. */
  readonly url: string;
  /** An absolute path to a PEM file with certificates to trust for this server. */
  readonly caFile?: string;
  /**
   * Which API it speaks.
   * @default auto
   */
  readonly api?: RunnerApi;
}

/** Which API a runner speaks. `auto` asks it, and asks again after its connection was lost. */
export type RunnerApi = 'auto' | 'ollama' | 'openai';

/** Time limits in milliseconds; 0 means no limit. */
export interface Timeouts {
  /**
   * To open a connection.
   * @minimum 0
   * @default 5000
   */
  readonly connect?: number;
  /**
   * For a whole short answer such as a list.
   * @minimum 0
   * @default 10000
   */
  readonly list?: number;
  /**
   * Until a chat's first byte, which leaves time to load a model.
   * @minimum 0
   * @default 600000
   */
  readonly firstByte?: number;
  /**
   * Between two reads of a stream.
   * @minimum 0
   * @default 300000
   */
  readonly idle?: number;
  /**
   * For a call that the daemon runs, as long as it reports no progress.
   * @minimum 0
   * @default 60000
   */
  readonly tool?: number;
  /**
   * For such a call in total.
   * @minimum 0
   * @default 600000
   */
  readonly toolTotal?: number;
  /**
   * For the start of a tool server. It goes on after that, and is there for the next turn.
   * @minimum 0
   * @default 15000
   */
  readonly toolStart?: number;
}

export interface EngineSettings {
  /**
   * True: it goes on running after the last program that uses it, until `runner/engine/stop`.
   * @default false
   */
  readonly keepRunning?: boolean;
}

/** What the user says that a model can do or cannot do. What is absent is learnt as usual. */
export interface ModelOverride {
  readonly tools?: boolean;
  readonly vision?: boolean;
  readonly thinking?: boolean;
  readonly insert?: boolean;
}

/** The time limits of tools, with every default filled in. */
export type ToolTimeouts = Required<Pick<Timeouts, 'tool' | 'toolTotal' | 'toolStart'>>;

/** The time limits of the runner, with every default filled in. */
export type RunnerTimeouts = Required<Omit<Timeouts, keyof ToolTimeouts>>;

/**
 * The settings in `initializationOptions` of `initialize`, and, with the same keys under `runner`, those of
 * `workspace/didChangeConfiguration`. The table in `daemon/config/settingsTable.ts` says what each means, its default
 * and who may change it; docs/PROTOCOL.md shows that table.
 */
export interface RunnerOptions {
  /** Default: `OLLAMA_HOST`, else {@link defaultHost}. */
  readonly host?: string;
  /**
   * Which API the runner at `host` speaks.
   * @default auto
   */
  readonly api?: RunnerApi;
  readonly servers?: readonly ServerOptions[];
  /** The model that answers in a chat if nobody chooses another one. */
  readonly chatModel?: string;
  /** The model of inline completion. */
  readonly completionModel?: string;
  /** True lets the daemon start the server logs after `initialized`. */
  readonly streamLogs?: boolean;
  readonly logLevel?: LogLevel;
  /** An absolute path of a folder for what may be kept between runs. */
  readonly cacheDir?: string;
  readonly modelfilesPath?: string;
  /**
   * How long a model stays loaded after an answer: seconds, or a duration such as `10m`. A negative value means for
   * ever.
   */
  readonly keepAlive?: string | number;
  /** Tokens of the window (`num_ctx`) to request; 0 leaves it to the runner. */
  readonly contextLength?: number;
  /** By the names of models. A name without a tag stands for all its tags; one with a tag counts before it. */
  readonly modelCapabilities?: Readonly<Record<string, ModelOverride>>;
  /**
   * Base address of the public catalog.
   * @default https://ollama.com
   */
  readonly catalogUrl?: string;
  /** Globs of files that are never sent. Files that look like secrets are never sent either. */
  readonly exclude?: readonly string[];
  /** For the server at `host`; every other server has its own. */
  readonly caFile?: string;
  readonly timeouts?: Timeouts;
  /**
   * False: no conversation is written to the disk or listed.
   * @default true
   */
  readonly keepSessions?: boolean;
  /**
   * A conversation is deleted after this many days without a turn.
   * @minimum 1
   * @maximum 36500
   * @default 90
   */
  readonly sessionDays?: number;
  /** For what Runner starts on this machine. */
  readonly engine?: EngineSettings;
  /**
   * Tool servers. They override those of `initializationOptions` with the same name. A wrong entry does not affect the
   * others.
   */
  readonly mcpServers?: ToolServers;
}

/** Changed settings. An absent key keeps its value, and `null` restores the default. */
export type ChangedOptions = { readonly [K in keyof RunnerOptions]: RunnerOptions[K] | null };

/** A setting as it counts now. */
export interface EffectiveSetting {
  readonly name: string;
  /**
   * Null if nothing is set and there is no default. It has no secrets: addresses are without user names and passwords,
   * and of a tool server there is only the command or the origin.
   */
  readonly value: unknown;
  /** Who set it: nobody, the environment, the user's own configuration, or the client. */
  readonly from: 'default' | 'environment' | 'file' | 'client';
}

export interface ListSettingsResult {
  /** The path of the user's own configuration, which may not exist. */
  readonly path: string;
  /** In the order of docs/PROTOCOL.md. Those that only clients set are left out. */
  readonly settings: readonly EffectiveSetting[];
}

/** Client to daemon: which settings count, and where each comes from. */
export const listSettingsRequest: RequestMessage<Record<string, never>, ListSettingsResult> = {
  method: 'runner/settings/list',
};

const defaultPort = 11434;

/**
 * Reads the base address of a runner from what users write, by the rules of `OLLAMA_HOST`: ``, `host`, `:port`,
 * `host:port`, `[::1]:11434`, `http://h` (port 80), `https://h` (port 443), `http://h:1234/prefix`, and `ollama.com`
 * alone for its https address. Surrounding quotes and blanks are removed. `0.0.0.0` and `::` become loopback. A `/v1`
 * at its end, with which OpenAI's API is often named, is removed. Returns a URL without a trailing slash, query or
 * fragment.
 * @throws {TypeError} with a sentence, when the text is not an address, or has a user name or a password: no setting
 * keeps a secret.
 */
export function parseAddress(text: string): string {
  const trimmed = text
    .trim()
    .replace(/^(["'])(.*)\1$/, '$2')
    .trim();
  if (trimmed === '') return defaultHost;
  if (trimmed.toLowerCase() === 'ollama.com') return 'https://ollama.com';
  const url = toUrl(trimmed);
  if (url.username !== '' || url.password !== '')
    throw new TypeError(
      'it has a user name or a password; leave them out, and store "user:password" as the token of this server',
    );
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1';
  if (url.hostname === '[::]') url.hostname = '[::1]';
  return url.origin + url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '');
}

function toUrl(text: string): URL {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme !== undefined && scheme !== 'http' && scheme !== 'https') {
    throw new TypeError(`the scheme "${scheme}" is not http or https`);
  }
  try {
    return new URL(scheme === undefined ? withDefaults(text) : text);
  } catch (cause) {
    throw new TypeError('it is not an address such as http://127.0.0.1:11434', { cause });
  }
}

/** Without a scheme the default port applies, and an empty host is loopback. */
function withDefaults(text: string): string {
  const [, authority = '', path = ''] = /^([^/]*)(.*)$/s.exec(text) ?? [];
  const bareIpv6 =
    authority.split(':').length > 2 && !authority.startsWith('[') ? `[${authority}]` : authority;
  const host = bareIpv6.startsWith(':') ? `127.0.0.1${bareIpv6}` : bareIpv6;
  return `http://${/:\d+$/.test(host) ? host : `${host}:${defaultPort}`}${path}`;
}
