import { stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import type { PromptResponse } from '@agentclientprotocol/sdk';
import { linkedSignal } from '../../protocol/base/abort.ts';
import type { AgentMode, ChatParams } from '../../protocol/messages/chat.ts';
import { InvalidParamsError } from '../base/errors.ts';
import type { ThinkingChoice } from './pickers.ts';

/** How many sessions are open at most. A new one closes the session that was idle for longest. */
const maxSessions = 64;

/** An open conversation. */
export interface AcpSession {
  /** Of the conversation that is kept. */
  readonly id: string;
  readonly cwd: string;
  /** Chosen by the user or, without a choice, by the daemon. It stays while it is installed. */
  model: string | undefined;
  /** The configured model, if it is not installed and the user has not been notified of that yet. */
  missingModel: string | undefined;
  /** The user knows that a model without tools leaves those of the client out. */
  knowsOfUnusedTools: boolean;
  thinking: ThinkingChoice;
  /** What the model may do with the built-in tools; undefined if they are off. */
  mode: AgentMode | undefined;
  /** The options that the conversation was kept with. */
  readonly runnerOptions?: NonNullable<ChatParams['options']>;
  /** The rounds of tools that it was kept with. */
  readonly rounds?: number;
  /** The prompt that is being answered. */
  turn: { abort(): void } | undefined;
  /** The pickers that the client has, as JSON. */
  sentPickers: string;
  /** The title that the client has. */
  title: string;
  /** The session is closed, though its last turn may still be ending. */
  isClosed: boolean;
}

export type AcpSessions = ReturnType<typeof createSessions>;

/** `onDidClose` is called for each closed session once it has no turn any more. */
export function createSessions(onDidClose: (session: AcpSession) => void) {
  // In the order of their last use.
  const sessions = new Map<string, AcpSession>();

  const close = (session: AcpSession) => {
    sessions.delete(session.id);
    session.isClosed = true;
    if (session.turn) session.turn.abort();
    else onDidClose(session);
  };
  /** @throws {InvalidParamsError} with the path `sessionId`. */
  const get = (id: string) => {
    const session = sessions.get(id);
    if (!session) throw new InvalidParamsError('sessionId', 'there is no such session; begin a new one');
    sessions.delete(id);
    sessions.set(id, session);
    return session;
  };

  return {
    get,
    open(
      known: Pick<AcpSession, 'id' | 'cwd'> &
        Partial<Pick<AcpSession, 'mode' | 'model' | 'title' | 'thinking' | 'runnerOptions' | 'rounds'>>,
    ): AcpSession {
      const oldest = [...sessions.values()].find(({ turn }) => turn === undefined);
      if (sessions.size >= maxSessions && oldest) close(oldest);
      const session: AcpSession = {
        ...{
          model: undefined,
          missingModel: undefined,
          knowsOfUnusedTools: false,
          thinking: 'default' as const,
          mode: undefined,
        },
        ...{ turn: undefined, sentPickers: '[]', title: '', isClosed: false },
        ...known,
      };
      sessions.set(session.id, session);
      return session;
    },
    /** Cancels the session's turn and forgets the session. */
    close: (id: string) => close(get(id)),
    all: (): readonly AcpSession[] => [...sessions.values()],
    has: (id: string) => sessions.has(id),
  };
}

/** Runs the one turn of a session. Its signal is aborted with the request's, and when the session is cancelled. */
export async function inTurn(
  session: AcpSession,
  requestSignal: AbortSignal,
  work: (signal: AbortSignal) => Promise<PromptResponse>,
): Promise<PromptResponse> {
  if (session.turn) throw stillAnswering();
  const turn = linkedSignal(requestSignal);
  session.turn = turn;
  try {
    return await work(turn.signal);
  } catch (error) {
    if (turn.signal.aborted) return { stopReason: 'cancelled' };
    throw error;
  } finally {
    turn.unlink();
    session.turn = undefined;
  }
}

/** @throws {InvalidParamsError} if the session is answering a prompt. */
export function refuseAnswering(sessions: AcpSessions, sessionId: string): void {
  if (sessions.all().some(({ id, turn }) => id === sessionId && turn)) throw stillAnswering();
}

function stillAnswering(): InvalidParamsError {
  return new InvalidParamsError('sessionId', 'it is still answering; wait for its answer, or cancel it');
}

export function refuseRelative(cwd: string): void {
  if (!isAbsolute(cwd)) throw new InvalidParamsError('cwd', 'it is not an absolute path');
}

/** An editor may name a folder that was moved or deleted since. */
export async function requireFolder(cwd: string): Promise<void> {
  refuseRelative(cwd);
  const found = await stat(cwd).catch(() => undefined);
  if (!found?.isDirectory()) throw new InvalidParamsError('cwd', 'there is no such folder');
}
