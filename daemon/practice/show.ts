import { answerJson, type Exchange } from './exchange.ts';
import { badRequest, modelNotFound } from './failure.ts';
import { readFields, type Struct, textOf } from './fields.ts';
import { goTime } from './json.ts';
import { capabilitiesOf, contextLengthOf } from './model.ts';
import { detailsOf, parentOf } from './modelEntries.ts';
import { modelfileOf } from './modelfileText.ts';
import { tryModelName } from './modelName.ts';
import type { InstalledModel } from './modelStore.ts';
import { parseBody } from './requestBody.ts';

const showRequest: Struct = {
  name: 'ShowRequest',
  fields: { model: 'string', name: 'string', verbose: 'bool', system: 'string', options: 'object' },
};

export function show({ response, runner, text }: Exchange): void {
  const { model, name } = readFields(parseBody(text), showRequest);
  const asked = textOf(model) || textOf(name);
  if (asked === '') throw badRequest('model is required');
  if (!tryModelName(asked)) throw badRequest('invalid model name');
  const installed = runner.store.find(asked);
  if (!installed) throw modelNotFound(asked.includes(':') ? asked : `${asked}:latest`);
  answerJson(response, detailsAnswer(installed));
}

function detailsAnswer(model: InstalledModel): object {
  return {
    license: model.license?.join('\n'),
    modelfile: modelfileOf(model),
    parameters: model.parameters && parameterLines(model.parameters),
    template: model.template ?? '{{ .Prompt }}',
    system: model.system,
    details: detailsOf(model, parentOf(model)),
    messages: model.messages?.length ? model.messages : undefined,
    remote_model: model.remote?.model,
    remote_host: model.remote?.host,
    model_info: model.remote ? {} : modelInfo(model),
    tensors: model.remote ? undefined : tensors,
    capabilities: model.old ? undefined : capabilitiesOf(model),
    modified_at: goTime(model.modifiedAt),
  };
}

/** One parameter on each line, with the name padded to 30 columns. A list repeats the name. */
function parameterLines(parameters: Readonly<Record<string, unknown>>): string {
  return Object.entries(parameters)
    .flatMap(([name, value]) => (Array.isArray(value) ? value : [value]).map((one) => [name, one] as const))
    .map(([name, value]) => `${name.padEnd(30)} ${JSON.stringify(value)}`)
    .join('\n');
}

/** The keys of a real file. The window and the sizes are the model's own. */
function modelInfo(model: InstalledModel): object {
  const architecture = model.family ?? 'practice';
  const ofArchitecture = {
    'attention.head_count': 5,
    'attention.head_count_kv': 5,
    'attention.layer_norm_rms_epsilon': 1e-5,
    block_count: 1,
    context_length: contextLengthOf(model),
    embedding_length: 320,
    feed_forward_length: 64,
    'rope.dimension_count': 64,
    vocab_size: 294,
  };
  return {
    'general.architecture': architecture,
    'general.file_type': 0,
    'general.parameter_count': 0,
    ...Object.fromEntries(
      Object.entries(ofArchitecture).map(([key, value]) => [`${architecture}.${key}`, value]),
    ),
    'tokenizer.ggml.add_bos_token': false,
    'tokenizer.ggml.add_space_prefix': false,
    'tokenizer.ggml.bos_token_id': 1,
    'tokenizer.ggml.eos_token_id': 2,
    'tokenizer.ggml.model': 'llama',
    'tokenizer.ggml.scores': null,
    'tokenizer.ggml.token_type': null,
    'tokenizer.ggml.tokens': null,
    'tokenizer.ggml.unknown_token_id': 0,
  };
}

const tensors = [
  { name: 'token_embd.weight', type: 'F32', shape: [320, 294] },
  { name: 'output_norm.weight', type: 'F32', shape: [320] },
];
