import type { NotificationMessage } from './messageTypes.ts';
import type { RunnerOptions } from './settings.ts';
import type { Approvals, Checks, ToolRefusal } from './tools.ts';

/** What `initializationOptions` hold besides the settings. */
export interface InitializationOptions extends RunnerOptions {
  /** False for a workspace that the user does not trust. Its settings can then change only what is harmless. */
  readonly trusted?: boolean;
  /**
   * True: while the workspace is not trusted, this client sends only the user's own settings and leaves out those of
   * the workspace. They then take effect at once.
   */
  readonly sendsUserSettings?: boolean;
  /** What an earlier daemon of the same session sent with `runner/tools/didRefuse`. */
  readonly refusedTools?: readonly ToolRefusal[];
  /** Tools that run without a question. The settings have no such key, because a workspace may write settings. */
  readonly approvals?: Approvals;
  /**
   * True: models may be offered the built-in tools, which read and edit files of the workspace. The settings have
   * no such key, because a workspace may write settings.
   * @default false
   */
  readonly builtinTools?: boolean;
  /** Commands that models may run. The settings have no such key, because a workspace may write settings. */
  readonly checks?: Checks;
  /**
   * Rounds of tool calls in one turn.
   * @minimum 1
   * @maximum 200
   * @default 40
   */
  readonly rounds?: number;
  /**
   * Tokens of the window to request for a turn with the built-in tools if nobody has chosen one.
   * @minimum 3072
   * @default 16384
   */
  readonly agentContext?: number;
  /**
   * False: models with the built-in tools get no rules from files.
   * @default true
   */
  readonly projectRules?: boolean;
}

/** The smallest window in which the built-in tools work, in tokens. */
export const minAgentContext = 3_072;

export interface TrustParams {
  readonly trusted: boolean;
}

/** Client to daemon: the user now trusts the workspace, or no longer trusts it. */
export const trustDidChange: NotificationMessage<TrustParams> = { method: 'runner/trust/didChange' };

/** The version of all messages in this folder, announced as `capabilities.experimental.runner.protocolVersion`. */
export const protocolVersion = 1;

/** What `runnerd` adds to the `initialize` result under `capabilities.experimental.runner`. */
export interface RunnerCapabilities {
  readonly protocolVersion: number;
  /**
   * True if an option, the environment or the user's configuration names the runner's address; otherwise the default
   * address is used.
   */
  readonly isHostNamed?: boolean;
  /**
   * Names of the tool servers in the user's own configuration, in their order, without the disabled ones. Empty if the
   * client has settings of its own.
   */
  readonly toolServers?: readonly string[];
}

/**
 * One line of the newline-delimited JSON on the descriptor of `runnerd --secrets-fd N`. A later line for an origin
 * replaces an earlier one. A secret is sent to its own origin only. Over plain http it is sent only to loopback, or to
 * a runner if `allowPlainHttp` is true.
 */
export interface SecretLine {
  /** Scheme, host and port, such as `https://models.example.org:8443`. */
  readonly origin: string;
  /**
   * Sent as `Authorization: Bearer …`, or as `Basic …` if it has the form `user:password` and the server asks for that;
   * `null` forgets it.
   */
  readonly secret: string | null;
  /** More headers for this origin. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * The user has allowed that a runner at this origin gets the secret over plain http.
   * @default false
   */
  readonly allowPlainHttp?: boolean;
}
