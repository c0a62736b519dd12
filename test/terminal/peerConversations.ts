import { ResponseError } from 'vscode-jsonrpc/node';
import { startOfLastTurn, withHistory } from '../../daemon/sessions/conversationMemory.ts';
import type { ChatParams, ChatResult, Message } from '../../protocol/messages/chat.ts';
import type { ReadSessionResult, Session, UndoTurnResult } from '../../protocol/messages/sessions.ts';

interface SessionParams {
  readonly id: string;
  readonly turns?: number;
  readonly title?: string;
}

type Answer<T> = (params: SessionParams) => T;

/**
 * The conversations of the daemon of a test, in memory: what is asked about them, and the history of its chats. What a
 * test says itself about a conversation comes first.
 */
export function createPeerConversations() {
  const conversations = new Map<string, readonly Message[]>();
  const sessionOf = (id: string, title = ''): Session => {
    const day = '2026-11-21T12:00:00Z';
    const turns = (conversations.get(id) ?? []).filter(({ role }) => role === 'user').length;
    return { id, title, createdAt: day, updatedAt: day, turns };
  };
  const begin = (messages: readonly Message[] = []) => {
    const id = `20261121-${String(conversations.size).padStart(8, 'a')}`;
    conversations.set(id, messages);
    return id;
  };
  const answers = {
    create: (({ title }) => ({ session: sessionOf(begin(), title) })) satisfies Answer<object>,
    read: (({ id }) => ({
      session: sessionOf(id),
      messages: conversations.get(id) ?? [],
    })) satisfies Answer<ReadSessionResult>,
    undo: (({ id }) => {
      const messages = conversations.get(id) ?? [];
      const prompt = messages.findLast(({ role }) => role === 'user');
      conversations.set(id, messages.slice(0, startOfLastTurn(messages)));
      return { session: sessionOf(id), ...(prompt ? { prompt } : {}) };
    }) satisfies Answer<UndoTurnResult>,
    fork: (({ id, turns = Number.POSITIVE_INFINITY }) => {
      let prompts = 0;
      const messages = conversations.get(id) ?? [];
      const end = messages.findIndex(({ role }) => role === 'user' && ++prompts > turns);
      return { session: sessionOf(begin(end === -1 ? messages : messages.slice(0, end))) };
    }) satisfies Answer<object>,
  };

  return {
    answers,
    /** What a test answers itself, with what it leaves to the conversations. */
    merged(method: keyof typeof answers, params: SessionParams, scripted: unknown): unknown {
      if (typeof scripted !== 'object' || scripted instanceof ResponseError) return scripted;
      const { session, messages } = scripted as Partial<ReadSessionResult>;
      if (method === 'create' && session) conversations.set(session.id, []);
      if (method === 'read' && session && !conversations.has(session.id))
        conversations.set(session.id, messages ?? []);
      if (method !== 'undo' && method !== 'fork') {
        const known = conversations.get(session?.id ?? '') ?? [];
        return method === 'read' ? { ...scripted, messages: known } : scripted;
      }
      const own: UndoTurnResult = answers[method](params);
      if (session) conversations.set(session.id, conversations.get(own.session.id) ?? []);
      return { ...own, ...scripted, session: { ...session, turns: own.session.turns } };
    },
    /** The parameters as the model of a real daemon would read them. */
    whole({ history, ...params }: ChatParams): ChatParams {
      if (!history) return params;
      const kept = conversations.get(params.session ?? '') ?? [];
      return { ...params, messages: withHistory(kept, params.messages, params.replacesLastTurn === true) };
    },
    /** The turn has ended. */
    note({ session, messages, replacesLastTurn }: ChatParams, result: unknown): void {
      if (session === undefined || typeof result !== 'object') return;
      if (result instanceof Error && !(result instanceof ResponseError)) return;
      const failed =
        result instanceof ResponseError
          ? (result.data as { partial?: Message; messages?: Message[] })
          : undefined;
      const answer = failed
        ? (failed.messages ?? (failed.partial ? [failed.partial] : []))
        : ((result as ChatResult).messages ?? [(result as ChatResult).message]);
      const added = answer.filter(
        ({ role, content, thinking, toolCalls }) =>
          role !== 'assistant' || content || thinking || toolCalls?.length,
      );
      const isCut = failed || (result as ChatResult).finishReason === 'cancelled';
      if (added.length > 0 && !(replacesLastTurn && isCut))
        conversations.set(session, [...messages, ...added]);
    },
  };
}
