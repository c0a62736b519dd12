import type { NotificationMessage } from './messageTypes.ts';
import type { Approvals, ToolRefusal, ToolServers } from './tools.ts';

/** The address of the runner when neither `host` nor `OLLAMA_HOST` names one. */
export const defaultHost = 'http://127.0.0.1:11434';

/** The name of the server at `host`. */
export const defaultServerName = 'default';

/** Where the public catalog is, when `catalogUrl` does not say otherwise. */
export const defaultCatalogUrl = 'https://ollama.com';

/** How long a conversation is kept after its last turn, in days. */
export const defaultSessionDays = 90;

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** A further runner beside the one at `host`. */
export interface ServerOptions {
  /** Unique; `default` is taken by `host`. */
  readonly name: string;
  /** Scheme, host, port and an optional path prefix. */
  readonly url: string;
  /** An absolute path to a PEM file with certificates to trust for this server. */
  readonly caFile?: string;
}

/** Time limits in milliseconds; each must be positive, and 0 means no limit. */
export interface Timeouts {
  /** To open a connection. Default 5,000. */
  readonly connect?: number;
  /** For a whole short answer such as a list. Default 10,000. */
  readonly list?: number;
  /** Until a chat's first byte: a model load fits in. Default 600,000. */
  readonly firstByte?: number;
  /** Between two reads of a stream. Default 300,000. */
  readonly idle?: number;
  /** For a call of a hosted tool, without any progress. Default 60,000. */
  readonly tool?: number;
  /** For such a call in all. Default 600,000. */
  readonly toolTotal?: number;
}

/** Those of the runner, with every default filled in. */
export type RunnerTimeouts = Required<Omit<Timeouts, 'tool' | 'toolTotal'>>;

/**
 * The settings in `initializationOptions` of `initialize`, and, with the same keys under `runner`, those of
 * `workspace/didChangeConfiguration`. What each means, its default, and who may change it is in the table of
 * `daemon/config/settings.ts`, which docs/PROTOCOL.md shows.
 */
export interface RunnerOptions {
  /** Default: `OLLAMA_HOST`, else {@link defaultHost}. */
  readonly host?: string;
  readonly servers?: readonly ServerOptions[];
  /** The model that answers in a chat where nobody chooses another. */
  readonly chatModel?: string;
  /** The model of inline completion. */
  readonly completionModel?: string;
  /** True lets the daemon start the server logs after `initialized`. */
  readonly streamLogs?: boolean;
  readonly logLevel?: LogLevel;
  /** An absolute folder for what may be kept between runs. */
  readonly cacheDir?: string;
  readonly modelfilesPath?: string;
  /** How long a model stays loaded after an answer: seconds, or a duration such as `10m`; negative is for ever. */
  readonly keepAlive?: string | number;
  /** Tokens of the window (`num_ctx`) to ask for; 0 leaves it to the runner. */
  readonly contextLength?: number;
  /** Base address of the public catalog; default {@link defaultCatalogUrl}. */
  readonly catalogUrl?: string;
  /** Globs of files that are never sent, besides those that look like secrets. */
  readonly exclude?: readonly string[];
  /** For the server at `host`; further ones have their own. */
  readonly caFile?: string;
  readonly timeouts?: Timeouts;
  /** False writes no conversation to the disk, and lists none. Default true. */
  readonly keepSessions?: boolean;
  /** After so many days without a turn a conversation is deleted; from 1 to 36,500, default {@link defaultSessionDays}. */
  readonly sessionDays?: number;
  /** Tool servers, which win by name over those of `initializationOptions`. A wrong entry leaves the others alone. */
  readonly mcpServers?: ToolServers;
}

/** Changed settings: an absent key keeps its value, and `null` is the default again. */
export type ChangedOptions = { readonly [K in keyof RunnerOptions]: RunnerOptions[K] | null };

/** What `initializationOptions` have beside the settings. */
export interface InitializationOptions extends RunnerOptions {
  /** False for a workspace that the user does not trust: its settings can change nothing that matters. */
  readonly trusted?: boolean;
  /**
   * True: while the workspace is not trusted, this client sends the user's own settings and leaves out what the
   * workspace says. They then hold at once.
   */
  readonly sendsUserSettings?: boolean;
  /** What an earlier daemon of the same session told with `runner/tools/didRefuse`. */
  readonly refusedTools?: readonly ToolRefusal[];
  /** Tools that run without a question; settings have no such key, since a workspace may write them. */
  readonly approvals?: Approvals;
}

export interface TrustParams {
  readonly trusted: boolean;
}

/** Client to daemon: the user trusts the workspace now, or does no longer. */
export const trustDidChange: NotificationMessage<TrustParams> = { method: 'runner/trust/didChange' };
