import * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import { type RunnerOptions, trustDidChange } from '../../../protocol/initialize.ts';
import type { NotificationMessage, RequestMessage, WorkDoneParams } from '../../../protocol/messageTypes.ts';
import type { WorkProgress } from '../../../protocol/progress.ts';
import type { SecretLine } from '../../../protocol/secrets.ts';
import { messageOf } from '../errorReporter.ts';
import { readChangedSettings } from '../settings.ts';
import { type RunnerdProcess, spawnRunnerd } from './runnerdProcess.ts';
import type { TokenStore } from './secretStore.ts';
import { originsOf } from './servers.ts';

/** The extension's end of the connection to `runnerd`. It connects by itself, and again when the daemon dies. */
export interface DaemonConnection extends vscode.Disposable {
  /** Waits for the connection. Rejects with the daemon's error, or a sentence when the daemon is gone. */
  request<P, R>(message: RequestMessage<P, R>, params: P, token?: vscode.CancellationToken): Promise<R>;
  /** Sent in their order, also among requests; to a daemon that is not there, not at all. */
  notify<P>(message: NotificationMessage<P>, params: P): void;
  onNotification<P>(message: NotificationMessage<P>, take: (params: P) => void): vscode.Disposable;
  /** Runs a request whose progress is told under a token of its own. */
  requestWithProgress<P extends WorkDoneParams, R>(
    message: RequestMessage<P, R>,
    params: P,
    watcher: ProgressWatcher,
  ): Promise<R>;
  /** The daemon answers, for the first time or again. */
  readonly onDidConnect: vscode.Event<void>;
  /** It does not even start; that is tried again, later and later, and when settings change. */
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
  /** A folder for what may be kept between runs. */
  readonly cacheDir: string;
}

const didChangeConfiguration: NotificationMessage<{ readonly settings: { readonly runner: RunnerOptions } }> =
  {
    method: 'workspace/didChangeConfiguration',
  };

/** Milliseconds before the daemon is started again: longer each time, until it has lived a minute. */
const waits = [250, 1_000, 4_000, 15_000, 60_000];
const steadyAfter = 60_000;

export function connectDaemon(options: ConnectionOptions): DaemonConnection {
  return new Connection(options);
}

class Connection implements DaemonConnection {
  readonly #options: ConnectionOptions;
  readonly #connected = new vscode.EventEmitter<void>();
  readonly onDidConnect = this.#connected.event;
  readonly #failed = new vscode.EventEmitter<unknown>();
  readonly onDidFailToStart = this.#failed.event;
  isConnected = false;
  readonly #disposables: vscode.Disposable[] = [this.#connected, this.#failed];
  /** By method; each new client gets all of them. */
  readonly #takers = new Map<string, Set<(params: unknown) => void>>();
  #client: Promise<LanguageClient>;
  #process: RunnerdProcess | undefined;
  /** What this process was told. */
  #settings: RunnerOptions = {};
  /** The origins of the secrets that this process has. */
  readonly #toldOrigins = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  /** Ends the wait for the next start. */
  #startsLater: (() => void) | undefined;
  /** Why the last start failed, until one succeeds. */
  #failure: unknown;
  #tries = 0;
  #works = 0;
  #isDisposed = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    const { tokens } = options;
    this.#disposables.push(
      tokens.onDidChange((line) => this.#tell(line)),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('runner')) this.#changeSettings();
      }),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.notify(trustDidChange, { trusted: true })),
    );
    this.#client = this.#start();
  }

  async request<P, R>(
    { method }: RequestMessage<P, R>,
    params: P,
    token?: vscode.CancellationToken,
  ): Promise<R> {
    const client = await this.#connection();
    try {
      return await (token === undefined
        ? client.sendRequest<R>(method, params)
        : client.sendRequest<R>(method, params, token));
    } catch (error) {
      throw isLostConnection(error) ? daemonEnded(error) : error;
    }
  }

  async requestWithProgress<P extends WorkDoneParams, R>(
    { method }: RequestMessage<P, R>,
    params: P,
    { token, report }: ProgressWatcher,
  ): Promise<R> {
    const client = await this.#connection();
    const workDoneToken = `vscode-work-${++this.#works}`;
    const { ProgressType } = await import('./languageClient.ts');
    const listening = client.onProgress(new ProgressType<WorkProgress>(), workDoneToken, report);
    try {
      return await client.sendRequest<R>(method, { ...params, workDoneToken }, token);
    } catch (error) {
      throw isLostConnection(error) ? daemonEnded(error) : error;
    } finally {
      listening.dispose();
    }
  }

  notify<P>({ method }: NotificationMessage<P>, params: P): void {
    this.#client.then((client) => client.sendNotification(method, params)).catch(ignore);
  }

  onNotification<P>({ method }: NotificationMessage<P>, take: (params: P) => void): vscode.Disposable {
    const takers = this.#takers.get(method) ?? new Set();
    const own = take as (params: unknown) => void;
    takers.add(own);
    if (!this.#takers.has(method)) {
      this.#takers.set(method, takers);
      this.#client.then((client) => this.#listen(client, method)).catch(ignore);
    }
    return new vscode.Disposable(() => takers.delete(own));
  }

  dispose(): void {
    this.#isDisposed = true;
    clearTimeout(this.#timer);
    for (const disposable of this.#disposables) disposable.dispose();
    this.#client.then((client) => client.dispose()).catch(ignore);
  }

  /** One that ended is waited for; one that did not even start may take long, and nobody waits for that. */
  #connection(): Promise<LanguageClient> {
    return this.#failure === undefined ? this.#client : Promise.reject(notStarted(this.#failure));
  }

  /** A daemon that could not start with the settings as they were is started with them as they are. */
  #changeSettings(): void {
    if (!this.isConnected) this.#tries = 0;
    if (!this.isConnected && this.#startsLater) {
      clearTimeout(this.#timer);
      this.#startsLater();
      return;
    }
    // One that is only starting is told once it is there, or starts anew with them.
    if (this.isConnected && this.#isUnset()) {
      this.#client = this.#restart();
      this.#client.catch(ignore);
      return;
    }
    this.notify(didChangeConfiguration, { settings: { runner: readChangedSettings() } });
    // Another server may have a token that this daemon was never told.
    this.#tellSecrets().catch(ignore);
  }

  /** What a daemon was told and is set no more, it cannot be told: absent keeps its value. */
  #isUnset(): boolean {
    const now = this.#options.settings();
    const before = this.#settings;
    this.#settings = { ...before, ...now };
    return (['keepAlive', 'caFile', 'modelfilesPath'] as const).some((key) => key in before && !(key in now));
  }

  /** A new daemon begins without what is unset. */
  async #restart(): Promise<LanguageClient> {
    this.isConnected = false;
    try {
      await (await this.#client).stop();
    } catch {
      // One that is gone needs no end.
    }
    return this.#start();
  }

  async #tellSecrets(): Promise<void> {
    const { tokens, settings } = this.#options;
    const lines = await tokens.linesFor([...originsOf(settings(), process.env['OLLAMA_HOST']).values()]);
    for (const line of lines) if (!this.#toldOrigins.has(line.origin)) this.#tell(line);
  }

  #tell(line: SecretLine): void {
    this.#toldOrigins.add(line.origin);
    this.#process?.tell(line);
  }

  #start(): Promise<LanguageClient> {
    const client = this.#open();
    client.then(
      () => {
        this.isConnected = true;
        this.#failure = undefined;
        this.#connected.fire();
      },
      (error) => {
        this.#failure = error;
        this.#failed.fire(error);
        this.#startLater();
      },
    );
    // Requests are told by it; nobody may be waiting now.
    client.catch(() => undefined);
    return client;
  }

  async #open(): Promise<LanguageClient> {
    const { path, log, settings, tokens, cacheDir } = this.#options;
    const secrets = await tokens.linesFor([...originsOf(settings(), process.env['OLLAMA_HOST']).values()]);
    // The library takes longer to load than all else: activation does not wait for it.
    const { RunnerLanguageClient, CloseAction, ErrorAction, RevealOutputChannelOn } = await import(
      './languageClient.ts'
    );
    const startedAt = Date.now();
    this.#settings = settings();
    let hasStarted = false;
    let started: RunnerdProcess | undefined;
    const client = new RunnerLanguageClient(
      'runner',
      'Runner',
      async () => {
        started = spawnRunnerd(path);
        this.#process = started;
        this.#toldOrigins.clear();
        for (const line of secrets) this.#tell(line);
        return started.child;
      },
      {
        documentSelector: [{ language: 'modelfile' }],
        outputChannel: log,
        revealOutputChannelOn: RevealOutputChannelOn.Never,
        initializationOptions: { ...this.#settings, cacheDir, trusted: vscode.workspace.isTrusted },
        // The failure is ours to tell, once.
        initializationFailedHandler: () => false,
        errorHandler: {
          error: () => ({ action: ErrorAction.Continue, handled: true }),
          closed: () => {
            if (Date.now() - startedAt > steadyAfter) this.#tries = 0;
            // A start that failed is told by itself, and counts once.
            if (hasStarted) this.#startLater();
            return { action: CloseAction.DoNotRestart, handled: true };
          },
        },
      },
    );
    for (const method of this.#takers.keys()) this.#listen(client, method);
    try {
      await client.start();
    } catch (error) {
      // One that refused its settings lives on, and nobody would end it.
      started?.child.kill();
      throw error;
    }
    hasStarted = true;
    return client;
  }

  #listen(client: LanguageClient, method: string): void {
    client.onNotification(method, (params: unknown) => {
      for (const take of this.#takers.get(method) ?? []) take(params);
    });
  }

  #startLater(): void {
    this.isConnected = false;
    if (this.#isDisposed) return;
    const wait = waits[Math.min(this.#tries++, waits.length - 1)] ?? 0;
    this.#options.log.warn(`The daemon ended. It is started again in ${wait / 1000} s.`);
    clearTimeout(this.#timer);
    this.#client = new Promise((resolve, reject) => {
      this.#startsLater = () => {
        this.#startsLater = undefined;
        this.#start().then(resolve, reject);
      };
      this.#timer = setTimeout(this.#startsLater, wait);
    });
    this.#client.catch(() => undefined);
  }
}

/** What the library says of requests that were under way when the daemon ended. */
const lostConnectionCodes: readonly unknown[] = [-32096, -32097, -32098, -32099];

function isLostConnection(error: unknown): boolean {
  return error instanceof Error && 'code' in error && lostConnectionCodes.includes(error.code);
}

function notStarted(cause: unknown): Error {
  return new Error(`The daemon of Runner does not start. ${messageOf(cause)}`, { cause });
}

function daemonEnded(cause: unknown): Error {
  return new Error('The daemon of Runner ended unexpectedly. It is started again; then ask again.', {
    cause,
  });
}

function ignore(): void {
  // A daemon that is not there is told by its start, which goes on trying, and is told all of it then.
}
