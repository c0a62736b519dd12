import * as z from 'zod/mini';
import { tryJson } from '../../../protocol/base/json.ts';
import { InvalidParamsError } from '../../base/errors.ts';
import { isNestedTooDeep } from '../../base/nesting.ts';
import { exact, validate } from '../../base/validate.ts';

/** An answer that is an error, in the form that llama.cpp's server gives it. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly body: object;

  constructor(status: number, type: string, message: string, figures: object = {}) {
    super(message);
    this.status = status;
    this.body = { error: { code: status, message, type, ...figures } };
  }
}

export function badRequest(message: string): ApiError {
  return new ApiError(400, 'invalid_request_error', message);
}

const text = z.nullish(z.string());
const whole = z.nullish(z.int());
const number = z.nullish(z.number());
const flag = z.nullish(z.boolean());
const object = z.record(z.string(), z.unknown());

const generating = {
  stream: flag,
  stream_options: z.nullish(z.object({ include_usage: flag })),
  max_tokens: whole,
  max_completion_tokens: whole,
  n_predict: whole,
  stop: z.nullish(z.union([z.string(), z.array(z.string())], 'it is neither a text nor a list of texts')),
  seed: whole,
  temperature: number,
  top_k: whole,
  top_p: number,
  min_p: number,
  repeat_penalty: number,
  repeat_last_n: whole,
  presence_penalty: number,
  frequency_penalty: number,
  ignore_eos: flag,
};

export type GenerationOptions = z.infer<z.ZodMiniObject<typeof generating>>;

const contentPart = z.object({ type: z.string(), text });
const toolCall = z.object({
  id: text,
  function: z.object({ name: z.string(), arguments: z.union([z.string(), object]) }),
});
const message = z.object({
  // A template may write the role between the marks of a turn, so it must be a known one.
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content: z.nullish(z.union([z.string(), z.array(contentPart)], 'it is neither a text nor a list of parts')),
  reasoning_content: text,
  name: text,
  tool_call_id: text,
  tool_calls: z.nullish(z.array(toolCall)),
});
const tool = z.object({
  type: z.literal('function'),
  function: z.object({ name: z.string(), description: text, parameters: z.nullish(object) }),
});

const chat = z.object({
  ...generating,
  messages: z.array(message).check(z.minLength(1, 'there is no message')),
  tools: z.nullish(z.array(tool)),
  tool_choice: z.nullish(z.union([z.enum(['auto', 'none', 'required']), object], 'it is no choice of tools')),
  chat_template_kwargs: z.nullish(object),
  reasoning_effort: text,
  response_format: z.nullish(
    z.object({
      type: z.enum(['text', 'json_object', 'json_schema']),
      schema: z.nullish(object),
      json_schema: z.nullish(z.object({ schema: object })),
    }),
  ),
});

const promptPart = z.union([z.string(), z.int()]);
const completion = z.object({
  ...generating,
  prompt: z.union([z.string(), z.array(promptPart)], 'it is neither a text nor a list of texts and tokens'),
});
const infill = z.object({
  ...generating,
  input_prefix: z.string(),
  input_suffix: z.string(),
  input_extra: z.nullish(z.array(z.object({ filename: text, text: z.string() }))),
  prompt: text,
});
const tokenize = z.object({ content: z.string(), add_special: flag, parse_special: flag });

export type ChatBody = z.infer<typeof chat>;
export type ChatMessage = ChatBody['messages'][number];
export type InfillBody = z.infer<typeof infill>;

export const bodies = { chat, completion, infill, tokenize };

/** @throws {ApiError} that names the first mistake. */
export function parseBody<S extends z.ZodMiniType>(schema: S, json: string): z.infer<S> {
  if (isNestedTooDeep(json)) throw badRequest('The body is nested too deep.');
  const value = tryJson(json);
  if (value === undefined) throw badRequest('The body is not JSON.');
  try {
    return validate(exact(schema), value) as z.infer<S>;
  } catch (error) {
    throw error instanceof InvalidParamsError ? badRequest(error.message) : error;
  }
}
