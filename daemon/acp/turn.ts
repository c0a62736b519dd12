import type { StopReason } from '@agentclientprotocol/sdk';
import type { ChatParams, FinishReason, Message } from '../../protocol/chat.ts';
import type { Model } from '../../protocol/models.ts';
import { withoutUndefined } from '../../protocol/withoutUndefined.ts';
import type { Core } from '../core.ts';
import { RunnerError } from '../errors.ts';
import type { Offer } from './offer.ts';
import { thinkOf } from './pickers.ts';
import { historyWith, type Session } from './sessions.ts';
import type { Teller } from './teller.ts';

export interface TurnParts {
  readonly core: Pick<Core, 'chat' | 'keepTurns' | 'servers'>;
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
  // No tool is offered; whoever calls one all the same has ended its turn.
  toolCalls: 'end_turn',
  toolLimit: 'end_turn',
  cancelled: 'cancelled',
};

/** One prompt to the end of its answer, which the session's history then has. */
export async function takeTurn(parts: TurnParts, message: Message): Promise<StopReason> {
  const { core, offer, session, teller, signal } = parts;
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
    const chat = core.keepTurns(core.chat);
    const result = await chat(core.servers.client(), params, teller.delta, signal);
    session.history = withAnswer(messages, result.message);
    await parts.onDidKeep();
    if (result.finishReason !== 'cancelled') await teller.usage(result.usage, known);
    return stopReasons[result.finishReason];
  } catch (error) {
    // A question that nothing came of is asked again by the user; what had come can be gone on from.
    const partial = partialOf(error);
    if (partial) session.history = withAnswer(messages, partial);
    throw error;
  }
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

function noModel(url: string, elsewhere: readonly Model[]): RunnerError {
  if (elsewhere.length > 0)
    return new RunnerError(
      'model-not-found',
      `Nothing was sent: every model of the runner at ${url} that can chat runs elsewhere. Choose one of them in the model picker, or pull one of your own, for example with "ollama pull qwen3:4b".`,
    );
  return new RunnerError(
    'model-not-found',
    `The runner at ${url} has no model that can chat. Pull one, for example with "ollama pull qwen3:4b", and ask again.`,
  );
}

function partialOf(error: unknown): Message | undefined {
  // The chat itself puts it there, as a message.
  return error instanceof RunnerError ? (error.details.partial as Message | undefined) : undefined;
}

/** What was asked and said. Thinking, and calls of tools that nobody has, are not replayed. */
function withAnswer(messages: readonly Message[], { content }: Message): readonly Message[] {
  return content === '' ? messages : [...messages, { role: 'assistant', content }];
}
