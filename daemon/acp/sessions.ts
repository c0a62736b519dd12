import type { Message } from '../../protocol/messages/chat.ts';
import { InvalidParamsError, RunnerError } from '../base/errors.ts';
import type { ThinkingChoice } from './pickers.ts';

/** How many sessions are kept; the one that rested longest makes room. */
const maxSessions = 64;
/** Of one session's history, in characters, with attachments and images. */
const maxHistory = 64 * 1024 * 1024;

/** One conversation, as it is gone on with. */
export interface Session {
  /** Of the conversation that is kept. */
  readonly id: string;
  /** Chosen by the user, or for want of that by us; it stays while it is installed. */
  model: string | undefined;
  /** The model that the configuration names, in whose place another answers; nobody was told yet. */
  standsInFor: string | undefined;
  /** Notices about tools that were shown: they are not shown again. */
  readonly said: Set<string>;
  thinking: ThinkingChoice;
  history: readonly Message[];
  /** The prompt that is being answered. */
  turn: { abort(): void } | undefined;
  /** The pickers as the client knows them. */
  told: string;
  /** The title as the client knows it. */
  title: string;
  /** It is forgotten, but for its turn. */
  isClosed: boolean;
}

/** What a session begins with. */
export type Beginning = Pick<Session, 'id'> & Partial<Pick<Session, 'history' | 'model' | 'title'>>;

export interface Sessions {
  open(beginning: Beginning): Session;
  /** @throws {InvalidParamsError} with the path `sessionId`. */
  get(id: string): Session;
  /** Its turn is cancelled, and it is forgotten. */
  close(id: string): void;
  all(): readonly Session[];
}

/** `onDidClose` hears of each that is closed and has no turn any more. */
export function createSessions(onDidClose: (session: Session) => void): Sessions {
  // In the order of their last use.
  const sessions = new Map<string, Session>();

  const close = (session: Session) => {
    sessions.delete(session.id);
    session.isClosed = true;
    if (session.turn) session.turn.abort();
    else onDidClose(session);
  };
  const makeRoom = () => {
    if (sessions.size < maxSessions) return;
    const oldest = [...sessions.values()].find(({ turn }) => turn === undefined);
    if (oldest) close(oldest);
  };
  const get = (id: string) => {
    const session = sessions.get(id);
    if (!session) throw new InvalidParamsError('sessionId', 'there is no such session; begin a new one');
    sessions.delete(id);
    sessions.set(id, session);
    return session;
  };

  return {
    get,
    open(beginning) {
      makeRoom();
      const session: Session = {
        model: undefined,
        standsInFor: undefined,
        said: new Set(),
        thinking: 'default' as const,
        history: [],
        turn: undefined,
        told: '[]',
        title: '',
        isClosed: false,
        ...beginning,
      };
      sessions.set(session.id, session);
      return session;
    },
    close: (id) => close(get(id)),
    all: () => [...sessions.values()],
  };
}

/**
 * The session's history with one message more.
 * @throws {RunnerError} rather than forgetting anything in silence.
 */
export function historyWith({ history }: Session, message: Message): readonly Message[] {
  const longer = [...history, message];
  if (longer.reduce((size, each) => size + sizeOf(each), 0) <= maxHistory) return longer;
  throw new RunnerError(
    'context-exceeded',
    'This session holds more than can be kept in memory. Begin a new one.',
  );
}

function sizeOf({ content, attachments = [], images = [], toolCalls = [] }: Message): number {
  const calls = toolCalls.map((call) => JSON.stringify(call.arguments));
  const texts = [content, ...attachments.map(({ text }) => text), ...images, ...calls];
  return texts.reduce((size, text) => size + text.length, 0);
}
