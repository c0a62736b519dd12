import type * as vscode from 'vscode';
import type { ConfigurationParams, LanguageClient } from 'vscode-languageclient/node';
import type { InitializationOptions, RunnerOptions } from '../../../protocol/messages/initialize.ts';
import type { SecretLine } from '../../../protocol/messages/secrets.ts';
import type { ToolRefusal } from '../../../protocol/messages/tools.ts';
import { readChangedSettings } from '../settings.ts';
import { type RunnerdProcess, spawnRunnerd } from './runnerdProcess.ts';
import type { TokenStore } from './secretStore.ts';

/** One process of `runnerd`, which has been initialized. */
export interface StartedDaemon {
  readonly client: LanguageClient;
  /** Sends the tokens for these origins that the daemon does not have. A changed token is sent without this. */
  sendTokens(origins: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}

export interface StartOptions {
  /** `runnerd.cjs`. */
  readonly path: string;
  readonly settings: RunnerOptions;
  /** Models that refused tools under earlier daemons of this window. */
  readonly refusals: readonly ToolRefusal[];
  readonly trusted: boolean;
  /** Those of the servers in the settings. */
  readonly origins: readonly string[];
  readonly tokens: TokenStore;
  readonly log: vscode.LogOutputChannel;
  /** A folder for a cache between runs. */
  readonly cacheDir: string;
  /** Runs before the daemon starts, so that none of its messages is missed. */
  readonly prepare: (client: LanguageClient) => void;
  /** The daemon had started, and has ended. */
  readonly onDidEnd: () => void;
}

/** Rejects with the daemon's own sentence if it refuses the settings. */
export async function startDaemon(options: StartOptions): Promise<StartedDaemon> {
  const { path, origins, tokens, prepare } = options;
  // The library takes longer to load than everything else: activation does not wait for it.
  const { RunnerLanguageClient } = await import('./languageClient.ts');
  let child: RunnerdProcess['child'] | undefined;
  let sender: TokenSender | undefined;
  let hasStarted = false;
  const spawnDaemon = async () => {
    const runnerd = spawnRunnerd(path);
    child = runnerd.child;
    sender = createTokenSender(runnerd, tokens);
    await sender.send(origins);
    return child;
  };
  const ended = () => {
    sender?.dispose();
    // A failed start is reported by its rejection.
    if (hasStarted) options.onDidEnd();
  };
  const client = new RunnerLanguageClient(
    'runner',
    'Runner',
    spawnDaemon,
    await clientOptions(options, ended),
  );
  prepare(client);
  try {
    await client.start();
  } catch (error) {
    sender?.dispose();
    // A daemon that refused its settings would go on running.
    child?.kill();
    throw error;
  }
  hasStarted = true;
  return {
    client,
    sendTokens: async (wanted) => sender?.send(wanted),
    async stop() {
      sender?.dispose();
      await client.dispose();
    },
  };
}

async function clientOptions(
  { settings, refusals, trusted, cacheDir, log }: StartOptions,
  onDidClose: () => void,
) {
  const { CloseAction, ErrorAction, RevealOutputChannelOn } = await import('./languageClient.ts');
  const told: InitializationOptions = {
    ...{ ...settings, cacheDir, trusted, refusedTools: refusals },
    // What a workspace says is left out here while it is not trusted.
    sendsUserSettings: true,
  };
  return {
    documentSelector: [{ language: 'modelfile' }],
    outputChannel: log,
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    initializationOptions: told,
    middleware: {
      workspace: {
        // The daemon asks once it is ready. The library would hand over all that the editor has under the name.
        configuration: ({ items }: ConfigurationParams) =>
          items.map(({ section }) => (section === 'runner' ? readChangedSettings() : null)),
      },
    },
    // We report the failure ourselves, once.
    initializationFailedHandler: () => false,
    errorHandler: {
      error: () => ({ action: ErrorAction.Continue, handled: true }),
      closed: () => {
        onDidClose();
        return { action: CloseAction.DoNotRestart, handled: true };
      },
    },
  };
}

interface TokenSender extends vscode.Disposable {
  /** Sends the tokens for these origins that the process does not have. */
  send(origins: readonly string[]): Promise<void>;
}

/** Sends one process each token that changes from now on, and those that are asked for. */
function createTokenSender(runnerd: RunnerdProcess, tokens: TokenStore): TokenSender {
  const sent = new Set<string>();
  const send = (line: SecretLine) => {
    sent.add(line.origin);
    runnerd.send(line);
  };
  const listening = tokens.onDidChange(send);
  return {
    async send(origins) {
      // A token that changes while they are read is sent by its change, which is newer.
      for (const line of await tokens.linesFor(origins)) if (!sent.has(line.origin)) send(line);
    },
    dispose: () => listening.dispose(),
  };
}
