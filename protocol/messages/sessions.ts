import type { ChatParams, ClearedParts, Message } from './chat.ts';
import type { NotificationMessage, RequestMessage } from './messageTypes.ts';

/** A conversation that is kept in the user's state folder. */
export interface Session {
  /** Eight digits, a hyphen, and eight letters or digits. */
  readonly id: string;
  /**
   * The title that was set, else the first line of the first prompt, at most 60 characters. Empty before the first
   * prompt.
   */
  readonly title: string;
  /** The absolute path of the folder in which it was started. */
  readonly cwd?: string;
  /** The model that was asked last. */
  readonly model?: string;
  /** @format date-time */
  readonly createdAt: string;
  /** @format date-time */
  readonly updatedAt: string;
  /** How many prompts of the user it holds. */
  readonly turns: number;
  /** False if it is not on the disk: its messages are in the daemon's memory, until it is closed. */
  readonly kept?: false;
}

/** A message as it is kept. The added fields are ignored when it is sent as history in the `messages` of a chat. */
export interface SessionMessage extends Message {
  /**
   * When it was written.
   * @format date-time
   */
  readonly at?: string;
  /** In an answer: the model that gave it. */
  readonly model?: string;
  /** In an incomplete answer: it was cancelled, or it failed. */
  readonly partial?: 'cancelled' | 'failed';
}

/**
 * What the last turn of a conversation was asked with. A client that continues it sends the same again. It says nothing
 * about approvals.
 */
export interface ConversationSettings
  extends Pick<ChatParams, 'think' | 'options' | 'hostedTools' | 'maxRounds'> {
  /** The system message that the client sent. */
  readonly system?: string;
}

export interface CreateSessionParams {
  /**
   * One line.
   * @maxLength 200
   */
  readonly title?: string;
  /** The absolute path of a folder. */
  readonly cwd?: string;
  /**
   * False: it is not written to the disk.
   * @default true
   */
  readonly kept?: boolean;
}

/** Client to daemon: creates a conversation, for the `session` of a chat. */
export const createSessionRequest: RequestMessage<CreateSessionParams, { readonly session: Session }> = {
  method: 'runner/sessions/create',
};

export interface ListSessionsParams {
  /**
   * All of its words must occur in the title or in the messages, in upper or lower case.
   * @maxLength 200
   */
  readonly query?: string;
  /** Lists only conversations that were started in this folder. */
  readonly cwd?: string;
  /**
   * @minimum 1
   * @maximum 1000
   * @default 50
   */
  readonly limit?: number;
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string;
}

export interface ListSessionsResult {
  /** Newest first. */
  readonly sessions: readonly Session[];
  /** Present if there are more. */
  readonly nextCursor?: string;
}

/** Client to daemon: lists the kept conversations. */
export const listSessionsRequest: RequestMessage<ListSessionsParams, ListSessionsResult> = {
  method: 'runner/sessions/list',
};

export interface SessionParams {
  readonly id: string;
}

export interface ReadSessionParams extends SessionParams {
  /**
   * True if the conversation is to be continued. If another process has it open, the answer is the error `busy` at
   * once.
   */
  readonly open?: boolean;
}

export interface ReadSessionResult {
  readonly session: Session;
  readonly messages: readonly SessionMessage[];
  /** Absent if no turn had any, and in conversations of earlier versions. */
  readonly settings?: ConversationSettings;
  /** What was removed from its prompts to save room. The messages are all there. */
  readonly cleared?: ClearedParts;
}

/** Client to daemon: reads one conversation with all of its messages. */
export const readSessionRequest: RequestMessage<ReadSessionParams, ReadSessionResult> = {
  method: 'runner/sessions/read',
};

export interface UpdateSessionParams extends SessionParams {
  /**
   * One line.
   * @maxLength 200
   */
  readonly title: string;
}

/** Client to daemon: changes the title. */
export const updateSessionRequest: RequestMessage<UpdateSessionParams, { readonly session: Session }> = {
  method: 'runner/sessions/update',
};

export interface UndoTurnResult {
  readonly session: Session;
  /** The prompt that was taken out, with what was attached to it. Absent if there was no turn. */
  readonly prompt?: Message;
}

/**
 * Client to daemon: takes the last turn out of a conversation: its prompt, with prompts before it that were never
 * answered, and everything after it. Without a turn, nothing changes.
 */
export const undoTurnRequest: RequestMessage<SessionParams, UndoTurnResult> = {
  method: 'runner/sessions/undo',
};

export interface ForkSessionParams extends SessionParams {
  /**
   * How many of the user's prompts the new conversation begins with, each with what follows it. Without it, all.
   * @minimum 1
   */
  readonly turns?: number;
}

/** Client to daemon: begins a new conversation with what was said in another one, which stays as it is. */
export const forkSessionRequest: RequestMessage<ForkSessionParams, ReadSessionResult> = {
  method: 'runner/sessions/fork',
};

/** Client to daemon: removes a conversation from the disk. */
export const deleteSessionRequest: RequestMessage<SessionParams, Record<string, never>> = {
  method: 'runner/sessions/delete',
};

/** Client to daemon: other programs may continue the conversation. Its next turn opens it again. */
export const closeSessionRequest: RequestMessage<SessionParams, Record<string, never>> = {
  method: 'runner/sessions/close',
};

/** Daemon to client: a conversation was created, changed or deleted by this daemon. */
export const sessionsDidChange: NotificationMessage<Record<string, never>> = {
  method: 'runner/sessions/didChange',
};
