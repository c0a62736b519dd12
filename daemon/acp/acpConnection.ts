import { type Readable, Writable } from 'node:stream';
import {
  type AgentContext,
  type AnyMessage,
  agent as createApp,
  type LoadSessionRequest,
  methods,
  ndJsonStream,
  type PromptRequest,
  RequestError,
  type Stream,
} from '@agentclientprotocol/sdk';
import type { FrameProblem } from '../rpc/incoming.ts';
import type { Agent } from './agent.ts';
import type { PromptClient, Update } from './client.ts';
import { readMessageLines } from './messageLines.ts';

export interface ConnectionOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly agent: Agent;
  /** An error of the daemon as the wire has it. */
  readonly toWire: (method: string, error: unknown) => WireError;
  /** What a message is made of before it is written and traced. */
  readonly edge: (message: AnyMessage) => AnyMessage;
  /** Told of every message in either direction. */
  readonly trace?: (direction: 'in' | 'out', message: unknown) => void;
}

export interface WireError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export interface AgentConnection {
  readonly update: Update;
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
  close(): void;
}

/** The one file that runs the SDK: it is a bundle of its own, which nothing but `--acp` loads. */
export function connectAgent({
  input,
  output,
  agent,
  toWire,
  edge,
  trace = () => undefined,
}: ConnectionOptions): AgentConnection {
  const { initialize, session } = methods.agent;
  const greeting = createGreeting();
  const answer =
    <P, R>(work: (params: P, signal: AbortSignal) => R | Promise<R>) =>
    async ({ method, params, signal }: { method: string; params: P; signal: AbortSignal }): Promise<R> => {
      try {
        return await work(params, signal);
      } catch (error) {
        const { code, message, data } = toWire(method, error);
        throw new RequestError(code, message, data);
      }
    };
  const updateTo =
    (client: AgentContext): Update =>
    (sessionId, update) =>
      client.notify(methods.client.session.update, { sessionId, update });
  // The prompt comes first: a cancel that was sent right behind it must find it.
  const app = createApp({ name: 'runnerd' })
    .onRequest(session.prompt, ({ client, ...request }) => {
      const update = updateTo(client);
      const askPermission: PromptClient['askPermission'] = (question) =>
        client.request(methods.client.session.requestPermission, question);
      return answer((params: PromptRequest, signal) =>
        agent.prompt(params, { update, askPermission, signal }),
      )(request);
    })
    .onRequest(session.load, ({ client, ...request }) => {
      const update = updateTo(client);
      return answer((params: LoadSessionRequest, signal) => agent.loadSession(params, { update, signal }))(
        request,
      );
    })
    .onRequest(session.resume, answer(agent.resumeSession))
    .onRequest(session.list, answer(agent.listSessions))
    .onRequest(session.delete, answer(agent.deleteSession))
    .onRequest(initialize, answer(agent.initialize))
    .onRequest(session.new, answer(agent.newSession))
    .onRequest(session.setConfigOption, answer(agent.setOption))
    .onRequest(
      session.close,
      answer(({ sessionId }) => agent.closeSession(sessionId)),
    )
    .onNotification(
      session.cancel,
      answer(({ sessionId }) => agent.cancel(sessionId)),
    );
  // Of the SDK's stream only the writing half is used: a line that is no message must end nothing.
  const { writable } = ndJsonStream(Writable.toWeb(output), new ReadableStream());
  const write = createWrite(writable, edge, trace);
  const onProblem = ({ id, ...error }: FrameProblem) => {
    void write({ jsonrpc: '2.0', id: id ?? null, error } as AnyMessage).catch(() => undefined);
  };
  const messages = greeting.hold(readMessageLines(input, { onProblem }) as AsyncGenerator<AnyMessage>);
  const connection = app.connect({
    readable: streamOf(messages).pipeThrough(tracing(trace)),
    writable: new WritableStream({
      async write(message) {
        await write(message);
        greeting.written(message);
      },
    }),
  });
  return {
    update: updateTo(connection.client),
    signal: connection.signal,
    close: () => connection.close(),
  };
}

/**
 * Holds back what comes right behind `initialize` until that is answered: the SDK refuses it before, and some clients do
 * not wait.
 */
function createGreeting() {
  let asked: unknown;
  let finish: () => void = () => undefined;
  return {
    async *hold(messages: AsyncGenerator<AnyMessage>): AsyncGenerator<AnyMessage> {
      for await (const message of messages) {
        const isGreeting =
          'method' in message && message.method === methods.agent.initialize && 'id' in message;
        const answered = new Promise<void>((resolve) => {
          if (isGreeting) finish = resolve;
          else resolve();
        });
        if (isGreeting) asked = message.id;
        yield message;
        await answered;
      }
    },
    written(message: AnyMessage) {
      // The SDK notes it once it has written the answer.
      if (!('method' in message) && message.id === asked) setImmediate(finish);
    },
  };
}

function streamOf(messages: AsyncGenerator<AnyMessage>): ReadableStream<AnyMessage> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await messages.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
}

type Trace = NonNullable<ConnectionOptions['trace']>;

/**
 * All that goes out is written here, by whoever has something to say: one lock is held for good, and the stream keeps
 * the messages in their order. Settles when the message is taken, which is the back-pressure.
 */
function createWrite(writable: Stream['writable'], edge: ConnectionOptions['edge'], trace: Trace) {
  const writer = writable.getWriter();
  return async (message: AnyMessage): Promise<void> => {
    const outgoing = edge(message);
    trace('out', outgoing);
    await writer.write(outgoing);
  };
}

function tracing(trace: Trace) {
  return new TransformStream<AnyMessage, AnyMessage>({
    transform(message, controller) {
      trace('in', withoutServers(message));
      controller.enqueue(message);
    },
  });
}

/** A client hands over tool servers with their tokens, which no trace shows. */
function withoutServers(message: AnyMessage): unknown {
  if (!('params' in message) || typeof message.params !== 'object' || message.params === null) return message;
  return 'mcpServers' in message.params
    ? { ...message, params: { ...message.params, mcpServers: [] } }
    : message;
}
