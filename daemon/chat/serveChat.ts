import * as z from 'zod/mini';
import { isRecord } from '../../protocol/base/json.ts';
import {
  agentModes,
  type ChatParams,
  chatDelta,
  chatRequest,
  setModeRequest,
} from '../../protocol/messages/chat.ts';
import { exact, type Schema } from '../base/validate.ts';
import { keepAlive } from '../config/valueSchemas.ts';
import type { Endpoint } from '../rpc/endpoint.ts';
import type { AnswerStream } from './answerStreams.ts';
import type { ChatTurn } from './chat.ts';
import type { AgentModes } from './permissions.ts';

interface ChatParts {
  readonly chat: ChatTurn;
  readonly stream: AnswerStream;
  /** @throws {Error} if a name is not that of a tool server, or the mode is not possible here. */
  readonly requireTools: (
    asked: Pick<ChatParams, 'agent' | 'hostedTools'>,
    signal: AbortSignal,
  ) => Promise<void>;
  readonly modes: AgentModes;
}

/** Answers the request for a turn and sends its deltas. */
export function serveChat(endpoint: Endpoint, { chat, stream, requireTools, modes }: ChatParts): void {
  endpoint.onRequest(chatRequest, chatParamsSchema, (params, asked) =>
    stream(params, asked, async ({ runner, model }, signal) => {
      await requireTools(params, signal);
      return chat(runner, { ...params, model }, (delta) => endpoint.notify(chatDelta, delta), signal);
    }),
  );
  endpoint.onRequest(setModeRequest, setModeSchema, async ({ streamId, mode }, signal) => {
    await requireTools({ agent: { mode } }, signal);
    modes.change(streamId, mode);
    return {};
  });
}

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

const agentMode = z.enum(agentModes, `it is not one of ${agentModes.join(', ')}`);

const counted = z.int().check(z.gte(0));
/** The fields of what was removed from prompts. */
export const clearedFields = {
  ...{ results: z.array(z.string()), rounds: z.array(z.string()) },
  ...{ answers: counted, turns: counted },
};

const noMessage = { path: ['messages'], error: 'there is no message' };
const noSession = { path: ['history'], error: 'there is no session' };

const chatParamsSchema: Schema<ChatParams> = exact(
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

const setModeSchema = exact(z.object({ streamId: z.string(), mode: agentMode }));

/** Keywords whose value is a schema, schemas by name, or a list of schemas. */
const ofOne = ['items', 'additionalProperties', 'not', 'contains', 'propertyNames', 'if', 'then', 'else'];
const byName = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'];
const ofList = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
/** One of them at least says what an answer looks like. Without any, a file is probably something else. */
const telling = ['type', 'enum', 'const', '$ref', ...ofOne, ...byName, ...ofList];
const types = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];

/**
 * Why an object is no JSON Schema for an answer; undefined if it looks like one. It checks what people get wrong by
 * hand; the runner reads the rest.
 */
function problemOfSchema(schema: Readonly<Record<string, unknown>>): string | undefined {
  if (!telling.some((keyword) => Object.hasOwn(schema, keyword)))
    return 'it has none of the keywords of a JSON Schema, such as "type"';
  return problemIn(schema, '');
}

function problemIn(schema: unknown, place: string): string | undefined {
  if (typeof schema === 'boolean' && place !== '') return undefined;
  if (!isRecord(schema)) return `${place} is no schema`;
  const at = (keyword: string) => `${place}/${keyword}`;
  const { type, required, enum: values } = schema;
  const named = Array.isArray(type) ? type : [type];
  if (type !== undefined && (named.length === 0 || !named.every((name) => types.includes(name))))
    return `${at('type')} is none of ${types.join(', ')}`;
  if (
    required !== undefined &&
    !(Array.isArray(required) && required.every((name) => typeof name === 'string'))
  )
    return `${at('required')} is no list of names`;
  if (values !== undefined && !Array.isArray(values)) return `${at('enum')} is no list`;
  return (
    firstOf(ofOne, (keyword) => (keyword in schema ? problemIn(schema[keyword], at(keyword)) : undefined)) ??
    firstOf(byName, (keyword) =>
      keyword in schema ? problemOfNamed(schema[keyword], at(keyword)) : undefined,
    ) ??
    firstOf(ofList, (keyword) =>
      keyword in schema ? problemOfList(schema[keyword], at(keyword)) : undefined,
    )
  );
}

function problemOfNamed(schemas: unknown, place: string): string | undefined {
  if (!isRecord(schemas)) return `${place} is no object`;
  return firstOf(Object.entries(schemas), ([name, schema]) =>
    problemIn(schema, `${place}/${name.slice(0, 60)}`),
  );
}

function problemOfList(schemas: unknown, place: string): string | undefined {
  if (!Array.isArray(schemas) || schemas.length === 0) return `${place} is no list of schemas`;
  return firstOf([...schemas.entries()], ([index, schema]) => problemIn(schema, `${place}/${index}`));
}

function firstOf<T>(all: readonly T[], find: (one: T) => string | undefined): string | undefined {
  for (const one of all) {
    const found = find(one);
    if (found !== undefined) return found;
  }
  return undefined;
}
