import type { ListSessionsRequest, ListSessionsResponse, SessionUpdate } from '@agentclientprotocol/sdk';
import type { ReadSessionResult, SessionMessage } from '../../protocol/messages/sessions.ts';
import { standsForResult } from '../chat/permissions.ts';
import type { Core } from '../compose/core.ts';
import { naming } from '../sessions/sessionId.ts';
import type { Client } from './client.ts';
import { endedCall, imageBlock, toolCallOf } from './toolCallUpdates.ts';

type SessionInfo = Extract<SessionUpdate, { sessionUpdate: 'session_info_update' }>;

/** The conversations on the disk, in the protocol's types. An unknown id is an error at the parameter `sessionId`. */
export function createKeptConversations({ sessions, log }: Pick<Core, 'sessions' | 'log'>) {
  /** A lock that is being released cannot be taken again yet. */
  const releasing = new Map<string, Promise<void>>();
  return {
    /** The id of a new conversation. It is written with its first prompt. */
    async begin(cwd: string): Promise<string> {
      return (await sessions.get()).begin({ cwd }).id;
    },
    /** Locks the conversation for this process, and reads it. */
    async resume(id: string): Promise<ReadSessionResult> {
      const store = await sessions.get();
      await releasing.get(id);
      await naming('sessionId', store.open(id));
      return naming('sessionId', store.read(id));
    },
    async list({ cwd, cursor }: ListSessionsRequest, signal: AbortSignal): Promise<ListSessionsResponse> {
      const params = { ...(cwd ? { cwd } : {}), ...(cursor ? { cursor } : {}) };
      const { sessions: found, nextCursor } = await (await sessions.get()).list(params, signal);
      return {
        // The protocol has no session without a folder.
        sessions: found.flatMap(({ id, title, cwd: folder, updatedAt }) =>
          folder === undefined ? [] : [{ sessionId: id, cwd: folder, title: title || null, updatedAt }],
        ),
        ...(nextCursor === undefined ? {} : { nextCursor }),
      };
    },
    /** An update with its title; undefined while it has none. */
    async infoOf(id: string): Promise<SessionInfo | undefined> {
      const store = await sessions.get();
      const session = await store.find(id).catch(() => undefined);
      if (!session?.title) return undefined;
      return { sessionUpdate: 'session_info_update', title: session.title, updatedAt: session.updatedAt };
    },
    /** How many prompts it has. */
    turns: async (id: string) => (await (await sessions.get()).find(id)).turns,
    undo: async (id: string) => (await sessions.get()).undo(id),
    delete: async (id: string) => naming('sessionId', (await sessions.get()).delete(id)),
    release(id: string) {
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

/** Sends the whole conversation again. Attachments are links in the text. */
export async function replay(
  { session: { id }, messages }: ReadSessionResult,
  { update, signal }: Client,
): Promise<void> {
  const failed = new Set(messages.filter(isFailed).map(({ toolCallId }) => toolCallId));
  for (const message of messages)
    for (const next of updatesOf(message, failed)) {
      signal.throwIfAborted();
      await update(id, next);
    }
}

/** That a tool itself failed is not kept: the model has only read its result, too. */
function isFailed({ role, content }: SessionMessage): boolean {
  return role === 'tool' && standsForResult(content);
}

function updatesOf(message: SessionMessage, failed: ReadonlySet<unknown>): SessionUpdate[] {
  const { role, content, thinking, images = [], toolCalls = [], toolCallId } = message;
  if (role === 'system') return [];
  if (role === 'tool')
    return toolCallId === undefined
      ? []
      : [endedCall({ id: toolCallId, content, images, isError: isFailed(message) })];
  const chunk = role === 'user' ? 'user_message_chunk' : 'agent_message_chunk';
  return [
    ...(thinking ? [textChunk('agent_thought_chunk', thinking)] : []),
    ...(content === '' ? [] : [textChunk(chunk, content)]),
    ...images.map((data): SessionUpdate => ({ sessionUpdate: chunk, content: imageBlock(data) })),
    ...toolCalls.map((call) => toolCallOf(call, undefined, failed.has(call.id) ? 'failed' : 'completed')),
  ];
}

function textChunk(
  sessionUpdate: 'user_message_chunk' | 'agent_message_chunk' | 'agent_thought_chunk',
  text: string,
): SessionUpdate {
  return { sessionUpdate, content: { type: 'text', text } };
}
