import { isAbsolute } from 'node:path';
import * as z from 'zod/mini';
import type { SessionMessage } from '../../protocol/messages/sessions.ts';
import { isNestedTooDeep } from '../base/nesting.ts';
import { messageFields } from '../chat/params.ts';

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
  /** The calls of the last answer that have their results. */
  readonly answered?: readonly string[];
  /** The marks of the prompts that no answer follows. */
  readonly unanswered?: readonly string[];
}

type MessageRecord = SessionMessage & { readonly type: 'message' };

/** One line of a file. */
export type SessionRecord = SessionHeader | SessionState | MessageRecord;

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

const schemas = { session: headerSchema, state: stateSchema, message: messageSchema };

/** The line that is written for a record, with its line end. */
export function recordToLine(record: SessionRecord): string {
  return `${JSON.stringify(record)}\n`;
}

/** Reads a line. Undefined if it is damaged, or from a later version or another author. */
export function tryRecord(line: string): SessionRecord | undefined {
  const value = isNestedTooDeep(line) ? undefined : tryJson(line);
  if (typeof value !== 'object' || value === null) return undefined;
  const type = 'type' in value ? value.type : undefined;
  if (type !== 'session' && type !== 'state' && type !== 'message') return undefined;
  const parsed = schemas[type].safeParse(value);
  return parsed.success ? (parsed.data as SessionRecord) : undefined;
}

function tryJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
