import type { ChatDelta, ChatParams, Message } from '../../../protocol/messages/chat.ts';
import { failureOf, refusedParameter } from '../cli/failure.ts';
import { type Surroundings, write, writeLine, writeText } from '../cli/streams.ts';
import type { Connection } from '../daemon/connection.ts';
import { createAnswerPrinter } from '../screen/answerPrinter.ts';
import { showLine } from '../screen/controlCharacters.ts';
import { styleFor } from '../screen/style.ts';
import { noteWaiting } from '../screen/waitingNote.ts';
import { AnswerClock, type AnswerStats, describeUsage } from './answerStats.ts';
import type { Approve } from './approval.ts';
import { withNearModels } from './chooseModel.ts';
import { createTurns } from './turn.ts';

/** Shows one answer as it comes. Returns what the turn adds to the conversation, also of a failed one. */
export type ConversationTurn = (
  params: Omit<ChatParams, 'streamId'>,
  signal: AbortSignal,
) => Promise<readonly Message[]>;

export interface TurnListeners {
  /** Asks before a call of a tool. */
  readonly approve: Approve;
  readonly onDidAnswer: (model: string, stats: AnswerStats) => void;
  /** What is kept of the conversation was deleted meanwhile. */
  readonly onDidLoseSession: () => void;
}

export function createConversationTurns(
  surroundings: Surroundings,
  connection: Connection,
  { approve, onDidAnswer, onDidLoseSession }: TurnListeners,
): ConversationTurn {
  const { stdout, env, now, coloursFor } = surroundings;
  const style = styleFor(stdout, env);
  const ask = createTurns(() => connection.daemon, approve);

  return async (params, signal) => {
    const printer = createAnswerPrinter(style, stdout.columns ?? 80, coloursFor);
    const { model } = params;
    await write(stdout, '\n');
    const clock = new AnswerClock(now);
    const waiting = noteWaiting(surroundings, stdout, { daemon: connection.daemon, model });
    const take = async (delta: ChatDelta) => {
      clock.note(delta);
      await waiting.before(delta);
      return write(stdout, printer.delta(delta));
    };
    try {
      const result = await ask(params, take, signal);
      const stats = clock.stats(result);
      await waiting.end();
      await write(stdout, printer.end());
      await writeText(stdout, `${style.dim(describeUsage(showLine(model), result, stats))}\n`);
      onDidAnswer(model, stats);
      return result.messages ?? whatCame(result.message);
    } catch (cause) {
      await waiting.end();
      // The user did not wait for the cancel, and is on the way out.
      if (signal.aborted && failureOf(cause).kind === 'daemon-failed') return [];
      await write(stdout, printer.end());
      const error = await withNearModels(connection.daemon, params.model, cause);
      const { kind, message, partial, messages } = failureOf(error);
      await writeText(stdout, `${style.red(message)}\n`);
      // It was deleted meanwhile: the next prompt begins another, with all that was said.
      if (refusedParameter(cause)?.path === 'session') onDidLoseSession();
      if (kind === 'daemon-failed') await renew();
      return messages ?? (partial ? whatCame(partial) : []);
    }
  };

  /** The conversation outlives its daemon. */
  async function renew(): Promise<void> {
    try {
      await connection.renew();
      await writeLine(stdout, style.dim('It was started again: the conversation can go on.\n'));
    } catch (error) {
      await writeText(stdout, `${style.red(failureOf(error).message)}\n`);
    }
  }
}

function whatCame(message: Message): readonly Message[] {
  const isEmpty = message.content === '' && !message.thinking && !message.toolCalls?.length;
  return isEmpty ? [] : [message];
}
