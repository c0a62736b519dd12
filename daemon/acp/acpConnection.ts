import { type Readable, Writable } from 'node:stream';
import {
  type AgentContext,
  type AnyMessage,
  agent as createApp,
  methods,
  ndJsonStream,
  type PromptRequest,
  RequestError,
  type Stream,
} from '@agentclientprotocol/sdk';
import type { Message } from 'vscode-jsonrpc';
import { LineSplitter } from '../../protocol/base/byteStreams.ts';
import { type FrameProblem, parseIncoming } from '../rpc/frame.ts';
import type { WireError } from '../rpc/wireError.ts';
import type { Agent } from './agent.ts';
import type { Client, PromptClient, Update } from './client.ts';

export interface AcpConnectionOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly agent: Agent;
  /** An error of the daemon as the wire has it. */
  readonly toWire: (method: string, error: unknown) => WireError;
  /** Redacts a message before it is written and traced. */
  readonly redact: (message: AnyMessage) => AnyMessage;
  /** Is called with every message in either direction. */
  readonly trace?: (direction: 'in' | 'out', message: unknown) => void;
}

export type AgentConnection = ReturnType<typeof connectAgent>;

/** The only file that runs the SDK. It is a bundle of its own, which only `--acp` loads. */
export function connectAgent({
  input,
  output,
  agent,
  toWire,
  redact,
  trace = () => undefined,
}: AcpConnectionOptions) {
  const greeting = createGreeting();
  // Only the writing half of the SDK's stream is used: an invalid line must not end the connection.
  const { writable } = ndJsonStream(Writable.toWeb(output), new ReadableStream());
  const write = createWrite(writable, redact, trace);
  const onProblem = ({ id, ...error }: FrameProblem) => {
    void write({ jsonrpc: '2.0', id: id ?? null, error } as AnyMessage).catch(() => undefined);
  };
  const messages = greeting.hold(readMessageLines(input, { onProblem }) as AsyncGenerator<AnyMessage>);
  const connection = createRoutes(agent, toWire).connect({
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
    /** Aborted when the client is gone. */
    signal: connection.signal,
    close: (): void => connection.close(),
  };
}

/** Who answers what. */
function createRoutes(agent: Agent, toWire: AcpConnectionOptions['toWire']) {
  const { initialize, session } = methods.agent;
  const answer =
    <P, R>(work: (params: P, signal: AbortSignal) => R | Promise<R>) =>
    async ({ method, params, signal }: Omit<AcpRequest<P>, 'client'>): Promise<R> => {
      try {
        return await work(params, signal);
      } catch (error) {
        const { code, message, data } = toWire(method, error);
        throw new RequestError(code, message, data);
      }
    };
  const answerTo =
    <P, R>(work: (params: P, client: Client) => Promise<R>) =>
    ({ client, ...request }: AcpRequest<P>): Promise<R> =>
      answer((params: P, signal) => work(params, { update: updateTo(client), signal }))(request);
  /** A client knows a session once it has read the answer. What else it should know of the session comes then. */
  const opening =
    <P, R>(answered: (request: AcpRequest<P>) => Promise<R>, idOf: (params: P, opened: R) => string) =>
    async (request: AcpRequest<P>): Promise<R> => {
      const opened = await answered(request);
      setImmediate(() => void agent.announce(idOf(request.params, opened), updateTo(request.client)));
      return opened;
    };
  const named = ({ sessionId }: { readonly sessionId: string }) => sessionId;
  // The prompt comes first: a cancel that was sent right behind it must find it.
  return createApp({ name: 'runnerd' })
    .onRequest(session.prompt, ({ client, ...request }) =>
      answer((params: PromptRequest, signal) => agent.prompt(params, promptClient(client, signal)))(request),
    )
    .onRequest(session.load, opening(answerTo(agent.loadSession.bind(agent)), named))
    .onRequest(session.resume, opening(answer(agent.resumeSession.bind(agent)), named))
    .onRequest(session.list, answer(agent.listSessions.bind(agent)))
    .onRequest(session.delete, answer(agent.deleteSession.bind(agent)))
    .onRequest(initialize, answer(agent.initialize.bind(agent)))
    .onRequest(
      session.new,
      opening(answer(agent.newSession.bind(agent)), (_, { sessionId }) => sessionId),
    )
    .onRequest(session.setConfigOption, answerTo(agent.setOption.bind(agent)))
    .onRequest(session.setMode, answerTo(agent.setMode.bind(agent)))
    .onRequest(
      session.close,
      answer(({ sessionId }) => agent.closeSession(sessionId)),
    )
    .onNotification(
      session.cancel,
      answer(({ sessionId }) => agent.cancel(sessionId)),
    );
}

interface AcpRequest<P> {
  readonly client: AgentContext;
  readonly method: string;
  readonly params: P;
  readonly signal: AbortSignal;
}

function updateTo(client: AgentContext): Update {
  return (sessionId, update) => client.notify(methods.client.session.update, { sessionId, update });
}

function promptClient(client: AgentContext, signal: AbortSignal): PromptClient {
  const { elicitation, fs, session } = methods.client;
  return {
    signal,
    update: updateTo(client),
    askPermission: (question) => client.request(session.requestPermission, question),
    readTextFile: (file) => client.request(fs.readTextFile, file),
    writeTextFile: (file) => client.request(fs.writeTextFile, file),
    elicit: (question, cancellationSignal) =>
      client.request(elicitation.create, question, { cancellationSignal, stopWaitingOnCancel: true }),
  };
}

/**
 * Holds back what follows `initialize` until that is answered: the SDK would refuse it, and some clients do not wait
 * for the answer.
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

type Trace = NonNullable<AcpConnectionOptions['trace']>;

/**
 * Writes every outgoing message. One lock is held for good, and the stream keeps the messages in order. The promise
 * settles when the message is taken, which is the back-pressure.
 */
function createWrite(writable: Stream['writable'], redact: AcpConnectionOptions['redact'], trace: Trace) {
  const writer = writable.getWriter();
  return async (message: AnyMessage): Promise<void> => {
    const outgoing = redact(message);
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

/** Clients pass tool servers with their tokens, which must not be in a trace. */
function withoutServers(message: AnyMessage): unknown {
  if (!('params' in message) || typeof message.params !== 'object' || message.params === null) return message;
  return 'mcpServers' in message.params
    ? { ...message, params: { ...message.params, mcpServers: [] } }
    : message;
}

/** A message may have this many bytes, as in frames. */
const maxMessageBytes = 256 * 1024 * 1024;

interface MessageLinesOptions {
  readonly onProblem: (problem: FrameProblem) => void;
  readonly limit?: number;
}

/**
 * Reads one JSON-RPC message per line. Invalid lines are reported to `onProblem` and skipped. A line that is too long
 * is reported as soon as it exceeds the limit, and discarded.
 */
export async function* readMessageLines(
  input: Readable,
  { onProblem, limit = maxMessageBytes }: MessageLinesOptions,
): AsyncGenerator<Message> {
  const lines = new LineSplitter(limit);
  const reportTooLong = () =>
    onProblem({ code: -32600, message: `A message is larger than the ${limit} bytes that are taken.` });
  let isReported = false;
  for await (const chunk of input as AsyncIterable<Buffer>) {
    for (const { text, isCut } of lines.push(chunk)) {
      if (isCut && !isReported) reportTooLong();
      if (!isCut) yield* parseLine(text, onProblem);
      isReported = false;
    }
    if (lines.pending > limit && !isReported) {
      reportTooLong();
      isReported = true;
    }
  }
  const last = lines.end();
  if (last && !last.isCut) yield* parseLine(last.text, onProblem);
}

function* parseLine(line: string, onProblem: MessageLinesOptions['onProblem']): Generator<Message> {
  if (line.trim() === '') return;
  const incoming = parseIncoming(line);
  if (incoming.kind === 'problem') onProblem(incoming.problem);
  if (incoming.kind !== 'message') return;
  if (incoming.message.jsonrpc === '2.0') yield incoming.message;
  else onProblem({ code: -32600, message: 'A message says "jsonrpc": "2.0".' });
}
