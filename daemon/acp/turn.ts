import type { StopReason } from '@agentclientprotocol/sdk';
import { withoutUndefined } from '../../protocol/base/withoutUndefined.ts';
import type { ChatParams, ChatResult, FinishReason, Message } from '../../protocol/messages/chat.ts';
import type { Model } from '../../protocol/messages/models.ts';
import { RunnerError } from '../base/errors.ts';
import type { AskUser } from '../chat/toolCalls.ts';
import type { Core } from '../compose/core.ts';
import type { Offer } from './offer.ts';
import { thinkOf } from './pickers.ts';
import { historyWith, type Session } from './sessions.ts';
import type { SessionTools } from './sessionTools.ts';
import type { Teller } from './teller.ts';
import { createToolTurn } from './toolTurn.ts';

export interface TurnParts {
  readonly core: Pick<Core, 'chat' | 'recordTurns' | 'knowledge' | 'models' | 'servers'>;
  readonly tools: SessionTools;
  readonly ask: AskUser;
  /** A new id for a call. */
  readonly createId: () => string;
  readonly offer: Offer;
  readonly session: Session;
  readonly teller: Teller;
  /** Tells the sessions whose pickers are others now. */
  readonly settle: () => Promise<void>;
  /** The conversation is kept as far as it is: its title may be known now. */
  readonly onDidKeep: () => Promise<void>;
  readonly signal: AbortSignal;
}

const stopReasons: Readonly<Record<FinishReason, StopReason>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  // The client has no tools of its own; whoever calls one all the same has ended its turn.
  toolCalls: 'end_turn',
  toolLimit: 'max_turn_requests',
  cancelled: 'cancelled',
};

/** One prompt to the end of its answer, which the session's history then has. */
export async function takeTurn(parts: TurnParts, message: Message): Promise<StopReason> {
  const { offer, session, teller } = parts;
  const messages = historyWith(session, message);
  const model = await modelFor(parts);
  const known = offer.models.find(({ name }) => name === model);
  const think = thinkOf(session.thinking, known);
  const params: ChatParams = withoutUndefined({
    streamId: session.id,
    session: session.id,
    model,
    messages,
    think,
  });
  try {
    const result = await answer(parts, params);
    session.history = [...messages, ...toHistory(result.messages ?? [result.message])];
    await parts.onDidKeep();
    if (result.finishReason !== 'cancelled') await teller.usage(result.usage, known);
    return stopReasons[result.finishReason];
  } catch (error) {
    // A question that nothing came of is asked again by the user; what had come can be gone on from.
    const partial = toHistory(partOf(error));
    if (partial.length > 0) session.history = [...messages, ...partial];
    throw error;
  }
}

/** The answer, with what came of the session's tools where the model takes any. */
async function answer(parts: TurnParts, params: ChatParams): Promise<ChatResult> {
  const { core, session, tools, ask, createId, teller, signal } = parts;
  const client = core.servers.client();
  const { model } = params;
  // A list leaves out what only the details say, and no server is started in vain.
  await core.models.learn(client, model, ['tools'], signal);
  if (core.knowledge.capability(client.server, model, 'tools').value === false) {
    await noteUnused(parts, model);
    return core.recordTurns(core.chat)(client, params, teller.delta, signal);
  }
  return tools.during(session.id, async (running) => {
    await running.require('all');
    const { chat, send } = createToolTurn({ chat: core.chat, tools: running, ask, createId, teller });
    return core.recordTurns(chat)(client, { ...params, hostedTools: 'all' }, send, signal);
  });
}

/** Once in a session: the editor has handed tool servers over, and this model cannot use them. */
async function noteUnused({ session, tools, teller }: TurnParts, model: string): Promise<void> {
  if (!tools.isHanded(session.id) || session.said.has('tools-disabled')) return;
  session.said.add('tools-disabled');
  await teller.notice({
    message: `${model} cannot use tools, so those of the editor are left out. Choose a model with tools to use them.`,
  });
}

/**
 * The model that answers; where the runner does not list, the one that was chosen before.
 * @throws {RunnerError} `model-not-found`, where there is none.
 */
async function modelFor({ core, offer, session, teller, settle, signal }: TurnParts): Promise<string> {
  const before = session.model;
  try {
    await offer.list(signal);
  } catch (error) {
    if (before === undefined || signal.aborted || !(error instanceof RunnerError)) throw error;
    return before;
  }
  await settle();
  const { model } = session;
  if (model === undefined) throw noModel(core.servers.client().server.url, offer.models);
  if (before !== undefined && before !== model)
    await teller.notice({ message: `${before} is not installed any more; ${model} answers.` });
  else if (session.standsInFor !== undefined)
    await teller.notice({
      message: `The model ${session.standsInFor}, which is set as the chat model, is not installed or cannot chat; ${model} answers.`,
    });
  session.standsInFor = undefined;
  return model;
}

function noModel(url: string, able: readonly Model[]): RunnerError {
  if (able.length > 0 && able.every(({ remote }) => remote))
    return new RunnerError(
      'model-not-found',
      `Nothing was sent: every model of the runner at ${url} that can chat runs elsewhere. Choose one of them in the model picker, or pull one of your own, for example with "ollama pull qwen3:4b".`,
    );
  return new RunnerError(
    'model-not-found',
    `The runner at ${url} has no model that can chat. Pull one, for example with "ollama pull qwen3:4b", and ask again.`,
  );
}

/** What had come before the error. The chat itself puts it there, as messages. */
function partOf(error: unknown): readonly Message[] {
  if (!(error instanceof RunnerError)) return [];
  const { messages, partial } = error.details;
  return (messages ?? (partial === undefined ? [] : [partial])) as readonly Message[];
}

/** What was said and called. Thinking, and calls that nobody has answered, are not sent again. */
function toHistory(added: readonly Message[]): readonly Message[] {
  const answered = new Set(added.map(({ toolCallId }) => toolCallId));
  return added.flatMap(({ thinking: _, toolCalls = [], ...message }) => {
    const calls = toolCalls.filter(({ id }) => answered.has(id));
    if (message.content === '' && calls.length === 0 && message.role === 'assistant') return [];
    return [{ ...message, ...(calls.length === 0 ? {} : { toolCalls: calls }) }];
  });
}
