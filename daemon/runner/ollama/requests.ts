import { withoutUndefined } from '../../../protocol/base/json.ts';
import type { Message, Tool, ToolCall } from '../../../protocol/messages/chat.ts';
import type { ChatRequest, CreateRequest, FillRequest, LoadOptions } from '../runner.ts';

/** A body about a model, with the wire's own field names. */
export interface OllamaModelBody {
  readonly model: string;
  readonly [key: string]: unknown;
}

/**
 * The body of `/api/chat`. `truncate: false` makes the runner refuse a prompt that it would otherwise cut in silence,
 * and `shift: false` makes it end a long answer with `length` where it would drop the beginning of the conversation.
 */
export function chatBody(request: ChatRequest): OllamaModelBody {
  const { model, messages, tools, think, format, keepAlive, contextLength } = request;
  const options = withoutUndefined<Record<string, unknown>>({ num_ctx: contextLength, ...request.options });
  return withoutUndefined({
    model,
    messages: messages.map(messageBody),
    truncate: false,
    shift: false,
    ...(tools.length === 0 ? {} : { tools: tools.map(toolBody) }),
    think,
    ...(Object.keys(options).length === 0 ? {} : { options }),
    keep_alive: keepAliveOf(keepAlive),
    format,
  });
}

function messageBody(message: Message): object {
  return withoutUndefined({
    role: message.role,
    content: message.content,
    ...(message.images?.length ? { images: message.images } : {}),
    ...(message.thinking ? { thinking: message.thinking } : {}),
    ...(message.toolCalls?.length ? { tool_calls: message.toolCalls.map(callBody) } : {}),
    tool_name: message.toolName,
    tool_call_id: message.toolCallId,
  });
}

function callBody(call: ToolCall, index: number): object {
  return { id: call.id, function: { index, name: call.name, arguments: call.arguments } };
}

/** A tool, as both wires have it. */
export function toolBody({ name, description, inputSchema }: Tool): object {
  return { type: 'function', function: { name, description, parameters: inputSchema } };
}

/** The body of `/api/generate`. With `truncate: false` the runner refuses a prompt that it would cut silently. */
export function fillBody(request: FillRequest): OllamaModelBody {
  const { model, text, stops, maxTokens, temperature, keepAlive, contextLength } = request;
  return withoutUndefined({
    model,
    ...('prompt' in text ? { prompt: text.prompt, raw: true } : suffixBody(text)),
    think: false,
    truncate: false,
    options: withoutUndefined<object>({
      temperature,
      num_predict: maxTokens,
      stop: stops.length === 0 ? undefined : stops,
      num_ctx: contextLength,
    }),
    keep_alive: keepAliveOf(keepAlive),
  });
}

/** Without a suffix a runner would treat the prompt as a question, so at the end of a file the suffix is a line end. */
function suffixBody({ prefix, suffix }: { readonly prefix: string; readonly suffix: string }): object {
  return { prompt: prefix, suffix: suffix === '' ? '\n' : suffix };
}

export function loadBody({ keepAlive, contextLength }: LoadOptions): object {
  return {
    ...(keepAlive === undefined ? {} : { keep_alive: keepAliveOf(keepAlive) }),
    ...(contextLength === undefined ? {} : { options: { num_ctx: contextLength } }),
  };
}

/** The body of `/api/pull`. A registry on this machine may use plain http if the name says so. */
export function pullBody(model: string): OllamaModelBody {
  const isLocal = /^http:\/\/(127\.\d+\.\d+\.\d+|localhost|\[::1\])(:\d+)?\//i.test(model);
  return isLocal ? { model, insecure: true } : { model };
}

/** The body of `/api/create`. */
export function createBody({ drafts, ...request }: CreateRequest): OllamaModelBody {
  const { model, ...fields } = { ...request, draft_files: drafts };
  const given = Object.entries(fields).filter(([, value]) => !isEmpty(value));
  return { model, ...Object.fromEntries(given) };
}

function isEmpty(value: unknown): boolean {
  return (
    value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)
  );
}

/** `keep_alive` in a form that the runner accepts. Numbers are seconds, and the runner refuses text without a unit. */
function keepAliveOf(keepAlive: string | number | undefined): string | number | undefined {
  return typeof keepAlive === 'string' && /^-?\d+$/.test(keepAlive) ? Number(keepAlive) : keepAlive;
}
