import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Readable, Writable } from 'node:stream';
import {
  type AnyMessage,
  type ClientCapabilities,
  type ClientContext,
  client as createClient,
  type InitializeResponse,
  methods,
  ndJsonStream,
  type RequestPermissionOutcome,
  type RequestPermissionRequest,
  type SessionUpdate,
  type Stream,
} from '@agentclientprotocol/sdk';
import { createAcpSchema } from './acpSchema.ts';
import { runnerdPath } from './daemonProcess.ts';
import type { Teardown } from './daemonWithRunner.ts';

/** The built agent in a process of its own, initialized, at the other end of the SDK's own client. */
export interface AcpProcess {
  readonly agent: ClientContext;
  readonly child: ChildProcess;
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
  readonly stderr: () => string;
}

export interface AcpProcessOptions {
  readonly host: string;
  readonly args?: readonly string[];
  readonly capabilities?: ClientCapabilities;
  /** The user's state folder; default: one that cannot be made, so that nothing is kept. */
  readonly state?: string;
  /** The user's own folder of configurations; default: there is none. */
  readonly config?: string;
  /** How a question is answered whether a tool may run; default: it is cancelled. */
  readonly decide?: (
    question: RequestPermissionRequest,
  ) => RequestPermissionOutcome | Promise<RequestPermissionOutcome>;
}

export function spawnAcp({ host, args = [], state = '/dev/null', config = '/dev/null' }: AcpProcessOptions) {
  return spawn(process.execPath, [runnerdPath, '--acp', ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: {
      ...{ PATH: process.env['PATH'], HOME: '/nonexistent' },
      ...{ XDG_STATE_HOME: state, XDG_CONFIG_HOME: config, OLLAMA_HOST: host },
    },
  });
}

export async function startAcpProcess(test: Teardown, options: AcpProcessOptions): Promise<AcpProcess> {
  const child = spawnAcp(options);
  // What is still being written when the process ends is lost, and that is no error.
  child.stdin.on('error', () => undefined);
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  const problems: string[] = [];
  const updates: { sessionId: string; update: SessionUpdate }[] = [];
  const connection = createClient()
    .onNotification(methods.client.session.update, ({ params }) => {
      updates.push(params);
      child.emit('update');
    })
    .onRequest(methods.client.session.requestPermission, async ({ params }) => {
      const { decide = () => ({ outcome: 'cancelled' }) } = options;
      return { outcome: await decide(params) };
    })
    .connect(
      held(
        ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>),
        problems,
      ),
    );
  test.teardown(async () => {
    const ended = child.exitCode === null ? once(child, 'close') : undefined;
    connection.close();
    child.stdin.destroy();
    await ended;
    if (problems.length > 0) throw new Error(`Against the published schema: ${problems.join('\n')}`);
  });
  const initialized = await connection.agent.request(methods.agent.initialize, {
    protocolVersion: 1,
    ...(options.capabilities ? { clientCapabilities: options.capabilities } : {}),
  });
  return {
    ...{ agent: connection.agent, child, initialized, updates },
    text: (sessionId, kind = 'agent_message_chunk') =>
      updates
        .filter((each) => each.sessionId === sessionId)
        .map(({ update }) =>
          update.sessionUpdate === kind && update.content.type === 'text' ? update.content.text : '',
        )
        .join(''),
    async waitFor<K extends SessionUpdate['sessionUpdate']>(kind: K) {
      const isIt = (update: SessionUpdate): update is Extract<SessionUpdate, { sessionUpdate: K }> =>
        update.sessionUpdate === kind;
      for (;;) {
        const found = updates.map(({ update }) => update).find(isIt);
        if (found) return found;
        await once(child, 'update');
      }
    },
    stderr: () => stderr,
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
