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

/** The terminal's end of the connection to `runnerd`. */
export interface DaemonClient {
  readonly version: string;
  /** Whether an option, the environment or the user's configuration names the address of its runner. */
  readonly isHostNamed: boolean;
  /** Names of the tool servers in the user's own configuration. */
  readonly toolServers: readonly string[];
  /** Rejects with the daemon's error, or with a sentence if the daemon has ended. An aborted signal cancels. */
  request<P, R>(message: RequestMessage<P, R>, params: P, signal?: AbortSignal): Promise<R>;
  /** Takes notifications until the returned function is called. */
  onNotification<P>(message: NotificationMessage<P>, take: (params: P) => void): () => void;
  /** Answers requests of the daemon until the returned function is called. */
  onRequest<P, R>(
    message: RequestMessage<P, R>,
    answer: (params: P, signal: AbortSignal) => Promise<R>,
  ): () => void;
  /** Stops reading what the daemon sends, which makes it wait, until `resume`. */
  pause(): void;
  resume(): void;
  /** The end of what it wrote to standard error. */
  said(): string;
  /** Never fulfilled; rejects with a sentence when the daemon has ended. */
  readonly gone: Promise<never>;
  /** Ends the daemon and waits for that. */
  close(): Promise<void>;
}

/** How long the daemon may take to end after it was asked to, in ms. */
const closeLimit = 1_000;

interface Announced {
  readonly serverInfo?: { readonly version?: string };
  readonly capabilities?: { readonly experimental?: { readonly runner?: Partial<RunnerCapabilities> } };
}

const initializeRequest: RequestMessage<object, Announced> = {
  method: 'initialize',
};
const shutdownRequest: RequestMessage<undefined, null> = { method: 'shutdown' };

/** Initializes a daemon that was spawned. On failure the process is ended. */
export async function startDaemon(
  child: DaemonProcess,
  options: InitializationOptions,
  client: ToolCapabilities = {},
): Promise<DaemonClient> {
  const connection = connect(child);
  const gone = whenGone(child);
  // Nobody may be waiting when it ends normally.
  gone.catch(() => undefined);
  const request = createRequest(connection, child, gone);
  const listen = createListen(connection);
  const close = () => closeDaemon(connection, child, request);
  try {
    const { serverInfo, capabilities } = await request(initializeRequest, {
      processId: process.pid,
      clientInfo: { name: 'runner' },
      rootUri: null,
      capabilities: { experimental: { runner: client } },
      initializationOptions: options,
    });
    await connection.sendNotification('initialized', {});
    const { isHostNamed = false, toolServers = [] } = capabilities?.experimental?.runner ?? {};
    return {
      version: serverInfo?.version ?? 'unknown',
      isHostNamed,
      toolServers,
      request,
      onNotification: ({ method }, take) =>
        listen(() => connection.onNotification(method, (params) => take(params))),
      onRequest: ({ method }, answer) =>
        listen(() =>
          connection.onRequest(method, async (params, token: CancellationToken) => {
            const cancel = new AbortController();
            const subscription = token.onCancellationRequested(() => cancel.abort());
            return answer(params, cancel.signal).finally(() => subscription.dispose());
          }),
        ),
      pause: () => void child.output.pause(),
      resume: () => void child.output.resume(),
      said: child.said,
      gone,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function connect({ input, output }: DaemonProcess): MessageConnection {
  const connection = createMessageConnection(new StreamMessageReader(output), new StreamMessageWriter(input));
  // A lost connection is reported once, by the requests that wait for an answer.
  connection.onError(() => undefined);
  input.on('error', () => undefined);
  connection.listen();
  return connection;
}

/** Nothing comes from a daemon that has ended, and the next request says so. The connection itself would throw. */
function createListen(connection: MessageConnection): (register: () => Disposable) => () => void {
  let isClosed = false;
  connection.onClose(() => {
    isClosed = true;
  });
  return (register) => {
    const registered = isClosed ? undefined : register();
    return () => registered?.dispose();
  };
}

function createRequest(
  connection: MessageConnection,
  child: DaemonProcess,
  gone: Promise<never>,
): DaemonClient['request'] {
  let isGone = false;
  void child.ended.finally(() => {
    isGone = true;
  });
  return async <P, R>(message: RequestMessage<P, R>, params: P, signal?: AbortSignal): Promise<R> => {
    if (isGone) return gone;
    const source = new CancellationTokenSource();
    const cancel = () => source.cancel();
    signal?.addEventListener('abort', cancel, { once: true });
    if (signal?.aborted) cancel();
    try {
      return await Promise.race([connection.sendRequest<R>(message.method, params, source.token), gone]);
    } finally {
      signal?.removeEventListener('abort', cancel);
      source.dispose();
    }
  };
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

async function closeDaemon(
  connection: MessageConnection,
  child: DaemonProcess,
  request: DaemonClient['request'],
): Promise<void> {
  const limit = setTimeout(child.kill, closeLimit);
  child.output.resume();
  try {
    await request(shutdownRequest, undefined);
    await connection.sendNotification('exit');
  } catch {
    // It has ended or does not answer. The end of its input ends it, or the time limit.
  }
  child.input.end();
  await child.ended;
  clearTimeout(limit);
  connection.dispose();
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
