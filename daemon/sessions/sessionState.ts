import { createHash } from 'node:crypto';
import { withoutUndefined } from '../../protocol/base/withoutUndefined.ts';
import type { Message } from '../../protocol/messages/chat.ts';
import type { SessionMessage } from '../../protocol/messages/sessions.ts';
import { recordToLine, type SessionState } from './records.ts';
import { titleOf } from './title.ts';

/** The most characters of all ids and marks in a state, because its line has to fit into the end of a file. */
const maxMarks = 4096;

/** The state after these messages are added. */
export function stateAfter(state: SessionState, messages: readonly SessionMessage[]): SessionState {
  const { title, turns, model, answered = [], unanswered = [] } = state;
  const lastAnswer = messages.findLastIndex(({ role }) => role === 'assistant');
  const since = messages.slice(lastAnswer + 1);
  const results = since.flatMap(({ toolCallId }) => toolCallId ?? []);
  const prompts = since.filter(({ role }) => role === 'user').map(markOf);
  const isAnswered = lastAnswer !== -1;
  return withoutUndefined<SessionState>({
    type: 'state',
    title: title === '' ? (titleOf(messages) ?? '') : title,
    turns: turns + messages.filter(({ role }) => role === 'user').length,
    model: messages.findLast((message) => message.model !== undefined)?.model ?? model,
    answered: unlessEmpty([...(isAnswered ? [] : answered), ...results]),
    unanswered: unlessEmpty([...(isAnswered ? [] : unanswered), ...prompts]),
  });
}

/** Two prompts have the same mark if they have the same words, attachments and images. */
export function markOf({ content, attachments = [], images = [] }: Message): string {
  const attached = attachments.map(({ path, lines, text }) => [path, lines, text]);
  const said = JSON.stringify([content, attached, images]);
  return createHash('sha256').update(said).digest('base64url').slice(0, 16);
}

/** The line of a state. If its ids and marks are too long for the end of a file, they are left out. */
export function stateToLine(state: SessionState): string {
  const { answered = [], unanswered = [], ...short } = state;
  return recordToLine([...answered, ...unanswered].join('').length > maxMarks ? short : state);
}

function unlessEmpty(texts: readonly string[]): readonly string[] | undefined {
  return texts.length === 0 ? undefined : texts;
}
