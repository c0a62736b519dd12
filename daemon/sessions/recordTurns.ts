import { orAborted } from '../../protocol/base/abort.ts';
import { withoutUndefined } from '../../protocol/base/json.ts';
import type { ChatParams, ChatResult, Message, Notice } from '../../protocol/messages/chat.ts';
import type { ConversationSettings } from '../../protocol/messages/sessions.ts';
import { InvalidParamsError, RunnerError } from '../base/errors.ts';
import { createEmitter, type Event } from '../base/event.ts';
import { type Lazy, lazily } from '../base/lazily.ts';
import type { Log } from '../base/log.ts';
import type { ChatTurn } from '../chat/chat.ts';
import type { ModelPlaces } from '../models/modelPlaces.ts';
import { withHistory } from './conversationMemory.ts';
import { naming } from './sessionId.ts';
import type { SessionSettings, Sessions, SessionsOptions } from './sessions.ts';

/** The kept conversations. The store is loaded when one is first needed. */
export interface LazySessions extends Lazy<Sessions> {
  /** A conversation was created, changed or deleted. */
  readonly onDidChange: Event<void>;
}

/** `userSettings` is what the user's own file says in addition to the settings. */
export function createLazySessions(
  options: Omit<SessionsOptions, 'onDidChange'>,
  userSettings: () => Promise<Partial<SessionSettings>>,
): LazySessions {
  const changes = createEmitter<void>();
  const store = lazily(async () => {
    const [loaded, own] = await Promise.all([import('./sessions.ts'), userSettings()]);
    const settings = () => stricter(options.settings(), own);
    return new loaded.Sessions({ ...options, settings, onDidChange: () => changes.fire() });
  });
  return { ...store, onDidChange: changes.event };
}

/** Combines two settings. Where they differ, the stricter one applies. */
function stricter(one: SessionSettings, other: Partial<SessionSettings>): SessionSettings {
  return {
    keepSessions: one.keepSessions && other.keepSessions !== false,
    sessionDays: Math.min(one.sessionDays, other.sessionDays ?? one.sessionDays),
  };
}

/**
 * Wraps a turn. If a request names a conversation, the turn is kept in it while it goes on. If the disk fails, the
 * answer is not lost: a notice says that the turn was not kept.
 */
export function recordTurns(
  answer: ChatTurn,
  { sessions, places, log }: { sessions: Lazy<Sessions>; places: ModelPlaces; log: Log },
): ChatTurn {
  return async (client, { replacesLastTurn = false, history, ...sent }, send, signal) => {
    const { session: id, messages } = sent;
    if (id === undefined) return answer(client, sent, send, signal);
    const store = await sessions.get();
    await naming('session', store.open(id));
    return store.keepTurn({ id, replacesLastTurn, signal }, async ({ earlier, begin }, until) => {
      // The answer that is being given is part of the history.
      if (history) await orAborted(earlier, until).catch(() => undefined);
      if (history && until.aborted) return answer(client, sent, send, until);
      const { turns } = await store.find(id);
      const isMissing =
        !history && turns > Number(replacesLastTurn) && !messages.some(({ role }) => role === 'assistant');
      const whole =
        history || isMissing ? withHistory(await store.history(id), messages, replacesLastTurn) : messages;
      if (whole.length === 0 || (messages.length === 0 && whole.at(-1)?.role === 'assistant'))
        throw new InvalidParamsError('messages', 'there is no message');
      const params = history ? { ...sent, messages: whole } : sent;
      const model = places.nameOf(client.server, params.model);
      const turn = begin({ model, messages: whole, settings: settingsOf({ ...sent, messages: whole }) });
      let seq = 0;
      const noticed = async (result: ChatResult, notice: Notice) => {
        log.warn(notice.message);
        await send({ streamId: params.streamId, seq, kind: 'notice', notice });
        return { ...result, notices: [...result.notices, notice] };
      };
      const counted: typeof send = (delta) => {
        seq = delta.seq + 1;
        turn.add(delta);
        return send(delta);
      };
      const result = await answer(client, params, counted, until).catch(async (error: unknown) => {
        await turn
          .end(until.aborted ? 'cancelled' : 'failed', partOf(error))
          .catch((failure) => log.warn(`A turn was not kept: ${String(failure)}`));
        throw error;
      });
      try {
        const partial = result.finishReason === 'cancelled' ? 'cancelled' : undefined;
        await turn.end(partial, addedBy(result), result.agent?.cleared);
        return isMissing ? await noticed(result, { code: 'history-missing', message: missing }) : result;
      } catch (error) {
        return noticed(result, { code: 'session-not-kept', message: sentenceOf(error) });
      }
    });
  };
}

function settingsOf({ messages, think, options, hostedTools, maxRounds }: ChatParams): ConversationSettings {
  const system = messages[0]?.role === 'system' ? messages[0].content : undefined;
  return withoutUndefined({ system, think, options, hostedTools, maxRounds });
}

const missing =
  'The model has seen none of the earlier turns of this conversation, because the client sent none of them. With "history": "kept" in its request, the daemon adds them.';

/** The messages that the turn has added after the prompt. */
function addedBy({ message, messages }: ChatResult): readonly Message[] {
  return messages ?? [message];
}

/**
 * What had arrived before the error. The chat itself adds it to the error, as messages. If the client is gone, the
 * error is about that, and does not hold it.
 */
function partOf(error: unknown): readonly Message[] | undefined {
  if (!(error instanceof RunnerError)) return undefined;
  const { messages, partial } = error.details;
  return (messages ?? (partial === undefined ? undefined : [partial])) as readonly Message[] | undefined;
}

function sentenceOf(error: unknown): string {
  return error instanceof RunnerError
    ? `This turn was not kept. ${error.message}`
    : 'This turn was not kept, because the conversation was deleted in the meantime.';
}
