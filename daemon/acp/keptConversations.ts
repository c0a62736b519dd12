import type { ListSessionsRequest, ListSessionsResponse, SessionUpdate } from '@agentclientprotocol/sdk';
import type { Message } from '../../protocol/messages/chat.ts';
import type { SessionMessage } from '../../protocol/messages/sessions.ts';
import type { Core } from '../compose/core.ts';
import { naming } from '../sessions/sessionId.ts';
import type { Client } from './client.ts';
import { endedCall, toolCallOf } from './toolCallUpdates.ts';

/** A conversation that is gone on with. */
export interface Resumed {
  readonly id: string;
  readonly title: string;
  readonly model: string | undefined;
  readonly messages: readonly SessionMessage[];
}

/** The conversations that are kept, in the words of the protocol; an id that is unknown is `sessionId`. */
export interface KeptConversations {
  /** The id of a new one, which is written with its first turn. */
  begin(cwd: string): Promise<string>;
  /** This process alone has it from now on. */
  resume(id: string): Promise<Resumed>;
  list(params: ListSessionsRequest, signal: AbortSignal): Promise<ListSessionsResponse>;
  /** What there is to tell of its title; undefined while there is none. */
  infoOf(id: string): Promise<SessionInfo | undefined>;
  delete(id: string): Promise<void>;
  release(id: string): void;
}

type SessionInfo = Extract<SessionUpdate, { sessionUpdate: 'session_info_update' }>;

export function createKeptConversations({
  sessions,
  log,
}: Pick<Core, 'sessions' | 'log'>): KeptConversations {
  /** A mark that is being taken away cannot be taken again yet. */
  const releasing = new Map<string, Promise<void>>();
  return {
    async begin(cwd) {
      const store = await sessions.get();
      return store.begin({ cwd }).id;
    },
    async resume(id) {
      const store = await sessions.get();
      await releasing.get(id);
      await naming('sessionId', store.open(id));
      const { session, messages } = await naming('sessionId', store.read(id));
      return { id, title: session.title, model: session.model, messages };
    },
    async list({ cwd, cursor }, signal) {
      const store = await sessions.get();
      const params = { ...(cwd ? { cwd } : {}), ...(cursor ? { cursor } : {}) };
      const { sessions: found, nextCursor } = await store.list(params, signal);
      return {
        // What was begun without a folder cannot be told of.
        sessions: found.flatMap(({ id, title, cwd: folder, updatedAt }) =>
          folder === undefined ? [] : [{ sessionId: id, cwd: folder, title: title || null, updatedAt }],
        ),
        ...(nextCursor === undefined ? {} : { nextCursor }),
      };
    },
    async infoOf(id) {
      const store = await sessions.get();
      const session = await store.find(id).catch(() => undefined);
      if (!session?.title) return undefined;
      return { sessionUpdate: 'session_info_update', title: session.title, updatedAt: session.updatedAt };
    },
    async delete(id) {
      const store = await sessions.get();
      await naming('sessionId', store.delete(id));
    },
    release(id) {
      const released = sessions
        .get()
        .then((store) => store.release(id))
        .catch((error) => log.debug(`session/close: ${String(error)}`))
        .finally(() => {
          if (releasing.get(id) === released) releasing.delete(id);
        });
      releasing.set(id, released);
    },
  };
}

/** Says again all that was said; what was attached stands in the words as a link. */
export async function replay({ id, messages }: Resumed, { update, signal }: Client): Promise<void> {
  for (const message of messages)
    for (const told of updatesOf(message)) {
      signal.throwIfAborted();
      await update(id, told);
    }
}

/** As the next prompt has it: thinking is not replayed to the model. */
export function historyOf(messages: readonly SessionMessage[]): readonly Message[] {
  return messages.map(({ at: _, model: __, partial: ___, thinking: ____, ...message }) => message);
}

function updatesOf({
  role,
  content,
  thinking,
  images = [],
  toolCalls = [],
  toolCallId,
}: SessionMessage): SessionUpdate[] {
  if (role === 'system') return [];
  // Whether it failed was not kept: the model, too, has only read what it said.
  if (role === 'tool')
    return toolCallId === undefined ? [] : [endedCall({ id: toolCallId, content, isError: false })];
  const chunk = role === 'user' ? 'user_message_chunk' : 'agent_message_chunk';
  return [
    ...(thinking ? [textChunk('agent_thought_chunk', thinking)] : []),
    ...(content === '' ? [] : [textChunk(chunk, content)]),
    ...images.map(
      (data): SessionUpdate => ({
        sessionUpdate: chunk,
        content: { type: 'image', data, mimeType: mimeTypeOf(data) },
      }),
    ),
    ...toolCalls.map((call) => toolCallOf(call, undefined, 'completed')),
  ];
}

function textChunk(
  sessionUpdate: 'user_message_chunk' | 'agent_message_chunk' | 'agent_thought_chunk',
  text: string,
): SessionUpdate {
  return { sessionUpdate, content: { type: 'text', text } };
}

/** How the files of these formats begin, in base64. */
const beginnings = { '/9j/': 'image/jpeg', R0lG: 'image/gif', UklG: 'image/webp' } as const;

function mimeTypeOf(image: string): string {
  return Object.entries(beginnings).find(([beginning]) => image.startsWith(beginning))?.[1] ?? 'image/png';
}
