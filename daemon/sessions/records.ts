import { createHash } from 'node:crypto';
import { isAbsolute } from 'node:path';
import * as z from 'zod/mini';
import { isRecord, tryJson, withoutUndefined } from '../../protocol/base/json.ts';
import { cutText } from '../../protocol/base/text.ts';
import type { ClearedParts, Message } from '../../protocol/messages/chat.ts';
import type { ConversationSettings, SessionMessage } from '../../protocol/messages/sessions.ts';
import { isNestedTooDeep } from '../base/nesting.ts';
import { clearedFields, messageFields, requestFields } from '../chat/serveChat.ts';

/** The first line of a file. */
export interface SessionHeader {
  readonly type: 'session';
  readonly version: 1;
  readonly id: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly cwd?: string;
}

/**
 * A summary of everything before it. It is the last line of every whole file, so that a list need not read the rest.
 */
export interface SessionState {
  readonly type: 'state';
  readonly title: string;
  readonly turns: number;
  readonly model?: string;
  /** The mark of the last settings. */
  readonly settings?: string;
  /** The calls of the last answer that have their results. */
  readonly answered?: readonly string[];
  /** The marks of the prompts that no answer follows. */
  readonly unanswered?: readonly string[];
}

type MessageRecord = SessionMessage & { readonly type: 'message' };

/** The settings of the turns after it. Versions that do not know it skip it. */
type SettingsRecord = ConversationSettings & { readonly type: 'settings' };

/** What is removed from the prompts after it. Versions that do not know it skip it. */
type ClearedRecord = ClearedParts & { readonly type: 'cleared' };

/** One line of a file. */
type SessionRecord = SessionHeader | SessionState | SettingsRecord | ClearedRecord | MessageRecord;

const headerSchema = z.object({
  type: z.literal('session'),
  version: z.literal(1),
  id: z.string(),
  createdAt: z.string(),
  cwd: z.exactOptional(z.string().check(z.refine(isAbsolute))),
});

const stateSchema = z.object({
  type: z.literal('state'),
  title: z.string(),
  turns: z.int().check(z.gte(0)),
  model: z.exactOptional(z.string()),
  settings: z.exactOptional(z.string()),
  answered: z.exactOptional(z.array(z.string())),
  unanswered: z.exactOptional(z.array(z.string())),
});

const messageSchema = z.object({
  type: z.literal('message'),
  ...messageFields,
  at: z.exactOptional(z.string()),
  model: z.exactOptional(z.string()),
  partial: z.exactOptional(z.enum(['cancelled', 'failed'])),
});

const settingsSchema = z.object({
  type: z.literal('settings'),
  system: z.exactOptional(z.string()),
  think: requestFields.think,
  options: requestFields.options,
  hostedTools: z.exactOptional(z.union([z.literal('all'), z.array(z.string())])),
  maxRounds: z.exactOptional(z.int().check(z.gte(1))),
});

const schemas = {
  session: headerSchema,
  state: stateSchema,
  settings: settingsSchema,
  cleared: z.object({ type: z.literal('cleared'), ...clearedFields }),
  message: messageSchema,
};

const isType = (type: unknown): type is keyof typeof schemas =>
  typeof type === 'string' && Object.hasOwn(schemas, type);

/** The line that is written for a record, with its line end. */
export function recordToLine(record: SessionRecord): string {
  return `${JSON.stringify(record)}\n`;
}

/** Reads a line. Undefined if it is damaged, or from a later version or another author. */
export function tryRecord(line: string): SessionRecord | undefined {
  const value = isNestedTooDeep(line) ? undefined : tryJson(line);
  const type = isRecord(value) ? value['type'] : undefined;
  if (!isType(type)) return undefined;
  const parsed = schemas[type].safeParse(value);
  return parsed.success ? (parsed.data as SessionRecord) : undefined;
}

/** The most characters of all ids and marks in a state, because its line has to fit into the end of a file. */
const maxMarks = 4096;

/** The state after these messages are added. */
export function stateAfter(state: SessionState, messages: readonly SessionMessage[]): SessionState {
  const { title, turns, model, settings, answered = [], unanswered = [] } = state;
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
    settings,
    answered: unlessEmpty([...(isAnswered ? [] : answered), ...results]),
    unanswered: unlessEmpty([...(isAnswered ? [] : unanswered), ...prompts]),
  });
}

/** Two prompts have the same mark if they have the same words, attachments and images. */
export function markOf({ content, attachments = [], images = [] }: Message): string {
  const attached = attachments.map(({ path, lines, text }) => [path, lines, text]);
  return hashOf(JSON.stringify([content, attached, images]));
}

/** The line of settings, and its mark. */
export function settingsToLine(settings: ConversationSettings): {
  readonly line: string;
  readonly mark: string;
} {
  const line = recordToLine({ type: 'settings', ...settings });
  return { line, mark: hashOf(line) };
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}

/** The line of a state. If its ids and marks are too long for the end of a file, they are left out. */
export function stateToLine(state: SessionState): string {
  const { answered = [], unanswered = [], ...short } = state;
  return recordToLine([...answered, ...unanswered].join('').length > maxMarks ? short : state);
}

function unlessEmpty(texts: readonly string[]): readonly string[] | undefined {
  return texts.length === 0 ? undefined : texts;
}

/** The most UTF-16 units of a title that nobody has set. */
const maxDerived = 60;

/** The first line of the first prompt that has any words. No character is cut in half. */
export function titleOf(messages: readonly Message[]): string | undefined {
  for (const { role, content } of messages) {
    const line = role === 'user' ? oneLine(content.trimStart().split(/[\r\n]/, 1)[0] ?? '') : '';
    // The address of a link says nothing, and the cut would leave a half of it.
    if (line !== '') return cutText(line.replace(/\[([^\][]+)\]\([^()\s]*\)/g, '$1'), maxDerived).trimEnd();
  }
  return undefined;
}

/** Removes what would break the line or control a terminal. */
export function oneLine(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').trim();
}
