import { isRecord } from '../../protocol/base/json.ts';
import { answerLoaded, answerSteps } from './answer.ts';
import { answerJson, type Exchange } from './exchange.ts';
import { badRequest } from './failure.ts';
import { inferMessages } from './inference.ts';
import {
  findModel,
  type InferenceRequest,
  inferenceFields,
  type LoadedOptions,
  loadModel,
  readInference,
  requireCapabilities,
  thinks,
} from './inferenceRequest.ts';
import type { Step } from './lineMaker.ts';
import type { InstalledModel } from './modelStore.ts';
import { checkType, listOf, parseBody, readFields, type Struct, textOf } from './requestBody.ts';
import type { PromptMessage, PromptTool } from './speech.ts';

const chatRequest: Struct = {
  name: 'ChatRequest',
  fields: { ...inferenceFields, messages: 'array', tools: 'array' },
};

interface Turn {
  readonly request: InferenceRequest;
  readonly model: InstalledModel;
  readonly options: LoadedOptions;
  readonly messages: readonly PromptMessage[];
  readonly tools: readonly PromptTool[];
}

export async function chat(exchange: Exchange): Promise<void> {
  const fields = readFields(parseBody(exchange.text), chatRequest);
  const messages = readMessages(fields['messages']);
  const tools = readTools(fields['tools']);
  const request = readInference(fields);
  if (request.name === '') throw badRequest('model is required');
  const model = findModel(exchange, request.name, '/api/chat');
  const empty = messages.length === 0;
  if (model.remote && empty) return refuseAsRemote(exchange);
  if (empty && request.keepAlive === 0) exchange.runner.loaded.unload(model);
  else requireCapabilities(request, model, { use: 'chat', needed: tools.length > 0 ? ['tools'] : [] });
  if (empty)
    return answerLoaded(exchange, { request, model, said: { message: { role: 'assistant', content: '' } } });
  const options = loadModel(exchange, model, request);
  const steps = chatSteps(exchange, { request, model, options, messages, tools });
  return answerSteps(exchange, steps, { request, model, toFields: messageFields });
}

async function* chatSteps(exchange: Exchange, turn: Turn): AsyncGenerator<Step> {
  const steps = inferMessages(exchange, { ...turn, think: thinks(turn.request, turn.model) });
  // Chat sends no line for a token that shows nothing; generate does.
  for await (const step of steps) if (step.text || step.thinking || step.calls || step.done) yield step;
}

function messageFields({ text, thinking, calls }: Step): object {
  return { message: { role: 'assistant', content: text, thinking, tool_calls: calls } };
}

/** A stub loads nothing: even an empty chat goes to its host, which refuses it. */
function refuseAsRemote({ response }: Exchange): void {
  const body = { StatusCode: 400, Status: '400 Bad Request', error: 'messages must not be empty' };
  answerJson(response, body, { status: 400, contentType: 'application/x-ndjson' });
}

/**
 * @throws {ApiFailure} 400 with Go's texts for content parts, arguments as a string, and an image that is not base64.
 */
function readMessages(value: unknown): readonly PromptMessage[] {
  return listOf(value).map((message) => {
    if (!isRecord(message))
      throw badRequest('json: cannot unmarshal into Go struct field ChatRequest.messages');
    const { role, content, images, tool_calls: calls, tool_name: toolName, thinking } = message;
    for (const [name, text] of Object.entries({ role, content, thinking }))
      if (text !== undefined && text !== null) checkType(text, 'string', `ChatRequest.messages.${name}`);
    for (const call of listOf(calls)) checkArguments(call);
    for (const image of listOf(images)) checkBase64(textOf(image));
    return {
      role: textOf(role).toLowerCase(),
      content: textOf(content),
      toolName: textOf(toolName),
      images: listOf(images).length,
    };
  });
}

function readTools(value: unknown): readonly PromptTool[] {
  return listOf(value).flatMap((tool) => {
    const definition = isRecord(tool) ? tool['function'] : undefined;
    if (!isRecord(definition)) return [];
    const { name, description, parameters } = definition;
    return [
      {
        name: textOf(name),
        description: textOf(description),
        parameters: isRecord(parameters) ? parameters : {},
      },
    ];
  });
}

function checkArguments(call: unknown): void {
  const called = isRecord(call) ? call['function'] : undefined;
  const given = isRecord(called) ? called['arguments'] : undefined;
  if (typeof given === 'string')
    throw badRequest("Value looks like object, but can't find closing '}' symbol");
}

function checkBase64(text: string): void {
  const at = text.search(/[^A-Za-z0-9+/=\r\n]/);
  if (at !== -1) throw badRequest(`illegal base64 data at input byte ${at}`);
}
