import {
  type CancellationToken,
  CancellationTokenSource,
  createMessageConnection,
  type MessageConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-jsonrpc/node';
import type { InitializationOptions } from '../../../protocol/messages/initialize.ts';
import type { NotificationMessage, RequestMessage } from '../../../protocol/messages/messageTypes.ts';
import type { ClientCapabilities } from '../../../protocol/messages/tools.ts';
import type { RunnerCapabilities } from '../../../protocol/messages/version.ts';
import { TerminalError } from '../cli/failure.ts';
import type { DaemonProcess } from './daemonProcess.ts';

/** The terminal's end of the connection to `runnerd`. */
export interface Daemon {
  readonly version: string;
  /** Somebody named the address of its runner, be it in the user's configuration. */
  readonly isHostNamed: boolean;
  /** Rejects with the daemon's error, or a sentence when the daemon is gone. An aborted signal cancels. */
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
  /** What it said on standard error, the last of it. */
  said(): string;
  /** Never fulfilled; rejects with a sentence once the daemon is gone. */
  readonly gone: Promise<never>;
  /** Ends the daemon and waits until it is gone. */
  close(): Promise<void>;
}

/** How long the daemon may take to end once it was told to, in ms. */
const closeLimit = 1_000;

interface Announced {
  readonly serverInfo?: { readonly version?: string };
  readonly capabilities?: { readonly experimental?: { readonly runner?: Partial<RunnerCapabilities> } };
}

const initializeRequest: RequestMessage<object, Announced> = {
  method: 'initialize',
};
const shutdownRequest: RequestMessage<undefined, null> = { method: 'shutdown' };

/** Connects to a daemon that was started, and says hello. On failure the process is ended. */
export async function startDaemon(
  child: DaemonProcess,
  options: InitializationOptions,
  client: ClientCapabilities = {},
): Promise<Daemon> {
  const connection = connect(child);
  const gone = whenGone(child);
  // Nobody may be waiting when it ends as it should.
  gone.catch(() => undefined);
  const request = createRequest(connection, child, gone);
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
    return {
      version: serverInfo?.version ?? 'unknown',
      isHostNamed: capabilities?.experimental?.runner?.isHostNamed === true,
      request,
      onNotification: ({ method }, take) => {
        const registered = connection.onNotification(method, (params) => take(params));
        return () => registered.dispose();
      },
      onRequest: ({ method }, answer) => {
        const registered = connection.onRequest(method, async (params, token: CancellationToken) => {
          const cancel = new AbortController();
          const subscription = token.onCancellationRequested(() => cancel.abort());
          return answer(params, cancel.signal).finally(() => subscription.dispose());
        });
        return () => registered.dispose();
      },
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
  // A lost connection is told once, by the requests that wait for an answer.
  connection.onError(() => undefined);
  input.on('error', () => undefined);
  connection.listen();
  return connection;
}

function createRequest(
  connection: MessageConnection,
  child: DaemonProcess,
  gone: Promise<never>,
): Daemon['request'] {
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

/** Rejects, with what the daemon said last, when its process ends. */
async function whenGone({ ended, said }: DaemonProcess): Promise<never> {
  const how = await ended;
  const lines = said()
    .split('\n')
    .filter((line) => line.trim() !== '');
  // Of a stack trace, the line that names the error says most.
  const reason = (lines.find((line) => /^\w*Error\b/.test(line)) ?? lines.at(-1) ?? '').trim().slice(0, 300);
  throw new TerminalError(
    'daemon-failed',
    `The daemon runnerd ended unexpectedly (${how}). ${reason}`.trim(),
  );
}

async function closeDaemon(
  connection: MessageConnection,
  child: DaemonProcess,
  request: Daemon['request'],
): Promise<void> {
  const limit = setTimeout(child.kill, closeLimit);
  child.output.resume();
  try {
    await request(shutdownRequest, undefined);
    await connection.sendNotification('exit');
  } catch {
    // It is gone or will not listen: the end of its input, or the limit, ends it.
  }
  child.input.end();
  await child.ended;
  clearTimeout(limit);
  connection.dispose();
}
