import type { Message } from '../../protocol/chat.ts';
import type { SessionMessage } from '../../protocol/sessions.ts';
import { maxLine } from './fileLines.ts';
import { toKept } from './keptMessage.ts';
import { recordToLine, type SessionState } from './records.ts';
import { stateAfter } from './sessionFile.ts';

/** What a turn adds to its conversation. */
export interface KeptTurn {
  readonly model: string;
  /** All messages that were sent, with the history. */
  readonly request: readonly Message[];
  /** All messages of the answer, in order. */
  readonly answer: readonly Message[];
  readonly partial?: 'cancelled' | 'failed';
}

/** The lines of a turn. `redact` removes secrets from a message. */
export function turnToLines(
  turn: KeptTurn,
  { state, at, redact }: { state: SessionState; at: string; redact: <T extends object>(value: T) => T },
): string {
  const answer = turn.answer.filter(saysSomething);
  const last = answer.findLast(({ role }) => role === 'assistant');
  const messages: readonly SessionMessage[] = [
    ...addedBy(turn.request, state).map((message) => ({ ...redact(toKept(message)), at })),
    ...answer.map((message) => ({
      ...redact(toKept(message)),
      at,
      ...(message.role === 'assistant' ? { model: turn.model } : {}),
      ...(message === last && turn.partial ? { partial: turn.partial } : {}),
    })),
  ];
  const lines = messages.map(messageToLine);
  return [...lines, stateToLine(stateAfter(state, messages))].join('');
}

/** The line of a state. If `answered` is too long for the end of a file, it is left out. */
export function stateToLine(state: SessionState): string {
  const { answered, ...short } = state;
  return recordToLine((answered?.join('').length ?? 0) > maxAnswered ? short : state);
}

/** The most characters of all ids in `answered`. */
const maxAnswered = 4096;

/** Whether a turn has anything to keep. */
export function isWorthKeeping({ answer }: KeptTurn): boolean {
  return answer.some(saysSomething);
}

function saysSomething({ role, content, thinking, toolCalls }: Message): boolean {
  return role !== 'assistant' || content !== '' || Boolean(thinking) || Boolean(toolCalls?.length);
}

/**
 * The sent messages that are not kept yet: in a new conversation all of them, otherwise those after the last answer.
 */
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

function messageToLine(message: SessionMessage): string {
  const line = recordToLine({ type: 'message', ...message });
  if (Buffer.byteLength(line) <= maxLine) return line;
  return recordToLine({
    type: 'message',
    role: message.role,
    content: '[This message was too long to be kept.]',
  });
}
