import { isRecord, withoutUndefined } from '../../../protocol/base/json.ts';
import type { Message, Tool, ToolCall } from '../../../protocol/messages/chat.ts';
import { toolBody } from '../ollama/requests.ts';
import type { ChatRequest, FillRequest } from '../runner.ts';

/** A body about a model, with the wire's own field names. */
export interface ModelBody {
  readonly model: string;
  readonly [key: string]: unknown;
}

/** The names of the options that have other names here. The rest keep theirs; the window belongs to the server. */
const optionNames: ReadonlyMap<string, string | undefined> = new Map([
  ['num_predict', 'max_tokens'],
  ['num_ctx', undefined],
  ['num_keep', undefined],
  ['num_gpu', undefined],
  ['num_thread', undefined],
  ['num_batch', undefined],
]);

/** The body of `/v1/chat/completions`, and of what counts its tokens. */
export function chatBody(request: ChatRequest): ModelBody {
  const { model, messages, tools, mustCall, think, options = {}, format } = request;
  return withoutUndefined({
    ...optionFields(options),
    model,
    messages: messages.map(messageBody),
    ...(tools.length === 0 ? {} : { tools: tools.map(toolBody) }),
    tool_choice: mustCall && 'required',
    ...thinkingFields(think),
    response_format: formatBody(format),
  });
}

function optionFields(options: NonNullable<ChatRequest['options']>): Readonly<Record<string, unknown>> {
  const fields: [string, unknown][] = [];
  for (const [name, value] of Object.entries(options)) {
    const field = optionNames.has(name) ? optionNames.get(name) : name;
    // A negative limit means none.
    const isLimit = name === 'num_predict' && typeof value === 'number' && value < 0;
    if (field !== undefined && !isLimit) fields.push([field, value]);
  }
  return Object.fromEntries(fields);
}

function messageBody({ role, content, images, thinking, toolCalls, toolCallId }: Message): object {
  return withoutUndefined({
    role,
    tool_call_id: role === 'tool' && toolCallId !== undefined ? idOf(toolCallId) : undefined,
    content: images?.length ? [{ type: 'text', text: content }, ...images.map(imagePart)] : content,
    ...(thinking ? { reasoning_content: thinking } : {}),
    ...(toolCalls?.length ? { tool_calls: toolCalls.map(callBody) } : {}),
  });
}

/** An image is sent as data: a server that fetched addresses could be led anywhere. */
function imagePart(base64: string): object {
  return { type: 'image_url', image_url: { url: `data:${imageType(base64)};base64,${base64}` } };
}

/** By its first bytes. */
function imageType(base64: string): string {
  if (base64.startsWith('/9j/')) return 'image/jpeg';
  if (base64.startsWith('R0lGOD')) return 'image/gif';
  if (base64.startsWith('UklGR')) return 'image/webp';
  return 'image/png';
}

/** Arguments are the text of a JSON value here. */
function callBody({ id, name, arguments: given }: ToolCall): object {
  return { id: idOf(id), type: 'function', function: { name, arguments: JSON.stringify(given) } };
}

/**
 * Templates of Mistral refuse ids other than nine letters and digits, such as those of Ollama, of most servers and of
 * Runner. Ids of other forms stay, because Kimi's and DeepSeek's say something to their servers.
 */
function idOf(id: string): string {
  const letters = /^(?:call_|chatcmpl-tool-)?([A-Za-z0-9]{8,})$/.exec(id)?.[1];
  return letters?.padStart(9, 'c').slice(-9) ?? id;
}

/** A template reads the switch, or the level if it knows levels. */
function thinkingFields(think: ChatRequest['think']): object {
  if (think === undefined) return {};
  const level = typeof think === 'string' ? { reasoning_effort: think } : {};
  return { chat_template_kwargs: { enable_thinking: think !== false }, ...level };
}

function formatBody(format: ChatRequest['format']): object | undefined {
  if (format === undefined) return undefined;
  if (typeof format === 'string') return { type: 'json_object' };
  return { type: 'json_schema', json_schema: { name: 'answer', schema: format } };
}

/** The body of `/v1/completions`, for a prompt in the tokens of the model's family. */
export function completionBody(
  { model, stops, maxTokens, temperature }: FillRequest,
  prompt: string,
): ModelBody {
  return {
    model,
    prompt,
    max_tokens: maxTokens,
    temperature,
    ...(stops.length === 0 ? {} : { stop: stops }),
  };
}

/** The body of llama.cpp's `/infill`, which wants both texts. */
export function infillBody(
  { model, stops, maxTokens, temperature }: FillRequest,
  { prefix, suffix }: { readonly prefix: string; readonly suffix: string },
): ModelBody {
  return {
    model,
    input_prefix: prefix,
    input_suffix: suffix,
    n_predict: maxTokens,
    temperature,
    ...(stops.length === 0 ? {} : { stop: stops }),
  };
}

type Schema = Readonly<Record<string, unknown>>;

/** The types that a grammar knows. */
const types = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];
/** Keywords that every grammar takes as they are. All others, such as `pattern`, `format` and bounds, are left out. */
const plain = ['required', 'enum', 'const', 'description', 'title', 'default', 'examples', '$schema'];
const ofList = ['anyOf', 'oneOf', 'allOf'];
const byName = ['properties', '$defs', 'definitions'];
/** No tool nests its arguments deeper. */
const maxDepth = 32;

/**
 * The tool with a schema of which llama.cpp, and LM Studio with it, can make a grammar: patterns, formats and bounds
 * are refused there, and so are schemas that are only true or false. The schema allows all that the first one allows.
 */
export function withSimpleSchema(tool: Tool): Tool {
  return { ...tool, inputSchema: simplified(tool.inputSchema, 0) };
}

function simplified(schema: unknown, depth: number): Schema {
  if (!isRecord(schema) || depth > maxDepth) return {};
  const inside = (value: unknown) => simplified(value, depth + 1);
  const fields: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (plain.includes(keyword)) fields[keyword] = value;
    else if (keyword === 'type' && [value].flat().every((type) => types.includes(String(type))))
      fields[keyword] = value;
    else if (keyword === '$ref' && String(value).startsWith('#/')) fields[keyword] = value;
    else if (keyword === 'items') fields[keyword] = inside(value);
    else if (keyword === 'additionalProperties')
      fields[keyword] = typeof value === 'boolean' ? value : inside(value);
    else if (ofList.includes(keyword) && Array.isArray(value)) fields[keyword] = value.map(inside);
    else if (byName.includes(keyword) && isRecord(value))
      fields[keyword] = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inside(one)]));
  }
  return fields;
}
