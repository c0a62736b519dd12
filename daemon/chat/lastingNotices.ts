import { createHash } from 'node:crypto';
import type { ChatParams, Notice } from '../../protocol/messages/chat.ts';
import type { Runner } from '../runner/runner.ts';
import type { ChatTurn } from './chat.ts';

/** How many conversations are remembered. The one that was used longest ago is forgotten first. */
const maxConversations = 256;

/**
 * Wraps turns: a notice about a state that lasts, such as a tool server that does not start or a window that is nearly
 * full, is sent once in a conversation. It is sent again when the state has changed, or has ended and begun again. The
 * turns of a conversation may be wrapped one by one.
 */
export function createLastingNotices(): (turn: ChatTurn) => ChatTurn {
  const conversations = new Map<string, ReadonlySet<string>>();
  const remember = (id: string, states: ReadonlySet<string>) => {
    conversations.delete(id);
    conversations.set(id, states);
    const [oldest] = conversations.keys();
    if (conversations.size > maxConversations && oldest !== undefined) conversations.delete(oldest);
  };

  return (turn) => async (runner, params, send, signal) => {
    const id = conversationOf(runner, params);
    // Conversations without an id may begin with the same prompt.
    const isLater = params.session !== undefined || params.messages.some(({ role }) => role === 'assistant');
    const before = (isLater ? conversations.get(id) : undefined) ?? new Set();
    const now = new Set<string>();
    let leftOut = 0;
    const isNews = (notice: Notice) => {
      const state = stateOf(notice, params);
      if (state === undefined) return true;
      now.add(state);
      return !before.has(state);
    };
    const sendNews: typeof send = async (delta) => {
      if (delta.kind !== 'notice' || isNews(delta.notice))
        return send({ ...delta, seq: delta.seq - leftOut });
      leftOut += 1;
    };
    try {
      const result = await turn(runner, params, sendNews, signal);
      // A turn that was cut short may not have come to everything that still holds.
      remember(id, result.finishReason === 'cancelled' ? new Set([...before, ...now]) : now);
      return { ...result, notices: result.notices.filter(isNews) };
    } catch (error) {
      remember(id, new Set([...before, ...now]));
      throw error;
    }
  };
}

/** A conversation without an id is known by its first prompt. */
function conversationOf({ server }: Runner, { session, messages }: ChatParams): string {
  if (session !== undefined) return session;
  const first = messages.find(({ role }) => role === 'user')?.content ?? '';
  return createHash('sha256').update(`${server.url}\n${first}`).digest('hex');
}

/** The state that the notice is about, as a key; undefined if it is about this turn alone. */
function stateOf({ code, message, advice }: Notice, { model, options }: ChatParams): string | undefined {
  switch (code) {
    case 'tools-disabled':
    case 'tools-unavailable':
    case 'thinking-unsupported':
    case 'tool-choice-ignored':
    case 'context-reduced':
    case 'window-asked':
    case 'window-small':
    case 'rules-untrusted':
      // The advice may name the time of the next attempt.
      return `${code} ${advice?.problem ?? message}`;
    case 'context-nearly-full':
      // The figures grow with each turn.
      return `${code} ${model} ${options?.['num_ctx']} ${advice?.code}`;
    case 'tools-too-large':
    case 'rules-cut':
      return `${code} ${model}`;
    default:
      return undefined;
  }
}
