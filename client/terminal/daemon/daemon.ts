import { existsSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import {
  type CancellationToken,
  CancellationTokenSource,
  createMessageConnection,
  type Disposable,
  type MessageConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-jsonrpc/node';
import { startProgram } from '../../../protocol/base/platform/program.ts';
import type { InitializationOptions, RunnerCapabilities } from '../../../protocol/messages/initialize.ts';
import type { NotificationMessage, RequestMessage } from '../../../protocol/messages/messageTypes.ts';
import type { ToolCapabilities } from '../../../protocol/messages/tools.ts';
import { TerminalError } from '../cli/failure.ts';

/** How long the daemon may take to end after it was asked to, in ms. */
const closeLimit = 1_000;

interface InitializeReply {
  readonly serverInfo?: { readonly version?: string };
  readonly capabilities?: { readonly experimental?: { readonly runner?: Partial<RunnerCapabilities> } };
}

const initializeRequest: RequestMessage<object, InitializeReply> = {
  method: 'initialize',
};
const shutdownRequest: RequestMessage<undefined, null> = { method: 'shutdown' };

/** Initializes a daemon that was spawned. On failure the process is ended. */
export async function startDaemon(
  child: DaemonProcess,
  options: InitializationOptions,
  client: ToolCapabilities = {},
): Promise<DaemonClient> {
  const daemon = new DaemonClient(child);
  try {
    await daemon.initialize(options, client);
    return daemon;
  } catch (error) {
    await daemon.close();
    throw error;
  }
}

/** The terminal's end of the connection to `runnerd`. */
export class DaemonClient {
  readonly #connection: MessageConnection;
  readonly #child: DaemonProcess;
  /** Never fulfilled; rejects with a sentence when the daemon has ended. */
  readonly gone: Promise<never>;
  #isGone = false;
  #isClosed = false;
  #announced: InitializeReply = {};

  constructor(child: DaemonProcess) {
    this.#child = child;
    this.gone = whenGone(child);
    // Nobody may be waiting when it ends normally.
    this.gone.catch(() => undefined);
    void child.ended.finally(() => {
      this.#isGone = true;
    });
    const { input, output } = child;
    this.#connection = createMessageConnection(
      new StreamMessageReader(output),
      new StreamMessageWriter(input),
    );
    // A lost connection is reported once, by the requests that wait for an answer.
    this.#connection.onError(() => undefined);
    input.on('error', () => undefined);
    this.#connection.onClose(() => {
      this.#isClosed = true;
    });
    this.#connection.listen();
  }

  async initialize(options: InitializationOptions, client: ToolCapabilities): Promise<void> {
    this.#announced = await this.request(initializeRequest, {
      processId: process.pid,
      clientInfo: { name: 'runner' },
      rootUri: null,
      capabilities: { experimental: { runner: client } },
      initializationOptions: options,
    });
    await this.#connection.sendNotification('initialized', {});
  }

  get version(): string {
    return this.#announced.serverInfo?.version ?? 'unknown';
  }

  /** Whether an option, the environment or the user's configuration names the address of its runner. */
  get isHostNamed(): boolean {
    return this.#announced.capabilities?.experimental?.runner?.isHostNamed ?? false;
  }

  /** Names of the tool servers in the user's own configuration. */
  get toolServers(): readonly string[] {
    return this.#announced.capabilities?.experimental?.runner?.toolServers ?? [];
  }

  /** Rejects with the daemon's error, or with a sentence if the daemon has ended. An aborted signal cancels. */
  async request<P, R>({ method }: RequestMessage<P, R>, params: P, signal?: AbortSignal): Promise<R> {
    if (this.#isGone) return this.gone;
    const source = new CancellationTokenSource();
    const cancel = () => source.cancel();
    signal?.addEventListener('abort', cancel, { once: true });
    if (signal?.aborted) cancel();
    try {
      return await Promise.race([this.#connection.sendRequest<R>(method, params, source.token), this.gone]);
    } finally {
      signal?.removeEventListener('abort', cancel);
      source.dispose();
    }
  }

  /** Takes notifications until the returned function is called. */
  onNotification<P>({ method }: NotificationMessage<P>, take: (params: P) => void): () => void {
    return this.#listen(() => this.#connection.onNotification(method, (params) => take(params)));
  }

  /** Answers requests of the daemon until the returned function is called. */
  onRequest<P, R>(
    { method }: RequestMessage<P, R>,
    answer: (params: P, signal: AbortSignal) => Promise<R>,
  ): () => void {
    return this.#listen(() =>
      this.#connection.onRequest(method, async (params, token: CancellationToken) => {
        const cancel = new AbortController();
        const subscription = token.onCancellationRequested(() => cancel.abort());
        return answer(params, cancel.signal).finally(() => subscription.dispose());
      }),
    );
  }

  /** Nothing comes from a daemon that has ended, and the next request says so. The connection itself would throw. */
  #listen(register: () => Disposable): () => void {
    const registered = this.#isClosed ? undefined : register();
    return () => registered?.dispose();
  }

  /** Stops reading what the daemon sends, which makes it wait, until `resume`. */
  pause(): void {
    this.#child.output.pause();
  }

  resume(): void {
    this.#child.output.resume();
  }

  /** The end of what it wrote to standard error. */
  said(): string {
    return this.#child.said();
  }

  /** Ends the daemon and waits for that. */
  async close(): Promise<void> {
    const limit = setTimeout(this.#child.kill, closeLimit);
    this.resume();
    try {
      await this.request(shutdownRequest, undefined);
      await this.#connection.sendNotification('exit');
    } catch {
      // It has ended or does not answer. The end of its input ends it, or the time limit.
    }
    this.#child.input.end();
    await this.#child.ended;
    clearTimeout(limit);
    this.#connection.dispose();
  }
}

/** Rejects when the process ends, with the last that it wrote to standard error. */
async function whenGone({ ended, said }: DaemonProcess): Promise<never> {
  const how = await ended;
  const lines = said()
    .split('\n')
    .filter((line) => line.trim() !== '');
  // In a stack trace, the line that names the error is the useful one.
  const reason = (lines.find((line) => /^\w*Error\b/.test(line)) ?? lines.at(-1) ?? '').trim().slice(0, 300);
  throw new TerminalError(
    'daemon-failed',
    `The daemon runnerd ended unexpectedly (${how}). ${reason}`.trim(),
  );
}

/** The process of a daemon, as the client sees it. */
export interface DaemonProcess {
  /** What the daemon reads. */
  readonly input: Writable;
  /** What the daemon writes. */
  readonly output: Readable;
  /** The end of what it wrote to standard error. */
  readonly said: () => string;
  /** Fulfilled when it has ended, with the reason, such as `exit code 1`. */
  readonly ended: Promise<string>;
  readonly kill: () => void;
}

/** How many characters of standard error are kept, in case the daemon dies. */
const keptStderr = 4096;

/**
 * Starts `runnerd` from its path with this program's own runtime.
 * @throws {TerminalError} when it is not there.
 */
export function spawnDaemon(
  runnerd: string,
  env: NodeJS.ProcessEnv,
  flags: readonly string[],
): DaemonProcess {
  if (!existsSync(runnerd))
    throw new TerminalError('daemon-failed', `${runnerd} is missing. Build it with "npm run build".`);
  // Ctrl-C reaches only the client, which then cancels its requests.
  const words = [runnerd, '--stdio', ...flags];
  const child = startProgram(process.execPath, words, { stdio: 'pipe', env, leadsGroup: true });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-keptStderr);
  });
  const ended = new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  return {
    input: child.stdin,
    output: child.stdout,
    said: () => said,
    ended,
    kill: () => child.kill('SIGKILL'),
  };
}

/** While this many items wait, the daemon is not read. */
const many = 16;

/** Handles what the daemon sends one item at a time, and pauses the daemon while handling is slow. */
export class BackpressureQueue<T> {
  readonly #daemon: DaemonClient;
  readonly #handle: (item: T) => Promise<void>;
  readonly #waiting: T[] = [];
  #work: Promise<void> | undefined;

  constructor(daemon: DaemonClient, handle: (item: T) => Promise<void>) {
    this.#daemon = daemon;
    this.#handle = handle;
  }

  push(item: T): void {
    this.#waiting.push(item);
    if (this.#waiting.length === many) this.#daemon.pause();
    this.#work ??= this.#handleAll();
  }

  /** Settles when everything so far has been handled. */
  async settle(): Promise<void> {
    await this.#work;
  }

  async #handleAll(): Promise<void> {
    for (let item = this.#waiting.shift(); item !== undefined; item = this.#waiting.shift())
      await this.#handle(item);
    this.#work = undefined;
    this.#daemon.resume();
  }
}
