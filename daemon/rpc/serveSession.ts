import type {
  ClientCapabilities,
  Connection,
  InitializeParams,
  InitializeResult,
} from 'vscode-languageserver/node';
import type { InitializationOptions } from '../../protocol/messages/initialize.ts';
import { createEmitter, type Event } from '../base/event.ts';
import { toResponseError } from './endpoint.ts';
import { allWorkspaceFolders, greetingTo, requireVersion, workspaceRoot } from './greeting.ts';
import type { ResponseError } from './languageServer.ts';
import type { ConfigurationDependencies } from './serveConfiguration.ts';
import type { RpcSession } from './session.ts';

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
  /** All folders of its workspace. */
  readonly folders: readonly string[];
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
  return { onDidInitialize: initialized.event, onDidBecomeReady: ready.event };
}
