import type { PromptResponse } from '@agentclientprotocol/sdk';
import { linkedSignal } from '../../protocol/base/abort.ts';
import { InvalidParamsError } from '../base/errors.ts';
import type { Session, Sessions } from './sessions.ts';

interface TurnFrame {
  readonly session: Session;
  /** Of the request. */
  readonly asked: AbortSignal;
  /** The last turn of a session that was closed meanwhile is over. */
  readonly onDidEnd: (id: string) => void;
}

/** Runs the one turn of a session; its signal is aborted by the request's, and by a cancel of the session. */
export async function inTurn(
  { session, asked, onDidEnd }: TurnFrame,
  work: (turn: AbortSignal) => Promise<PromptResponse>,
): Promise<PromptResponse> {
  if (session.turn) throw stillAnswering();
  const turn = linkedSignal(asked);
  session.turn = turn;
  try {
    return await work(turn.signal);
  } catch (error) {
    if (turn.signal.aborted) return { stopReason: 'cancelled' };
    throw error;
  } finally {
    turn.unlink();
    session.turn = undefined;
    if (session.isClosed) onDidEnd(session.id);
  }
}

/** @throws {InvalidParamsError} where the session has a turn. */
export function refuseAnswering(sessions: Sessions, sessionId: string): void {
  if (sessions.all().some(({ id, turn }) => id === sessionId && turn)) throw stillAnswering();
}

function stillAnswering(): InvalidParamsError {
  return new InvalidParamsError('sessionId', 'it is still answering; wait for its answer, or cancel it');
}
