import { once } from 'node:events';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { startAcp } from '../../daemon/compose/acpServer.ts';
import { readSecrets } from '../../daemon/config/secretSources.ts';
import { stateFolder, userConfigFile } from '../../protocol/base/platform/folders.ts';
import type { AgentMode } from '../../protocol/messages/chat.ts';
import { type AcpClient, type AcpClientOptions, connectAcpClient } from './acpClient.ts';
import type { Teardown } from './daemonWithRunner.ts';
import { inPieces } from './inPieces.ts';

export interface AcpPair extends AcpClient {
  /** The lines of the log so far. */
  readonly log: readonly string[];
  /** The client goes away, as when an editor ends; settles when the agent has noticed and is closed. */
  hangUp(): Promise<void>;
}

export interface AcpPairOptions extends AcpClientOptions {
  readonly host: string;
  /** The model that answers if the client chooses none. */
  readonly model?: string;
  /** The mode of new sessions. */
  readonly mode?: AgentMode;
  readonly traceFile?: string;
  /** The agent's clock in ms; default: the true one. */
  readonly now?: () => number;
  /** The user's state folder; default: one that cannot be made, so that nothing is kept. */
  readonly state?: string;
  /** The user's own folder of configurations; default: there is none. */
  readonly config?: string;
}

/** Both real ends in one process. What the agent reads is cut into pieces of a few bytes. */
export async function startAcpPair(test: Teardown, options: AcpPairOptions): Promise<AcpPair> {
  const { host, model, mode, traceFile, now = Date.now, state = '/dev/null', config = '/dev/null' } = options;
  const { platform } = process;
  const env = {
    ...{ PATH: process.env['PATH'], HOME: '/nonexistent' },
    ...{ XDG_STATE_HOME: state, XDG_CONFIG_HOME: config },
  };
  const toAgent = inPieces();
  const toClient = new PassThrough();
  const log: string[] = [];
  const kept = stateFolder(env, platform);
  const daemon = await startAcp({
    ...{ input: toAgent, output: toClient, version: '0.0.0-test', host, platform, env },
    ...(model === undefined ? {} : { model }),
    ...(mode === undefined ? {} : { mode }),
    ...(traceFile === undefined ? {} : { traceFile }),
    userFile: { path: userConfigFile(env), clientHasSettings: false },
    readSecrets,
    sessionsFolder: join(kept, 'sessions'),
    chatModelFile: join(kept, 'chatModel.json'),
    promptAnswersFolder: join(kept, 'promptFolders'),
    writeLog: (line) => void log.push(line),
    now,
    random: Math.random,
  });
  const { initialize, disconnect } = connectAcpClient(toClient, toAgent, options);
  const leave = async () => {
    const noticed = once(daemon.signal, 'abort');
    toAgent.end();
    await noticed;
    await daemon.close();
  };
  let left: Promise<void> | undefined;
  const hangUp = () => {
    left ??= leave();
    return left;
  };
  test.teardown(async () => {
    await hangUp();
    toClient.destroy();
    disconnect();
  });
  return { ...(await initialize()), log, hangUp };
}
