import type { Message } from './chat.ts';
import type { NotificationMessage, RequestMessage } from './messageTypes.ts';

/** A conversation that is kept in the user's state folder. */
export interface Session {
  /** Of eight digits, a hyphen, and eight letters or digits. */
  readonly id: string;
  /** What it was set to, else the first line of the first prompt, at most 60 characters; empty before that. */
  readonly title: string;
  /** The absolute folder in which it was begun. */
  readonly cwd?: string;
  /** The one that answered last. */
  readonly model?: string;
  /** ISO 8601. */
  readonly createdAt: string;
  /** ISO 8601. */
  readonly updatedAt: string;
  /** How many prompts of the user it holds. */
  readonly turns: number;
}

/** A message as it is kept. Sent as history in `messages` of a chat, what is added here counts for nothing. */
export interface SessionMessage extends Message {
  /** ISO 8601: when its turn ended. */
  readonly at?: string;
  /** Of an answer: who gave it. */
  readonly model?: string;
  /** Of an answer that is not whole: it was cancelled, or it failed. */
  readonly partial?: 'cancelled' | 'failed';
}

export interface CreateSessionParams {
  /** One line of at most 200 characters. */
  readonly title?: string;
  /** An absolute folder. */
  readonly cwd?: string;
}

/** Client to daemon: a new conversation, for the `session` of a chat. */
export const createSessionRequest: RequestMessage<CreateSessionParams, { readonly session: Session }> = {
  method: 'runner/sessions/create',
};

export interface ListSessionsParams {
  /** All of its words must be in the title or in what was said, in any case; at most 200 characters. */
  readonly query?: string;
  /** Only those that were begun in this folder. */
  readonly cwd?: string;
  /** From 1 to 1,000; default 50. */
  readonly limit?: number;
  /** The `nextCursor` of the page before. */
  readonly cursor?: string;
}

export interface ListSessionsResult {
  /** Newest first. */
  readonly sessions: readonly Session[];
  /** There is more. */
  readonly nextCursor?: string;
}

/** Client to daemon: what is kept. */
export const listSessionsRequest: RequestMessage<ListSessionsParams, ListSessionsResult> = {
  method: 'runner/sessions/list',
};

export interface SessionParams {
  readonly id: string;
}

export interface ReadSessionParams extends SessionParams {
  /** True where it is to be gone on with: another process that has it open is then told at once, as `busy`. */
  readonly open?: boolean;
}

export interface ReadSessionResult {
  readonly session: Session;
  readonly messages: readonly SessionMessage[];
}

/** Client to daemon: one conversation with all that was said. */
export const readSessionRequest: RequestMessage<ReadSessionParams, ReadSessionResult> = {
  method: 'runner/sessions/read',
};

export interface UpdateSessionParams extends SessionParams {
  /** One line of at most 200 characters. */
  readonly title: string;
}

/** Client to daemon: another title. */
export const updateSessionRequest: RequestMessage<UpdateSessionParams, { readonly session: Session }> = {
  method: 'runner/sessions/update',
};

/** Client to daemon: remove one from the disk. */
export const deleteSessionRequest: RequestMessage<SessionParams, Record<string, never>> = {
  method: 'runner/sessions/delete',
};

/** Daemon to client: a conversation was created, changed or deleted by this daemon. */
export const sessionsDidChange: NotificationMessage<Record<string, never>> = {
  method: 'runner/sessions/didChange',
};
