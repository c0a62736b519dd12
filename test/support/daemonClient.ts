import type { Readable, Writable } from 'node:stream';
import {
  CancellationTokenSource,
  createMessageConnection,
  type Message,
  type MessageConnection,
  type MessageReader,
  type MessageWriter,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-jsonrpc/node';
import {
  type ChatDelta,
  type ChatParams,
  type ChatResult,
  chatDelta,
  chatRequest,
} from '../../protocol/messages/chat.ts';
import type { LogParams } from '../../protocol/messages/log.ts';
import type { NotificationMessage, RequestMessage } from '../../protocol/messages/messageTypes.ts';
import { createLspModel } from './lspModel.ts';

/** A client of the daemon's protocol, typed by the protocol's own messages. */
export interface DaemonClient {
  readonly connection: MessageConnection;
  /** An aborted signal cancels. */
  request<P, R>(message: RequestMessage<P, R>, params: P, signal?: AbortSignal): Promise<R>;
  on<P>(message: NotificationMessage<P>, take: (params: P) => void): void;
  /** Deltas of a chat and its result. */
  chat(
    params: Omit<ChatParams, 'streamId'>,
    options?: ChatOptions,
  ): Promise<{ result: ChatResult; deltas: ChatDelta[] }>;
  readonly logs: LogParams[];
  close(): Promise<void>;
}

export interface ChatOptions {
  /** Cancels once this says so of a delta. */
  readonly cancelAt?: (delta: ChatDelta) => boolean;
  readonly onDelta?: (delta: ChatDelta) => void;
}

export interface ConnectedClient extends Omit<DaemonClient, 'close'> {
  /** @throws where a message of the daemon was not as LSP has published it. */
  disconnect(): void;
}

export function connectClient(fromDaemon: Readable, toDaemon: Writable): ConnectedClient {
  const reader = new StreamMessageReader(fromDaemon);
  // Otherwise half a message from a daemon that was killed would keep the test alive for good.
  reader.partialMessageTimeout = 0;
  const model = createLspModel();
  const problems: string[] = [];
  const connection = createMessageConnection(
    seenReader(reader, (message) => {
      const problem = model.fromServer(message);
      if (problem !== undefined) problems.push(problem);
    }),
    seenWriter(new StreamMessageWriter(toDaemon), model.fromClient),
  );
  const logs: LogParams[] = [];
  const streams = new Map<string, (delta: ChatDelta) => void>();
  let streamId = 0;
  connection.onNotification('runner/log', (log: LogParams) => void logs.push(log));
  connection.onNotification(chatDelta.method, (delta: ChatDelta) => streams.get(delta.streamId)?.(delta));
  connection.listen();
  return {
    connection,
    logs,
    request: <P, R>(message: RequestMessage<P, R>, params: P, signal?: AbortSignal) => {
      const source = new CancellationTokenSource();
      signal?.addEventListener('abort', () => source.cancel(), { once: true });
      return connection.sendRequest<R>(message.method, params, source.token);
    },
    on: (message, take) => void connection.onNotification(message.method, take as (params: unknown) => void),
    async chat(params, { cancelAt, onDelta } = {}) {
      const id = `stream-${streamId++}`;
      const source = new CancellationTokenSource();
      const deltas: ChatDelta[] = [];
      streams.set(id, (delta) => {
        deltas.push(delta);
        onDelta?.(delta);
        if (cancelAt?.(delta)) source.cancel();
      });
      const result = await connection.sendRequest<ChatResult>(
        chatRequest.method,
        { streamId: id, ...params },
        source.token,
      );
      return { result, deltas };
    },
    disconnect() {
      connection.dispose();
      if (problems.length > 0) throw new Error(`Against the published model of LSP: ${problems.join('\n')}`);
    },
  };
}

function seenReader(reader: MessageReader, see: (message: Message) => void): MessageReader {
  return {
    ...{ onError: reader.onError, onClose: reader.onClose, onPartialMessage: reader.onPartialMessage },
    listen: (take) =>
      reader.listen((message) => {
        see(message);
        take(message);
      }),
    dispose: () => reader.dispose(),
  };
}

function seenWriter(writer: MessageWriter, see: (message: Message) => void): MessageWriter {
  return {
    ...{ onError: writer.onError, onClose: writer.onClose },
    write(message) {
      see(message);
      return writer.write(message);
    },
    end: () => writer.end(),
    dispose: () => writer.dispose(),
  };
}
