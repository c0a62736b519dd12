import { withoutUndefined } from '../../protocol/base/withoutUndefined.ts';
import type { ChatParams, Message, Tool, ToolCall } from '../../protocol/messages/chat.ts';
import type { ChatRequestBody } from '../runner/client.ts';
import { keepAliveToWire } from '../runner/keepAlive.ts';

/** The parts of a chat request that depend on the model's capabilities and on the configuration. */
export interface DecidedParts {
  readonly messages: readonly Message[];
  readonly tools: readonly Tool[];
  readonly think?: ChatParams['think'];
  /** Default from the configuration, used if the request has none. */
  readonly keepAlive?: string | number;
  readonly contextLength?: number;
}

/**
 * The body of `/api/chat`. `truncate: false` makes the runner refuse a prompt that it would otherwise cut in silence.
 */
export function chatRequestBody(params: ChatParams, parts: DecidedParts): ChatRequestBody {
  const keepAlive = params.keepAlive ?? parts.keepAlive;
  const options = withoutUndefined<Record<string, unknown>>({
    num_ctx: parts.contextLength,
    ...params.options,
  });
  return withoutUndefined({
    model: params.model,
    messages: parts.messages.map(messageToWire),
    truncate: false,
    ...(parts.tools.length === 0 ? {} : { tools: parts.tools.map(toolToWire) }),
    think: parts.think,
    ...(Object.keys(options).length === 0 ? {} : { options }),
    keep_alive: keepAlive === undefined ? undefined : keepAliveToWire(keepAlive),
    format: params.format,
  });
}

function messageToWire(message: Message): object {
  return withoutUndefined({
    role: message.role,
    content: message.content,
    ...(message.images?.length ? { images: message.images } : {}),
    ...(message.thinking ? { thinking: message.thinking } : {}),
    ...(message.toolCalls?.length ? { tool_calls: message.toolCalls.map(toolCallToWire) } : {}),
    tool_name: message.toolName,
    tool_call_id: message.toolCallId,
  });
}

function toolCallToWire(call: ToolCall, index: number): object {
  return { id: call.id, function: { index, name: call.name, arguments: call.arguments } };
}

function toolToWire({ name, description, inputSchema }: Tool): object {
  return { type: 'function', function: { name, description, parameters: inputSchema } };
}
