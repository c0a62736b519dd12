import { createHash } from 'node:crypto';
import { answerJson, type Exchange } from './exchange.ts';
import { ApiFailure, badRequest, quoted } from './failure.ts';
import { loadModel, readInference } from './inferenceRequest.ts';
import type { InstalledModel } from './modelStore.ts';
import { type Fields, parseBody, readFields, type Struct, textOf } from './requestBody.ts';
import { countTokens } from './speech.ts';

const embedRequest: Struct = {
  name: 'EmbedRequest',
  fields: {
    model: 'string',
    input: 'any',
    prompt: 'string',
    truncate: 'bool',
    dimensions: 'int',
    options: 'object',
    keep_alive: 'any',
  },
};

/** Numbers that say nothing about the meaning, but are the same for the same text. A vector's length is 1. */
export function embed(exchange: Exchange): void {
  const fields = readFields(parseBody(exchange.text), embedRequest);
  const request = readInference(fields);
  const model = findForEmbedding(exchange, request.name);
  const inputs = readInputs(fields);
  const { window } = loadModel(exchange, model, request);
  const counts = inputs.map(countTokens);
  if (!request.truncate && counts.some((count) => count > window))
    throw badRequest('the input length exceeds the context length');
  const length = typeof fields['dimensions'] === 'number' ? Math.min(320, fields['dimensions']) : 320;
  const count = counts.reduce((sum, one) => sum + one, 0);
  answerJson(exchange.response, {
    model: request.name,
    embeddings: inputs.map((input) => normalize(vectorOf(input, length))),
    total_duration: inputs.length > 0 ? 2_000 : undefined,
    load_duration: inputs.length > 0 ? 1_000 : undefined,
    prompt_eval_count: count || undefined,
  });
}

/** The old route: one text, not normalised. */
export function embedOld(exchange: Exchange): void {
  const fields = readFields(parseBody(exchange.text), embedRequest);
  const request = readInference(fields);
  const model = findForEmbedding(exchange, request.name);
  loadModel(exchange, model, request);
  const prompt = textOf(fields['prompt']);
  answerJson(exchange.response, { embedding: prompt === '' ? [] : vectorOf(prompt, 320) });
}

function findForEmbedding({ runner }: Exchange, name: string): InstalledModel {
  if (name === '') throw new ApiFailure(404, "model '' not found");
  const model = runner.store.find(name);
  if (!model) throw new ApiFailure(404, `model ${quoted(name)} not found, try pulling it first`);
  return model;
}

function readInputs({ input }: Fields): readonly string[] {
  if (input === undefined || input === '') return [];
  const inputs: readonly unknown[] = Array.isArray(input) ? input : [input];
  if (!inputs.every((one) => typeof one === 'string')) throw badRequest('invalid input type');
  return inputs.filter((one) => one !== '');
}

function vectorOf(text: string, length: number): readonly number[] {
  const bytes = createHash('sha256').update(text).digest();
  return Array.from({ length }, (_, index) => (bytes[index % bytes.length] ?? 0) / 255 - 0.5);
}

function normalize(vector: readonly number[]): readonly number[] {
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => Math.fround(value / length));
}
