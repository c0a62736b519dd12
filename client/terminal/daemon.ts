import { type ChildProcess, spawn } from 'node:child_process';
import {
  CancellationTokenSource,
  createMessageConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-jsonrpc/node';
import type { RunnerOptions } from '../../protocol/initialize.ts';
import type { NotificationMessage, RequestMessage } from '../../protocol/messageTypes.ts';
import type { Surroundings } from './streams.ts';

/** The terminal's end of the connection to `runnerd`. */
export interface Daemon {
  readonly version: string;
  /** Rejects with the daemon's error, or a sentence when the daemon is gone. An aborted signal cancels. */
  request<P, R>(message: RequestMessage<P, R>, params: P, signal?: AbortSignal): Promise<R>;
  onNotification<P>(message: NotificationMessage<P>, take: (params: P) => void): void;
  /** Ends the daemon and waits until it is gone. */
  close(): Promise<void>;
}

/** How much of what the daemon says on standard error is kept for the case that it dies. */
const keptStderr = 4096;

export async function startDaemon(
  { runnerd, env }: Surroundings,
  options: RunnerOptions,
  flags: readonly string[] = [],
): Promise<Daemon> {
  const child = spawn(process.execPath, [runnerd, '--stdio', ...flags], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...env },
  });
  const gone = whenGone(child);
  const connection = createMessageConnection(
    new StreamMessageReader(child.stdout),
    new StreamMessageWriter(child.stdin),
  );
  connection.onError(() => undefined);
  child.stdin.on('error', () => undefined);
  connection.listen();

  const request = async <P, R>(
    message: RequestMessage<P, R>,
    params: P,
    signal?: AbortSignal,
  ): Promise<R> => {
    const source = new CancellationTokenSource();
    const cancel = () => source.cancel();
    signal?.addEventListener('abort', cancel, { once: true });
    if (signal?.aborted) cancel();
    try {
      return await Promise.race([connection.sendRequest<R>(message.method, params, source.token), gone]);
    } finally {
      signal?.removeEventListener('abort', cancel);
    }
  };

  const initialize: RequestMessage<object, { serverInfo?: { version?: string } }> = { method: 'initialize' };
  const { serverInfo } = await request(initialize, {
    processId: process.pid,
    clientInfo: { name: 'runner' },
    rootUri: null,
    capabilities: {},
    initializationOptions: options,
  });
  await connection.sendNotification('initialized', {});
  return {
    version: serverInfo?.version ?? 'unknown',
    request,
    onNotification: (message, take) =>
      void connection.onNotification(message.method, (params) => take(params)),
    async close() {
      connection.end();
      child.stdin.end();
      await gone.catch(() => undefined);
      connection.dispose();
    },
  };
}

/** Rejects, with what the daemon said last, when its process ends. */
function whenGone(child: ChildProcess): Promise<never> {
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-keptStderr);
  });
  const gone = new Promise<never>((_, reject) => {
    child.on('error', (error) => reject(new Error(`runnerd could not be started: ${error.message}`)));
    child.on('close', (code) =>
      reject(new Error(`runnerd ended (${code ?? 'killed'}). ${said.trim()}`.trim())),
    );
  });
  // Nobody may be waiting when it ends as it should.
  gone.catch(() => undefined);
  return gone;
}
