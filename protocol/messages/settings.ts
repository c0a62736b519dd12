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
 * `workspace/didChangeConfiguration`. The table in `daemon/config/settings.ts` says what each means, its default and
 * who may change it; docs/PROTOCOL.md shows that table.
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
