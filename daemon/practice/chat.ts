import { isRecord } from '../../protocol/base/json.ts';
import { answerSteps } from './answering.ts';
import {
  fieldsOf,
  type HttpAnswer,
  listOf,
  type Practice,
  type Request,
  recordOf,
  textOf,
} from './exchange.ts';
import { answerLoaded, readInference, requireCapabilities, thinks } from './inference.ts';
import type { PromptMessage, PromptTool } from './speech.ts';

export function chat(practice: Practice, request: Request): HttpAnswer | Promise<HttpAnswer> {
  const fields = fieldsOf(request);
  const inference = readInference(practice, fields);
  const messages = listOf(fields['messages']).filter(isRecord).map(messageOf);
  const tools = listOf(fields['tools']).map(toolOf);
  const isEmpty = messages.length === 0;
  if (!isEmpty || inference.keepAlive !== 0)
    requireCapabilities(inference, { use: 'chat', needed: tools.length > 0 ? ['tools'] : [] });
  if (isEmpty) return answerLoaded(practice, inference, { message: { role: 'assistant', content: '' } });
  return answerSteps(practice, {
    inference,
    prompt: { messages, tools, think: thinks(inference), signal: request.signal },
    fieldsOf: ({ text, thinking, calls }) => ({
      message: { role: 'assistant', content: text, thinking, tool_calls: calls },
    }),
  });
}

function messageOf({
  role,
  content,
  images,
  tool_name: toolName,
}: Readonly<Record<string, unknown>>): PromptMessage {
  return {
    role: textOf(role).toLowerCase(),
    content: textOf(content),
    toolName: textOf(toolName),
    images: listOf(images).length,
  };
}

function toolOf(tool: unknown): PromptTool {
  const { name, description, parameters } = recordOf(recordOf(tool)['function']);
  return { name: textOf(name), description: textOf(description), parameters: recordOf(parameters) };
}
