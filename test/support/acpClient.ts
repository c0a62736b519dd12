import { EventEmitter, once } from 'node:events';
import { Readable, Writable } from 'node:stream';
import {
  type AnyMessage,
  type ClientCapabilities,
  type ClientContext,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  client as createClient,
  type InitializeResponse,
  methods,
  ndJsonStream,
  RequestError,
  type RequestPermissionOutcome,
  type RequestPermissionRequest,
  type SessionUpdate,
  type Stream,
} from '@agentclientprotocol/sdk';
import { createAcpSchema } from './acpSchema.ts';

/** An agent, initialized, at the other end of the SDK's own client. */
export interface AcpClient {
  readonly agent: ClientContext;
  readonly initialized: InitializeResponse;
  /** All updates so far, in their order. */
  readonly updates: readonly { readonly sessionId: string; readonly update: SessionUpdate }[];
  /** The texts of one kind of chunk of a session, joined. */
  text(
    sessionId: string,
    kind?: 'agent_message_chunk' | 'agent_thought_chunk' | 'user_message_chunk',
  ): string;
  /** The first update of a kind, past or to come. */
  waitFor<K extends SessionUpdate['sessionUpdate']>(
    kind: K,
  ): Promise<Extract<SessionUpdate, { sessionUpdate: K }>>;
}

export interface AcpClientOptions {
  readonly capabilities?: ClientCapabilities;
  /** How a question is answered whether a tool may run; default: it is cancelled. */
  readonly decide?: (
    question: RequestPermissionRequest,
  ) => RequestPermissionOutcome | Promise<RequestPermissionOutcome>;
  /** How a question of a tool server is answered; default: it is cancelled. */
  readonly elicit?: (
    question: CreateElicitationRequest,
    withdrawn: AbortSignal,
  ) => CreateElicitationResponse | Promise<CreateElicitationResponse>;
  /** The files of the editor, by their absolute paths: what is not saved, and what the agent has written. */
  readonly files?: Map<string, string>;
}

export interface ConnectedAcpClient {
  /** Sends `initialize`. */
  initialize(): Promise<AcpClient>;
  /** @throws if a message of the agent was not as the protocol has published it. */
  disconnect(): void;
}

export function connectAcpClient(
  fromAgent: Readable,
  toAgent: Writable,
  {
    capabilities,
    decide = () => ({ outcome: 'cancelled' }),
    elicit = () => ({ action: 'cancel' }),
    files = new Map(),
  }: AcpClientOptions = {},
): ConnectedAcpClient {
  // What is still being written when the agent ends is lost, and that is no error.
  toAgent.on('error', () => undefined);
  const problems: string[] = [];
  const updates: { sessionId: string; update: SessionUpdate }[] = [];
  const received = new EventEmitter();
  const connection = createClient()
    .onNotification(methods.client.session.update, ({ params }) => {
      updates.push(params);
      received.emit('update');
    })
    .onRequest(methods.client.session.requestPermission, async ({ params }) => ({
      outcome: await decide(params),
    }))
    .onRequest(methods.client.elicitation.create, ({ params, signal }) => elicit(params, signal))
    .onRequest(methods.client.fs.readTextFile, ({ params }) => {
      const content = files.get(params.path);
      if (content === undefined) throw new RequestError(-32002, 'Resource not found');
      return { content };
    })
    .onRequest(methods.client.fs.writeTextFile, ({ params }) => {
      files.set(params.path, params.content);
      return {};
    })
    .connect(
      held(
        ndJsonStream(Writable.toWeb(toAgent), Readable.toWeb(fromAgent) as ReadableStream<Uint8Array>),
        problems,
      ),
    );
  const { agent } = connection;
  const text: AcpClient['text'] = (sessionId, kind = 'agent_message_chunk') =>
    updates
      .filter((each) => each.sessionId === sessionId)
      .map(({ update }) =>
        update.sessionUpdate === kind && update.content.type === 'text' ? update.content.text : '',
      )
      .join('');
  const waitFor: AcpClient['waitFor'] = async <K extends SessionUpdate['sessionUpdate']>(kind: K) => {
    const isIt = (update: SessionUpdate): update is Extract<SessionUpdate, { sessionUpdate: K }> =>
      update.sessionUpdate === kind;
    for (;;) {
      const found = updates.map(({ update }) => update).find(isIt);
      if (found) return found;
      await once(received, 'update');
    }
  };
  return {
    async initialize() {
      const initialized = await agent.request(methods.agent.initialize, {
        protocolVersion: 1,
        ...(capabilities ? { clientCapabilities: capabilities } : {}),
      });
      return { agent, initialized, updates, text, waitFor };
    },
    disconnect() {
      connection.close();
      if (problems.length > 0) throw new Error(`Against the published schema: ${problems.join('\n')}`);
    },
  };
}

/** The same messages, with each of the agent's held to the published schema. */
function held({ readable, writable }: Stream, problems: string[]): Stream {
  const schema = createAcpSchema();
  const passing = (see: (message: AnyMessage) => void) =>
    new TransformStream<AnyMessage, AnyMessage>({
      transform(message, controller) {
        see(message);
        controller.enqueue(message);
      },
    });
  const outgoing = passing(schema.fromClient);
  void outgoing.readable.pipeTo(writable).catch(() => undefined);
  const incoming = passing((message) => {
    const problem = schema.fromAgent(message);
    if (problem !== undefined) problems.push(problem);
  });
  return { readable: readable.pipeThrough(incoming), writable: outgoing.writable };
}
