import { setTimeout as waitFor } from 'node:timers/promises';
import type { InitializeResult, ServerCapabilities } from 'vscode-languageserver/node';
import { startDaemon } from '../../daemon/compose/handshake.ts';
import { userConfigFile } from '../../protocol/base/platform/folders.ts';
import type { InitializationOptions, SecretLine } from '../../protocol/messages/initialize.ts';
import { connectClient, type DaemonClient } from './daemonClient.ts';
import { inPieces } from './inPieces.ts';

export interface PairOptions {
  readonly secrets?: readonly SecretLine[];
  readonly host?: string;
  /** The client tells that it answers `workspace/configuration` with these settings. */
  readonly settings?: unknown;
  /** The daemon's environment; default: none. */
  readonly env?: NodeJS.ProcessEnv;
  /** What else the client tells of itself. */
  readonly capabilities?: object;
  /** How the client answers further requests of the daemon, by method. */
  readonly answers?: Readonly<Record<string, (params: unknown) => unknown>>;
  /** The settings of the user's own file count too, as they do for a client that hands no secrets over. */
  readonly readsUserSettings?: boolean;
  /** Where conversations are kept; default: nowhere. */
  readonly sessionsFolder?: string;
  /** Where the answers about prompts of workspaces are kept; default: nowhere. */
  readonly promptAnswersFolder?: string;
  /** The daemon's clock in ms, and how it waits; default: the true ones. */
  readonly now?: () => number;
  readonly wait?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

export interface PairClient extends DaemonClient {
  /** What the daemon announced of itself. */
  readonly announced: ServerCapabilities;
}

/** Both real ends in one process, with what goes between them cut into pieces of a few bytes. */
export async function startPair(options: InitializationOptions, pair: PairOptions = {}): Promise<PairClient> {
  const { secrets = [], host, settings, env = {}, capabilities = {}, answers = {} } = pair;
  const { now = Date.now, wait = waitTruly } = pair;
  const toDaemon = inPieces();
  const toClient = inPieces();
  const starting = startDaemon({
    input: toDaemon,
    output: toClient,
    version: '0.0.0-test',
    ...(host === undefined ? {} : { host }),
    ...(pair.sessionsFolder === undefined ? {} : { sessionsFolder: pair.sessionsFolder }),
    ...(pair.promptAnswersFolder === undefined ? {} : { promptAnswersFolder: pair.promptAnswersFolder }),
    userFile: { path: userConfigFile(env), clientHasSettings: pair.readsUserSettings !== true },
    readSecrets: async ({ store }) => secrets.forEach(store.set),
    platform: process.platform,
    env,
    now,
    wait,
    random: Math.random,
  });
  const client = connectClient(toClient, toDaemon);
  client.connection.onRequest('workspace/configuration', () => [settings]);
  for (const [method, answer] of Object.entries(answers)) client.connection.onRequest(method, answer);
  const { capabilities: announced } = await client.connection.sendRequest<InitializeResult>('initialize', {
    processId: null,
    rootUri: null,
    capabilities: {
      ...capabilities,
      ...(settings === undefined ? {} : { workspace: { configuration: true } }),
    },
    initializationOptions: options,
  });
  const daemon = await starting;
  await client.connection.sendNotification('initialized', {});
  return {
    ...client,
    announced,
    async close() {
      await daemon.close();
      toDaemon.destroy();
      toClient.destroy();
      client.disconnect();
    },
  };
}

async function waitTruly(milliseconds: number, signal: AbortSignal): Promise<void> {
  await waitFor(milliseconds, undefined, { signal });
}
