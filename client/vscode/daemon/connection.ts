import * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import {
  type ChangedOptions,
  type RunnerOptions,
  trustDidChange,
} from '../../../protocol/messages/initialize.ts';
import type {
  NotificationMessage,
  RequestMessage,
  WorkDoneParams,
} from '../../../protocol/messages/messageTypes.ts';
import type { WorkProgress } from '../../../protocol/messages/progress.ts';
import { type ToolRefusal, toolsDidRefuse } from '../../../protocol/messages/tools.ts';
import { systemClock } from '../clock.ts';
import { messageOf } from '../errorText.ts';
import { readChangedSettings } from '../settings.ts';
import { createDaemonKeeper, type DaemonKeeper } from './daemonKeeper.ts';
import type { TokenStore } from './secretStore.ts';
import { originsOf } from './servers.ts';
import { type StartedDaemon, startDaemon } from './startedDaemon.ts';

/** The extension's end of the connection to `runnerd`. It connects by itself, and reconnects when the daemon dies. */
export interface DaemonConnection extends vscode.Disposable {
  /** Waits for the connection. Rejects with the daemon's error, or with a sentence if the daemon has ended. */
  request<P, R>(message: RequestMessage<P, R>, params: P, token?: vscode.CancellationToken): Promise<R>;
  /** Sent in order, also among requests. Without a running daemon, nothing is sent. */
  notify<P>(message: NotificationMessage<P>, params: P): void;
  onNotification<P>(message: NotificationMessage<P>, take: (params: P) => void): vscode.Disposable;
  /** Sends a request whose progress is reported under its own token. */
  requestWithProgress<P extends WorkDoneParams, R>(
    message: RequestMessage<P, R>,
    params: P,
    watcher: ProgressWatcher,
  ): Promise<R>;
  /** The daemon answers, for the first time or again. */
  readonly onDidConnect: vscode.Event<void>;
  /** The daemon does not start. More tries follow, at growing intervals, and whenever settings change. */
  readonly onDidFailToStart: vscode.Event<unknown>;
  readonly isConnected: boolean;
}

export interface ProgressWatcher {
  readonly token: vscode.CancellationToken;
  readonly report: (progress: WorkProgress) => void;
}

export interface ConnectionOptions {
  /** `runnerd.cjs`. */
  readonly path: string;
  readonly settings: () => RunnerOptions;
  readonly tokens: TokenStore;
  readonly log: vscode.LogOutputChannel;
  /** A folder for a cache between runs. */
  readonly cacheDir: string;
}

const didChangeConfiguration: NotificationMessage<{
  readonly settings: { readonly runner: ChangedOptions };
}> = { method: 'workspace/didChangeConfiguration' };

export function connectDaemon(options: ConnectionOptions): DaemonConnection {
  return new Connection(options);
}

class Connection implements DaemonConnection {
  readonly #options: ConnectionOptions;
  readonly #connected = new vscode.EventEmitter<void>();
  readonly onDidConnect = this.#connected.event;
  readonly #failed = new vscode.EventEmitter<unknown>();
  readonly onDidFailToStart = this.#failed.event;
  readonly #subscriptions: vscode.Disposable;
  readonly #keeper: DaemonKeeper<StartedDaemon>;
  /** By method; each new client gets all of them. */
  readonly #listeners = new Map<string, Set<(params: unknown) => void>>();
  /** The settings that this daemon has, from its start and since. */
  #told: RunnerOptions = {};
  #isToldTrusted = false;
  /** The models that refused tools in this window; the next daemon gets them at its start. */
  #refusals: readonly ToolRefusal[] = [];
  #works = 0;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#subscriptions = vscode.Disposable.from(
      this.#connected,
      this.#failed,
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('runner')) this.#changeSettings();
      }),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.#trust()),
    );
    this.#keeper = createDaemonKeeper({
      start: (onDidEnd) => this.#start(onDidEnd),
      stop: (daemon) => daemon.stop(),
      onDidStart: () => {
        this.#catchUp();
        this.#connected.fire();
      },
      onDidFail: (error) => this.#failed.fire(error),
      onDidWait: (wait) => options.log.warn(`The daemon ended. It restarts in ${wait / 1000} s.`),
      clock: systemClock,
    });
    this.onNotification(toolsDidRefuse, ({ refusals }) => {
      this.#refusals = refusals;
    });
  }

  get isConnected(): boolean {
    return this.#keeper.running !== undefined;
  }

  async request<P, R>(
    { method }: RequestMessage<P, R>,
    params: P,
    token?: vscode.CancellationToken,
  ): Promise<R> {
    const client = await this.#client();
    return explained(
      token === undefined
        ? client.sendRequest<R>(method, params)
        : client.sendRequest<R>(method, params, token),
    );
  }

  async requestWithProgress<P extends WorkDoneParams, R>(
    { method }: RequestMessage<P, R>,
    params: P,
    { token, report }: ProgressWatcher,
  ): Promise<R> {
    const client = await this.#client();
    const workDoneToken = `vscode-work-${++this.#works}`;
    const { ProgressType } = await import('./languageClient.ts');
    const listening = client.onProgress(new ProgressType<WorkProgress>(), workDoneToken, report);
    try {
      return await explained(client.sendRequest<R>(method, { ...params, workDoneToken }, token));
    } finally {
      listening.dispose();
    }
  }

  notify<P>({ method }: NotificationMessage<P>, params: P): void {
    // A daemon that is not running yet gets all of it at its start.
    this.#keeper.daemon.then(({ client }) => client.sendNotification(method, params)).catch(ignore);
  }

  onNotification<P>({ method }: NotificationMessage<P>, take: (params: P) => void): vscode.Disposable {
    const listeners = this.#listeners.get(method) ?? new Set();
    const own = take as (params: unknown) => void;
    listeners.add(own);
    if (!this.#listeners.has(method)) {
      this.#listeners.set(method, listeners);
      this.#keeper.daemon.then(({ client }) => this.#listen(client, method)).catch(ignore);
    }
    return new vscode.Disposable(() => listeners.delete(own));
  }

  dispose(): void {
    this.#subscriptions.dispose();
    this.#keeper.dispose();
  }

  async #client(): Promise<LanguageClient> {
    try {
      return (await this.#keeper.daemon).client;
    } catch (error) {
      throw notStarted(error);
    }
  }

  /** Sends what changed while this daemon started. */
  #catchUp(): void {
    if (JSON.stringify(this.#options.settings()) !== JSON.stringify(this.#told)) this.#changeSettings();
    if (vscode.workspace.isTrusted && !this.#isToldTrusted) this.#trust();
  }

  #trust(): void {
    if (!this.isConnected) return;
    this.#isToldTrusted = true;
    this.notify(trustDidChange, { trusted: true });
    // What the workspace says counts from now on.
    this.#changeSettings();
  }

  #start(onDidEnd: () => void): Promise<StartedDaemon> {
    const { settings, ...options } = this.#options;
    this.#told = settings();
    this.#isToldTrusted = vscode.workspace.isTrusted;
    return startDaemon({
      ...options,
      settings: this.#told,
      origins: originsNow(this.#told),
      onDidEnd,
      refusals: this.#refusals,
      trusted: this.#isToldTrusted,
      prepare: (client) => {
        for (const method of this.#listeners.keys()) this.#listen(client, method);
      },
    });
  }

  #listen(client: LanguageClient, method: string): void {
    client.onNotification(method, (params: unknown) => {
      for (const take of this.#listeners.get(method) ?? []) take(params);
    });
  }

  /** If a daemon could not start with the old settings, it starts with the new ones. */
  #changeSettings(): void {
    // A daemon that is starting gets them once it is connected.
    if (this.#keeper.startNow() || !this.isConnected) return;
    const settings = this.#options.settings();
    this.#told = settings;
    this.notify(didChangeConfiguration, { settings: { runner: readChangedSettings() } });
    // A new server may have a token that this daemon does not have.
    this.#keeper.daemon.then((daemon) => daemon.sendTokens(originsNow(settings))).catch(ignore);
  }
}

function originsNow(settings: RunnerOptions): readonly string[] {
  return [...originsOf(settings, process.env['OLLAMA_HOST']).values()];
}

/** The library's error codes for requests that were in progress when the daemon ended. */
const lostConnectionCodes: readonly unknown[] = [-32096, -32097, -32098, -32099];

/** The answer, or, if the daemon has ended meanwhile, a sentence that says so. */
async function explained<R>(answer: Promise<R>): Promise<R> {
  try {
    return await answer;
  } catch (error) {
    throw isLostConnection(error) ? daemonEnded(error) : error;
  }
}

function isLostConnection(error: unknown): boolean {
  return error instanceof Error && 'code' in error && lostConnectionCodes.includes(error.code);
}

function notStarted(cause: unknown): Error {
  return new Error(`The daemon of Runner does not start. ${messageOf(cause)}`, { cause });
}

function daemonEnded(cause: unknown): Error {
  return new Error('The daemon of Runner ended unexpectedly. It is being restarted; then ask again.', {
    cause,
  });
}

function ignore(): void {
  // A missing daemon needs no error here: its start keeps trying, and sends everything then.
}
