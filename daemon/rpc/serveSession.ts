import type {
  ClientCapabilities,
  Connection,
  InitializeParams,
  InitializeResult,
} from 'vscode-languageserver/node';
import * as z from 'zod/mini';
import { type InitializationOptions, trustDidChange } from '../../protocol/messages/initialize.ts';
import { createEmitter } from '../base/event.ts';
import type { Log } from '../base/log.ts';
import { exact } from '../base/validate.ts';
import type { ConfigurationStore } from '../config/configuration.ts';
import type { SettingsReader } from '../config/settingsReader.ts';
import { isChangeable } from '../config/settingsTable.ts';
import type { Servers } from '../runner/servers.ts';
import type { StatusMonitor } from '../status/status.ts';
import { type Endpoint, toResponseError } from './endpoint.ts';
import type { RpcSession } from './frameConnection.ts';
import { allWorkspaceFolders, greetingTo, requireVersion, workspaceRoot } from './greeting.ts';
import type { ResponseError } from './languageServer.ts';

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
  readonly session: RpcSession;
}

/** What an editor says about itself. */
export interface Introduction {
  readonly editor: ClientCapabilities;
  /** The folder of its workspace. */
  readonly root: string | undefined;
  /** All folders of its workspace. */
  readonly folders: readonly string[];
  readonly options: InitializationOptions;
}

export function serveSession(connection: Connection, dependencies: SessionDependencies) {
  const { session, settings, configuration, status, servers, log, closed } = dependencies;
  const initialized = createEmitter<Introduction>();
  const ready = createEmitter<void>();
  let answersSettings = false;
  connection.onInitialize((params: InitializeParams): InitializeResult | ResponseError<never> => {
    let options: InitializationOptions;
    try {
      requireVersion(params.capabilities);
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
    const folders = allWorkspaceFolders(params);
    initialized.fire({ editor: params.capabilities, root, folders, options });
    const { isHostNamed } = configuration.current;
    const { version, toolServers } = dependencies;
    return greetingTo(params.capabilities, { version, isHostNamed, toolServers });
  });
  connection.onInitialized(async () => {
    dependencies.warnOfStart();
    settings.ready();
    if (answersSettings) await dependencies.pullSettings();
    ready.fire();
    log.info(`runnerd ${dependencies.version} talks to ${servers.server().url}.`);
    await status
      .check(servers.server(), closed)
      .catch((error) => log.debug(`The first check ended: ${String(error)}`));
  });
  connection.onShutdown(async () => {
    session.stop();
    // When the editor sends `exit` next, the library ends the process at once.
    await dependencies.onShutdown();
  });
  return {
    /** The configuration and the editor are known now. `initialize` is not answered yet. */
    onDidInitialize: initialized.event,
    /** The editor is ready, and its settings are known. */
    onDidBecomeReady: ready.event,
  };
}

export interface ConfigurationDependencies {
  readonly settings: SettingsReader;
  readonly configuration: ConfigurationStore;
  readonly status: StatusMonitor;
  readonly servers: Servers;
  readonly log: Log;
  readonly closed: AbortSignal;
}

/**
 * Changes come with the notification. If they do not, the daemon asks for them, if the editor answers
 * `workspace/configuration`.
 */
export function serveConfiguration(
  connection: Connection,
  endpoint: Endpoint,
  dependencies: ConfigurationDependencies,
) {
  const changes = createEmitter<void>();
  const { settings, configuration, status, servers, log, closed } = dependencies;
  let hasWarned = false;
  const change = (value: unknown) => {
    const unheard = configuration.change(settings.change(value));
    if (unheard.length === 0 || hasWarned) return;
    hasWarned = true;
    log.warn(
      `These settings are left out, because they may come from a workspace: ${unheard.join(', ')}. The client sends them as initializationOptions, or sends "trusted" or "sendsUserSettings" there; docs/PROTOCOL.md says when.`,
    );
  };
  const changed = () => {
    changes.fire();
    status.check(servers.server(), closed).catch((error) => log.debug(`The check ended: ${String(error)}`));
  };
  const pull = async () => {
    change(await connection.workspace.getConfiguration('runner').catch(() => undefined));
  };
  connection.onDidChangeConfiguration(async (params) => {
    const pushed: unknown = params.settings?.runner;
    const flat = Object.keys(params.settings ?? {}).filter(isChangeable);
    if (flat.length > 0)
      log.warn(`Settings count under "runner": ${flat.join(', ')} stand beside it, and are left out.`);
    if (pushed === undefined || pushed === null) await pull();
    else change(pushed);
    changed();
  });
  endpoint.onNotification(trustDidChange, exact(z.object({ trusted: z.boolean() })), ({ trusted }) => {
    configuration.trust(trusted);
    changed();
  });
  return {
    /** Asks the editor for its settings, where it answers that. */
    pull,
    /** The settings or the trust changed. */
    onDidChange: changes.event,
  };
}
