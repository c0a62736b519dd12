import * as z from 'zod/mini';
import { agentModes, type ChatParams } from '../../protocol/messages/chat.ts';
import { exact, type Schema } from '../base/validate.ts';
import { keepAlive } from '../config/settingSchemas.ts';
import { problemOfSchema } from './formatSchema.ts';

const nonEmpty = z.string().check(z.minLength(1, 'it is empty'));
const object = z.record(z.string(), z.unknown());

const base64 = z
  .string()
  .check(
    z.refine(
      (text) => text.length > 0 && !/[^A-Za-z0-9+/=]/.test(text),
      'it is not base64 (without a "data:" prefix)',
    ),
  );

const toolCall = z.object({ id: z.string(), name: nonEmpty, arguments: object });

const attachment = z.object({
  path: nonEmpty,
  lines: z.exactOptional(z.string()),
  language: z.exactOptional(z.string()),
  text: z.string(),
  uris: z.exactOptional(z.array(z.string())),
  automatic: z.exactOptional(z.boolean()),
});

/** The fields of a message, wherever it comes from. */
export const messageFields = {
  role: z.enum(['system', 'user', 'assistant', 'tool'], 'it is not one of system, user, assistant and tool'),
  content: z.string(),
  attachments: z.exactOptional(z.array(attachment)),
  images: z.exactOptional(z.array(base64)),
  thinking: z.exactOptional(z.string()),
  toolCalls: z.exactOptional(z.array(toolCall)),
  toolCallId: z.exactOptional(z.string()),
  toolName: z.exactOptional(z.string()),
};

const message = z.object(messageFields).check(
  z.refine(({ role, attachments }) => role === 'user' || attachments === undefined, {
    path: ['attachments'],
    error: 'only a user message has any',
  }),
);

const tool = z.object({ name: nonEmpty, description: z.string(), inputSchema: object });

const answerFormat = z.union([z.string(), object]).check((payload) => {
  const { value } = payload;
  const problem = typeof value === 'string' ? undefined : problemOfSchema(value);
  if (problem !== undefined) payload.issues.push({ code: 'custom', message: problem, input: value });
});

/** The fields of every request that a model answers in a stream. */
export const requestFields = {
  server: z.exactOptional(z.string()),
  streamId: nonEmpty,
  model: nonEmpty,
  think: z.exactOptional(z.union([z.boolean(), z.enum(['low', 'medium', 'high', 'max'])])),
  options: z.exactOptional(object),
  keepAlive: z.exactOptional(keepAlive()),
};

export const agentMode = z.enum(agentModes, `it is not one of ${agentModes.join(', ')}`);

const counted = z.int().check(z.gte(0));
/** The fields of what was removed from prompts. */
export const clearedFields = {
  ...{ results: z.array(z.string()), rounds: z.array(z.string()) },
  ...{ answers: counted, turns: counted },
};

const noMessage = { path: ['messages'], error: 'there is no message' };
const noSession = { path: ['history'], error: 'there is no session' };

export const chatParamsSchema: Schema<ChatParams> = exact(
  z
    .object({
      ...requestFields,
      messages: z.array(message),
      tools: z.exactOptional(z.array(tool)),
      hostedTools: z.exactOptional(
        z.union([z.literal('all'), z.array(z.string())], 'it is neither "all" nor a list of names'),
      ),
      agent: z.exactOptional(
        z.object({
          mode: z.exactOptional(agentMode),
          cleared: z.exactOptional(z.object(clearedFields)),
        }),
      ),
      maxRounds: z.exactOptional(z.int().check(z.gte(1, 'it is less than 1'))),
      toolChoice: z.exactOptional(z.enum(['auto', 'none', 'required'])),
      format: z.exactOptional(answerFormat),
      context: z.exactOptional(z.literal('leading')),
      contextTags: z.exactOptional(
        z.array(z.string().check(z.regex(/^[A-Za-z_][\w.-]{0,63}$/, 'it is not an element name'))),
      ),
      dropContextTags: z.exactOptional(z.boolean()),
      thinkingFormat: z.exactOptional(z.enum(['separate', 'quote'])),
      session: z.exactOptional(z.string()),
      history: z.exactOptional(z.literal('kept')),
      replacesLastTurn: z.exactOptional(z.boolean()),
    })
    .check(
      z.refine(({ messages, history }) => messages.length > 0 || history !== undefined, noMessage),
      z.refine(({ session, history }) => session !== undefined || history === undefined, noSession),
    ),
);
