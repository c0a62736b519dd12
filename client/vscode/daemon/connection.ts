import * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import { messageOf } from '../../../protocol/base/text.ts';
import { trustDidChange } from '../../../protocol/messages/initialize.ts';
import type {
  NotificationMessage,
  RequestMessage,
  WorkDoneParams,
  WorkProgress,
} from '../../../protocol/messages/messageTypes.ts';
import type { ChangedOptions, RunnerOptions } from '../../../protocol/messages/settings.ts';
import { type ToolRefusal, toolsDidRefuse } from '../../../protocol/messages/tools.ts';
import type { Clock } from '../../shared/clock.ts';
import { errorDataOf } from '../convert/failure.ts';
import { readChangedSettings } from '../settings.ts';
import { inEditorWords } from '../ui/remedies.ts';
import { DaemonKeeper } from './daemonKeeper.ts';
import { originsOf } from './servers.ts';
import { type StartedDaemon, type StartOptions, startDaemon } from './startedDaemon.ts';

interface DaemonConnectionOptions extends Pick<StartOptions, 'path' | 'tokens' | 'log' | 'cacheDir'> {
  readonly settings: () => RunnerOptions;
  readonly clock: Clock;
}

const didChangeConfiguration: NotificationMessage<{
  readonly settings: { readonly runner: ChangedOptions };
}> = { method: 'workspace/didChangeConfiguration' };

/** The extension's end of the connection to `runnerd`. It connects by itself, and reconnects when the daemon dies. */
export class DaemonConnection implements vscode.Disposable {
  readonly #options: DaemonConnectionOptions;
  readonly #connected = new vscode.EventEmitter<void>();
  /** The daemon has connected, for the first time or again. */
  readonly onDidConnect = this.#connected.event;
  readonly #failed = new vscode.EventEmitter<unknown>();
  /** A start failed. More tries follow, at growing intervals and whenever settings change. */
  readonly onDidFailToStart = this.#failed.event;
  readonly #subscriptions: vscode.Disposable;
  readonly #keeper: DaemonKeeper<StartedDaemon>;
  /** By method; each new client gets all of them. */
  readonly #listeners = new Map<string, Set<(params: unknown) => void>>();
  /** The settings that were last sent to this daemon. */
  #sent: RunnerOptions = {};
  #hasSentTrust = false;
  /** The models that refused tools in this window. The next daemon gets them at its start. */
  #refusals: readonly ToolRefusal[] = [];
  #works = 0;

  constructor(options: DaemonConnectionOptions) {
    this.#options = options;
    this.#subscriptions = vscode.Disposable.from(
      this.#connected,
      this.#failed,
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('runner')) this.#changeSettings();
      }),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.#trust()),
    );
    this.#keeper = new DaemonKeeper({
      start: (onDidEnd) => this.#start(onDidEnd),
      stop: (daemon) => daemon.stop(),
      onDidStart: () => {
        this.#catchUp();
        this.#connected.fire();
      },
      onDidFail: (error) => this.#failed.fire(error),
      onDidWait: (wait) => options.log.warn(`The daemon ended. It restarts in ${wait / 1000} s.`),
      clock: options.clock,
    });
    this.onNotification(toolsDidRefuse, ({ refusals }) => {
      this.#refusals = refusals;
    });
  }

  get isConnected(): boolean {
    return this.#keeper.running !== undefined;
  }

  /**
   * Waits for the connection. Rejects with the daemon's error, whose advice is in the editor's words, or with a
   * sentence if the daemon has ended.
   */
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

  /** Sends a request whose progress is reported under its own token. */
  async requestWithProgress<P extends WorkDoneParams, R>(
    { method }: RequestMessage<P, R>,
    params: P,
    { token, report }: { token: vscode.CancellationToken; report: (progress: WorkProgress) => void },
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

  /** Sent in order, also among requests. Without a running daemon, nothing is sent. */
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
      throw new Error(`The daemon of Runner does not start. ${messageOf(error)}`, { cause: error });
    }
  }

  /** Sends what changed while this daemon started. */
  #catchUp(): void {
    if (JSON.stringify(this.#options.settings()) !== JSON.stringify(this.#sent)) this.#changeSettings();
    if (vscode.workspace.isTrusted && !this.#hasSentTrust) this.#trust();
  }

  #trust(): void {
    if (!this.isConnected) return;
    this.#hasSentTrust = true;
    this.notify(trustDidChange, { trusted: true });
    // The workspace's settings count from now on.
    this.#changeSettings();
  }

  #start(onDidEnd: () => void): Promise<StartedDaemon> {
    const { settings, clock: _, ...options } = this.#options;
    this.#sent = settings();
    this.#hasSentTrust = vscode.workspace.isTrusted;
    return startDaemon({
      ...options,
      settings: this.#sent,
      origins: originsNow(this.#sent),
      onDidEnd,
      refusals: this.#refusals,
      trusted: this.#hasSentTrust,
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
    this.#sent = settings;
    this.notify(didChangeConfiguration, { settings: { runner: readChangedSettings() } });
    // The daemon may not have the token of a new server yet.
    this.#keeper.daemon.then((daemon) => daemon.sendTokens(originsNow(settings))).catch(ignore);
  }
}

function originsNow(settings: RunnerOptions): readonly string[] {
  return [...originsOf(settings).values()];
}

function ignore(): void {
  // Without a daemon, nothing is lost: each start sends everything.
}

/** The library's error codes for requests that were in progress when the daemon ended. */
const lostConnectionCodes: readonly unknown[] = [-32096, -32097, -32098, -32099];

/** Rejects with the daemon's error, its advice in the editor's words, or with a sentence if the daemon has ended. */
async function explained<R>(answer: Promise<R>): Promise<R> {
  try {
    return await answer;
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause;
    if ('code' in cause && lostConnectionCodes.includes(cause.code))
      throw new Error('The daemon of Runner ended unexpectedly. It is being restarted; then ask again.', {
        cause,
      });
    const data = errorDataOf(cause);
    if (data?.advice === undefined) throw cause;
    const words = inEditorWords({ message: cause.message, advice: data.advice }, data.server);
    throw Object.assign(new Error(words, { cause }), { data });
  }
}
