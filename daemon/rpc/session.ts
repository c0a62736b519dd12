import type {
  ClientCapabilities,
  Connection,
  InitializeParams,
  InitializeResult,
} from 'vscode-languageserver/node';
import * as z from 'zod/mini';
import { type InitializationOptions, trustDidChange } from '../../protocol/messages/initialize.ts';
import { createEmitter, type Event } from '../base/event.ts';
import type { Log } from '../base/log.ts';
import { exact } from '../base/validate.ts';
import type { ConfigurationStore } from '../config/configuration.ts';
import type { SettingsReader } from '../config/settingsReader.ts';
import type { Servers } from '../runner/servers.ts';
import type { StatusMonitor } from '../status/status.ts';
import { type Endpoint, toResponseError } from './endpoint.ts';
import { greetingTo, workspaceRoot } from './greeting.ts';
import { ErrorCodes, ResponseError } from './languageServer.ts';

/** The state of the connection: before `initialize`, ready, or after `shutdown`. */
export interface Session {
  isReady(): boolean;
  /** The error with which a request of this method is refused now, by LSP's rules; undefined if it is allowed. */
  refusal(method: string): ResponseError<never> | undefined;
  start(): void;
  stop(): void;
}

export function createSession(): Session {
  let state: 'new' | 'ready' | 'stopped' = 'new';
  const refuse = (code: number, message: string) => new ResponseError<never>(code, message);
  const refusals = {
    new: (method: string) =>
      method === 'initialize'
        ? undefined
        : refuse(ErrorCodes.ServerNotInitialized, 'Send "initialize" first.'),
    ready: (method: string) =>
      method === 'initialize'
        ? refuse(
            ErrorCodes.InvalidRequest,
            'The daemon is already initialized. Start another daemon for another editor.',
          )
        : undefined,
    stopped: () => refuse(ErrorCodes.InvalidRequest, 'The daemon is shutting down.'),
  };
  return {
    isReady: () => state === 'ready',
    refusal: (method) => refusals[state](method),
    start: () => {
      state = 'ready';
    },
    stop: () => {
      state = 'stopped';
    },
  };
}

export interface SessionDependencies extends ConfigurationDependencies {
  readonly version: string;
  /** Names of the tool servers that the user has entered and not disabled. */
  readonly toolServers: readonly string[];
  /** Logs what was wrong before the editor could take messages. Called once the editor is ready. */
  readonly warnOfStart: () => void;
  /** Ends everything that would outlive the process. */
  readonly onShutdown: () => Promise<void>;
  /** Asks the editor for its settings, where it answers that. */
  readonly pullSettings: () => Promise<void>;
  readonly session: Session;
}

export interface SessionEvents {
  /** The configuration and the editor are known now. `initialize` is not answered yet. */
  readonly onDidInitialize: Event<Introduction>;
  /** The editor is ready, and its settings are known. */
  readonly onDidBecomeReady: Event<void>;
}

/** What an editor says about itself. */
export interface Introduction {
  readonly editor: ClientCapabilities;
  /** The folder of its workspace. */
  readonly root: string | undefined;
  readonly options: InitializationOptions;
}

export function serveSession(connection: Connection, dependencies: SessionDependencies): SessionEvents {
  const { session, settings, configuration, status, servers, log, closed } = dependencies;
  const initialized = createEmitter<Introduction>();
  const ready = createEmitter<void>();
  let answersSettings = false;
  connection.onInitialize((params: InitializeParams): InitializeResult | ResponseError<never> => {
    let options: InitializationOptions;
    try {
      options = settings.start(params.initializationOptions);
      configuration.start(options);
    } catch (error) {
      return toResponseError(error, {
        cancelled: false,
        method: 'initialize',
        log,
      }) as ResponseError<never>;
    }
    const root = workspaceRoot(params);
    answersSettings = params.capabilities.workspace?.configuration === true;
    session.start();
    initialized.fire({ editor: params.capabilities, root, options });
    const { isHostNamed } = configuration.current;
    const { version, toolServers } = dependencies;
    return greetingTo(params.capabilities, { version, isHostNamed, toolServers });
  });
  connection.onInitialized(async () => {
    dependencies.warnOfStart();
    settings.ready();
    if (answersSettings) await dependencies.pullSettings();
    ready.fire();
    log.info(`runnerd ${dependencies.version} talks to ${servers.client().server.url}.`);
    await status
      .check(servers.client(), closed)
      .catch((error) => log.debug(`The first check ended: ${String(error)}`));
  });
  connection.onShutdown(async () => {
    session.stop();
    // When the editor sends `exit` next, the library ends the process at once.
    await dependencies.onShutdown();
  });
  return { onDidInitialize: initialized.event, onDidBecomeReady: ready.event };
}

export interface ConfigurationDependencies {
  readonly settings: SettingsReader;
  readonly configuration: ConfigurationStore;
  readonly status: StatusMonitor;
  readonly servers: Servers;
  readonly log: Log;
  readonly closed: AbortSignal;
}

export interface ServedConfiguration {
  /** Asks the editor for its settings, where it answers that. */
  pull(): Promise<void>;
  /** The settings or the trust changed. */
  readonly onDidChange: Event<void>;
}

/**
 * Changes come with the notification. If they do not, the daemon asks for them, if the editor answers
 * `workspace/configuration`.
 */
export function serveConfiguration(
  connection: Connection,
  endpoint: Endpoint,
  dependencies: ConfigurationDependencies,
): ServedConfiguration {
  const changes = createEmitter<void>();
  const { settings, configuration, status, servers, log, closed } = dependencies;
  const change = (value: unknown) => configuration.change(settings.change(value));
  const changed = () => {
    changes.fire();
    status.check(servers.client(), closed).catch((error) => log.debug(`The check ended: ${String(error)}`));
  };
  const pull = async () => {
    change(await connection.workspace.getConfiguration('runner').catch(() => undefined));
  };
  connection.onDidChangeConfiguration(async (params) => {
    const pushed: unknown = params.settings?.runner;
    if (pushed === undefined || pushed === null) await pull();
    else change(pushed);
    changed();
  });
  endpoint.onNotification(trustDidChange, exact(z.object({ trusted: z.boolean() })), ({ trusted }) => {
    configuration.trust(trusted);
    changed();
  });
  return { pull, onDidChange: changes.event };
}
