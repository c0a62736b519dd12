import type { ChatResult, Message } from '../../protocol/chat.ts';
import type { Chat } from '../chat/chat.ts';
import { RunnerError } from '../errors.ts';
import type { Lazy } from '../lazily.ts';
import type { Log } from '../log.ts';
import type { Sessions } from './sessions.ts';
import type { KeptTurn } from './turnRecords.ts';
import { naming } from './unknownSession.ts';

export interface KeptChatParts {
  readonly sessions: Pick<Lazy<Sessions>, 'get'>;
  readonly log: Log;
}

/**
 * Wraps a chat. If a request names a conversation, what the turn adds is appended to it when the turn ends. If the disk
 * fails, the answer is not lost: a notice says that the turn was not kept.
 */
export function keepTurns(chat: Chat, { sessions, log }: KeptChatParts): Chat {
  return async (client, { session: id, ...params }, send, signal) => {
    if (id === undefined) return chat(client, params, send, signal);
    const store = await sessions.get();
    await naming('session', store.open(id));
    let seq = 0;
    const came = { text: '', thinking: '' };
    const counted: typeof send = (delta) => {
      seq = delta.seq + 1;
      if (delta.kind === 'text' || delta.kind === 'thinking') came[delta.kind] += delta.text;
      return send(delta);
    };
    const keep = async (answer: readonly Message[], partial?: KeptTurn['partial']) => {
      const turn = { model: params.model, request: params.messages, answer };
      await store.append(id, partial ? { ...turn, partial } : turn);
    };
    return store.during(signal, async (until) => {
      const result = await chat(client, params, counted, until).catch(async (error: unknown) => {
        // If the client is gone, the error is about that, and does not hold the answer so far.
        const known = partOf(error);
        const part = known.length > 0 ? known : messagesOf(came);
        if (part.length > 0)
          await keep(part, until.aborted ? 'cancelled' : 'failed').catch((failure) =>
            log.warn(`A turn was not kept: ${String(failure)}`),
          );
        throw error;
      });
      try {
        await keep(addedBy(result), result.finishReason === 'cancelled' ? 'cancelled' : undefined);
        return result;
      } catch (error) {
        const notice = { code: 'session-not-kept', message: sentenceOf(error) } as const;
        log.warn(notice.message);
        await send({ streamId: params.streamId, seq, kind: 'notice', notice });
        return { ...result, notices: [...result.notices, notice] };
      }
    });
  };
}

/** The messages that the turn has added after the prompt. */
function addedBy({ message, messages }: ChatResult): readonly Message[] {
  return messages ?? [message];
}

/** What had arrived before the error. The chat itself adds it to the error, as messages. */
function partOf(error: unknown): readonly Message[] {
  if (!(error instanceof RunnerError)) return [];
  const { messages, partial } = error.details;
  return (messages ?? (partial === undefined ? [] : [partial])) as readonly Message[];
}

interface Came {
  readonly text: string;
  readonly thinking: string;
}

function messagesOf({ text, thinking }: Came): readonly Message[] {
  if (text === '' && thinking === '') return [];
  return [{ role: 'assistant', content: text, ...(thinking === '' ? {} : { thinking }) }];
}

function sentenceOf(error: unknown): string {
  return error instanceof RunnerError
    ? `This turn was not kept. ${error.message}`
    : 'This turn was not kept, because the conversation was deleted in the meantime.';
}
