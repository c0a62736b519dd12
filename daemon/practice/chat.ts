import { answerLoaded, answerSteps } from './answer.ts';
import { readMessages, readTools } from './chatMessages.ts';
import { answerJson, type Exchange } from './exchange.ts';
import { badRequest } from './failure.ts';
import { readFields, type Struct } from './fields.ts';
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
import type { Step } from './job.ts';
import { inferMessages } from './messageInference.ts';
import type { InstalledModel } from './modelStore.ts';
import { parseBody } from './requestBody.ts';
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
