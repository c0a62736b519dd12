import { answerLoaded, answerSteps } from './answer.ts';
import type { Exchange } from './exchange.ts';
import { badRequest, modelNotFound } from './failure.ts';
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
import { type Fields, parseBody, readFields, type Struct, textOf } from './requestBody.ts';
import type { PromptMessage } from './speech.ts';

const generateRequest: Struct = {
  name: 'GenerateRequest',
  fields: {
    ...inferenceFields,
    prompt: 'string',
    suffix: 'string',
    system: 'string',
    template: 'string',
    context: 'array',
    raw: 'bool',
    images: 'array',
  },
};

interface Passage {
  readonly request: InferenceRequest;
  readonly model: InstalledModel;
  readonly prompt: string;
  readonly suffix: string;
  readonly system: string;
  readonly raw: boolean;
}

export async function generate(exchange: Exchange): Promise<void> {
  const fields = readFields(parseBody(exchange.text), generateRequest);
  const request = readInference(fields);
  if (request.name === '') throw modelNotFound('');
  const model = findModel(exchange, request.name, '/api/generate');
  const passage = readPassage(fields, request, model);
  const empty = passage.prompt === '' && passage.suffix === '';
  if (empty && request.keepAlive === 0) exchange.runner.loaded.unload(model);
  else
    requireCapabilities(request, model, { use: 'generate', needed: passage.suffix === '' ? [] : ['insert'] });
  if (empty) return answerLoaded(exchange, { request, model, said: { response: '' } });
  const steps = passageSteps(exchange, passage, loadModel(exchange, model, request));
  const context = (said: string) => (passage.raw ? undefined : contextOf(passage, said));
  return answerSteps(exchange, steps, { request, model, toFields, context });
}

function readPassage(fields: Fields, request: InferenceRequest, model: InstalledModel): Passage {
  const raw = fields['raw'] === true;
  if (raw && (fields['template'] || fields['system'] || fields['context']))
    throw badRequest('raw mode does not support template, system, or context');
  return {
    request,
    model,
    raw,
    prompt: textOf(fields['prompt']),
    suffix: textOf(fields['suffix']),
    system: textOf(fields['system']) || (model.system ?? ''),
  };
}

async function* passageSteps(
  exchange: Exchange,
  passage: Passage,
  options: LoadedOptions,
): AsyncGenerator<Step> {
  const { request, model, prompt, suffix, system, raw } = passage;
  const hole = raw ? { hole: holeOfRaw(prompt) } : suffix !== '' ? { hole: { prefix: prompt, suffix } } : {};
  const turns = [message('system', 'hole' in hole ? '' : system), message('user', prompt + suffix)];
  const messages = turns.filter(({ content }) => content !== '');
  const think = !raw && thinks(request, model);
  yield* inferMessages(exchange, { request, model, options, messages, tools: [], think, ...hole });
}

function toFields({ text, thinking }: Step): object {
  return { response: text, thinking };
}

function message(role: string, content: string): PromptMessage {
  return { role, content, toolName: '', images: 0 };
}

/** The tokens so far, for clients that continue a text in the old way: one number for each character. */
function contextOf({ prompt, suffix }: Passage, said: string): readonly number[] {
  return [...`${prompt}${suffix}${said}`].map((character) => character.codePointAt(0) ?? 0);
}

const prefixFirst =
  /^(?:<\|?fim_prefix\|?>|<PRE> |<｜fim▁begin｜>)([\s\S]*?)(?:<\|?fim_suffix\|?>| <SUF>|<｜fim▁hole｜>)([\s\S]*?)(?:<\|?fim_middle\|?>| <MID>|<｜fim▁end｜>)$/;
const suffixFirst =
  /^(?:\[SUFFIX\]|<\|code_suffix\|>)([\s\S]*?)(?:\[PREFIX\]|<\|code_prefix\|>)([\s\S]*?)(?:<\|code_middle\|>)?$/;

/**
 * The texts around the hole of a raw prompt that is written with the tokens of a family. In any other prompt all text
 * is before the hole.
 */
function holeOfRaw(prompt: string): { readonly prefix: string; readonly suffix: string } {
  const [, before, after] = prefixFirst.exec(prompt) ?? [];
  if (before !== undefined && after !== undefined) return { prefix: before, suffix: after };
  const [, suffix, prefix] = suffixFirst.exec(prompt) ?? [];
  return { prefix: prefix ?? prompt, suffix: suffix ?? '' };
}
