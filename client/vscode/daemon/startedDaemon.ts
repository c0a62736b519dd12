import { type ChildProcess, spawn } from 'node:child_process';
import { dirname } from 'node:path';
import type { Writable } from 'node:stream';
import type * as vscode from 'vscode';
import type { ConfigurationParams, LanguageClient } from 'vscode-languageclient/node';
import type { InitializationOptions, SecretLine } from '../../../protocol/messages/initialize.ts';
import type { RunnerOptions } from '../../../protocol/messages/settings.ts';
import type { ToolRefusal } from '../../../protocol/messages/tools.ts';
import { readChangedSettings } from '../settings.ts';
import type { EditorTokenStore } from './tokenStore.ts';

/** An initialized process of `runnerd`. */
export type StartedDaemon = Awaited<ReturnType<typeof startDaemon>>;

export interface StartOptions {
  /** `runnerd.cjs`. */
  readonly path: string;
  readonly settings: RunnerOptions;
  /** Models that refused tools under earlier daemons of this window. */
  readonly refusals: readonly ToolRefusal[];
  readonly trusted: boolean;
  /** The origins of the servers in the settings. */
  readonly origins: readonly string[];
  readonly tokens: EditorTokenStore;
  readonly log: vscode.LogOutputChannel;
  /** A folder for a cache between runs. */
  readonly cacheDir: string;
  /** Runs before the daemon starts, so that none of its messages is missed. */
  readonly prepare: (client: LanguageClient) => void;
  /** The daemon has ended after a successful start. */
  readonly onDidEnd: () => void;
}

/** Schemes of documents that people edit, so not of the chat's input, an output channel or an old revision. */
export const documentSchemes = ['file', 'untitled', 'vscode-notebook-cell'] as const;

/** Rejects with the daemon's own sentence if it refuses the settings. */
export async function startDaemon(options: StartOptions) {
  const { path, origins, tokens, prepare } = options;
  // The library takes longer to load than everything else: activation does not wait for it.
  const { RunnerLanguageClient } = await import('./languageClient.ts');
  let child: RunnerdProcess['child'] | undefined;
  let sender: ReturnType<typeof createTokenSender> | undefined;
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
    /** Sends the tokens for these origins that the daemon does not have. A changed token is sent without this. */
    sendTokens: async (wanted: readonly string[]) => sender?.send(wanted),
    async stop(): Promise<void> {
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
  const initializationOptions: InitializationOptions = {
    ...settings,
    cacheDir,
    trusted,
    refusedTools: refusals,
    // The settings of an untrusted workspace are left out.
    sendsUserSettings: true,
  };
  return {
    // The problems of an old revision would be listed a second time.
    documentSelector: documentSchemes.map((scheme) => ({ scheme, language: 'modelfile' })),
    outputChannel: log,
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    initializationOptions,
    middleware: {
      workspace: {
        // The daemon asks once it is ready. The library would send every value that the editor has under the name.
        configuration: ({ items }: ConfigurationParams) =>
          items.map(({ section }) => (section === 'runner' ? readChangedSettings() : null)),
      },
    },
    // The connection reports the failure, once.
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

/** Sends one process each token that changes from now on, and those that are asked for. */
function createTokenSender(runnerd: RunnerdProcess, tokens: EditorTokenStore) {
  const sent = new Set<string>();
  const send = (line: SecretLine) => {
    sent.add(line.origin);
    runnerd.send(line);
  };
  const listening = tokens.onDidChange(send);
  return {
    async send(origins: readonly string[]): Promise<void> {
      // A token that changes while they are read is sent by its change, which is newer.
      for (const line of await tokens.linesFor(origins)) if (!sent.has(line.origin)) send(line);
    },
    dispose: () => listening.dispose(),
  };
}

/** A daemon with a pipe for secrets, which are in no argument, variable or message. */
interface RunnerdProcess {
  readonly child: ChildProcess;
  /** Sends a secret; it replaces an earlier one for the same origin. */
  send(secret: SecretLine): void;
}

/** Starts `runnerd` with the editor's own runtime. */
function spawnRunnerd(path: string): RunnerdProcess {
  const child = spawn(process.execPath, [path, '--stdio', '--secrets-fd', '3'], {
    // This variable makes Electron run as Node; Node itself ignores it.
    env: { ...process.env, ELECTRON_RUN_AS_NODE: '1' },
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    windowsHide: true,
    // A workspace may be gone or on another machine, and no program in it must be found by chance.
    cwd: dirname(path),
  });
  const secrets = child.stdio[3] as Writable;
  // A daemon that has ended takes no secrets; its end is noticed elsewhere.
  secrets.on('error', () => undefined);
  return { child, send: (secret) => void secrets.write(`${JSON.stringify(secret)}\n`) };
}
