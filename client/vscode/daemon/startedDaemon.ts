import type * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import type { InitializationOptions, RunnerOptions } from '../../../protocol/initialize.ts';
import type { SecretLine } from '../../../protocol/secrets.ts';
import type { ToolRefusal } from '../../../protocol/tools.ts';
import { type RunnerdProcess, spawnRunnerd } from './runnerdProcess.ts';
import type { TokenStore } from './secretStore.ts';

/** One process of `runnerd`, which has been initialized. */
export interface StartedDaemon {
  readonly client: LanguageClient;
  /** Hands over the tokens for these origins that it was not told. A token that changes it is told by itself. */
  tellTokens(origins: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}

export interface StartOptions {
  /** `runnerd.cjs`. */
  readonly path: string;
  readonly settings: RunnerOptions;
  /** What earlier daemons of this window learnt of tools. */
  readonly refusals: readonly ToolRefusal[];
  readonly trusted: boolean;
  /** Those of the settings' servers. */
  readonly origins: readonly string[];
  readonly tokens: TokenStore;
  readonly log: vscode.LogOutputChannel;
  /** A folder for what may be kept between runs. */
  readonly cacheDir: string;
  /** Before anything is said to the daemon, so that nothing that it says is missed. */
  readonly prepare: (client: LanguageClient) => void;
  /** It had started, and ended. */
  readonly onDidEnd: () => void;
}

/** Rejects with the daemon's own sentence where it refuses the settings. */
export async function startDaemon(options: StartOptions): Promise<StartedDaemon> {
  const { path, origins, tokens, prepare } = options;
  // The library takes longer to load than all else: activation does not wait for it.
  const { RunnerLanguageClient } = await import('./languageClient.ts');
  let child: RunnerdProcess['child'] | undefined;
  let teller: TokenTeller | undefined;
  let hasStarted = false;
  const spawnDaemon = async () => {
    const runnerd = spawnRunnerd(path);
    child = runnerd.child;
    teller = createTokenTeller(runnerd, tokens);
    await teller.tell(origins);
    return child;
  };
  const ended = () => {
    teller?.dispose();
    // A start that failed is told by itself.
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
    teller?.dispose();
    // One that refused its settings lives on, and nobody would end it.
    child?.kill();
    throw error;
  }
  hasStarted = true;
  return {
    client,
    tellTokens: async (wanted) => teller?.tell(wanted),
    async stop() {
      teller?.dispose();
      await client.dispose();
    },
  };
}

async function clientOptions(
  { settings, refusals, trusted, cacheDir, log }: StartOptions,
  onDidClose: () => void,
) {
  const { CloseAction, ErrorAction, RevealOutputChannelOn } = await import('./languageClient.ts');
  const told: InitializationOptions = { ...settings, cacheDir, trusted, refusedTools: refusals };
  return {
    documentSelector: [{ language: 'modelfile' }],
    outputChannel: log,
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    initializationOptions: told,
    // The failure is ours to tell, once.
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

interface TokenTeller extends vscode.Disposable {
  /** Of these origins those that the process was not told. */
  tell(origins: readonly string[]): Promise<void>;
}

/** Tells one process each token that changes from now on, and those that it is asked to. */
function createTokenTeller(runnerd: RunnerdProcess, tokens: TokenStore): TokenTeller {
  const told = new Set<string>();
  const tell = (line: SecretLine) => {
    told.add(line.origin);
    runnerd.tell(line);
  };
  const listening = tokens.onDidChange(tell);
  return {
    async tell(origins) {
      // One that changes while they are read is told by its change, which is newer.
      for (const line of await tokens.linesFor(origins)) if (!told.has(line.origin)) tell(line);
    },
    dispose: () => listening.dispose(),
  };
}
