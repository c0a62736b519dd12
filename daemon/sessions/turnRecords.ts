import type { Message } from '../../protocol/messages/chat.ts';
import type { SessionMessage } from '../../protocol/messages/sessions.ts';
import { maxLine } from './fileLines.ts';
import { toKept } from './keptMessage.ts';
import { recordToLine, type SessionState } from './records.ts';
import { markOf, stateAfter } from './sessionState.ts';

/** What a turn is asked. */
export interface Question {
  readonly model: string;
  /** All messages that were sent, with the history. */
  readonly request: readonly Message[];
}

/** What came of it. */
export interface Reply {
  /** All messages of the answer, in order. */
  readonly answer: readonly Message[];
  readonly partial?: 'cancelled' | 'failed';
}

export interface RecordOptions {
  /** The state before. */
  readonly state: SessionState;
  /** ISO 8601. */
  readonly at: string;
  /** Removes secrets from a message. */
  readonly redact: <T extends object>(value: T) => T;
}

/** What is added to a file: the lines of messages, and the state after them. */
export interface Addition {
  readonly lines: string;
  readonly state: SessionState;
}

/** The messages of a question that are not kept yet. */
export function questionToAddition(
  { model, request }: Question,
  { state, at, redact }: RecordOptions,
): Addition {
  const kept = addedBy(request, state).map((message) => redact(toKept(message)));
  const known = new Set(state.unanswered);
  const messages = kept
    .filter((message) => message.role !== 'user' || !known.has(markOf(message)))
    .map((message): SessionMessage => ({ ...message, at }));
  return toAddition(messages, { ...stateAfter(state, messages), model });
}

export function replyToAddition(
  model: string,
  { answer, partial }: Reply,
  { state, at, redact }: RecordOptions,
): Addition {
  const said = answer.filter(saysSomething);
  const last = said.findLast(({ role }) => role === 'assistant');
  const messages = said.map(
    (message): SessionMessage => ({
      ...redact(toKept(message)),
      at,
      ...(message.role === 'assistant' ? { model } : {}),
      ...(message === last && partial ? { partial } : {}),
    }),
  );
  return toAddition(messages, stateAfter(state, messages));
}

export function saysSomething({ role, content, thinking, toolCalls }: Message): boolean {
  return role !== 'assistant' || content !== '' || Boolean(thinking) || Boolean(toolCalls?.length);
}

/** In a new conversation everything that was sent, otherwise what follows the last answer. */
function addedBy(request: readonly Message[], { turns, answered = [] }: SessionState): readonly Message[] {
  if (turns === 0) return request;
  const known = new Set(answered);
  const after = request.findLastIndex(({ role }) => role === 'assistant') + 1;
  return request
    .slice(after)
    .filter(
      ({ role, toolCallId }) => role !== 'system' && !(toolCallId !== undefined && known.has(toolCallId)),
    );
}

function toAddition(messages: readonly SessionMessage[], state: SessionState): Addition {
  return { lines: messages.map(messageToLine).join(''), state };
}

function messageToLine(message: SessionMessage): string {
  const line = recordToLine({ type: 'message', ...message });
  if (Buffer.byteLength(line) <= maxLine) return line;
  return recordToLine({
    type: 'message',
    role: message.role,
    content: '[This message was too long to be kept.]',
  });
}
