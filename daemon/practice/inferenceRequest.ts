import { isRecord } from '../../protocol/base/json.ts';
import type { Exchange } from './exchange.ts';
import { ApiFailure, badRequest, modelNotFound, quoted } from './failure.ts';
import { parseKeepAlive } from './goFormats.ts';
import { type Capability, capabilitiesOf, contextLengthOf } from './model.ts';
import { fullName, isCloudName, tryModelName } from './modelName.ts';
import type { InstalledModel } from './modelStore.ts';
import { type Fields, type Struct, textOf } from './requestBody.ts';

/** The part of a request that chat and generate have in common. */
export interface InferenceRequest {
  /** The model's name in the request; answers repeat it. */
  readonly name: string;
  readonly stream: boolean;
  readonly think: unknown;
  readonly keepAlive: number | undefined;
  readonly truncate: boolean;
  readonly shift: boolean;
  readonly format: unknown;
  readonly options: Readonly<Record<string, unknown>>;
  /** How many alternatives each token has; undefined if the request asks for no probabilities. */
  readonly topLogprobs?: number;
}

export const inferenceFields: Struct['fields'] = {
  model: 'string',
  stream: 'bool',
  format: 'any',
  options: 'object',
  think: 'any',
  keep_alive: 'any',
  truncate: 'bool',
  shift: 'bool',
  logprobs: 'bool',
  top_logprobs: 'int',
  _debug_render_only: 'bool',
};

/** @throws {ApiFailure} 400 for a value that the decoder or the first check does not accept. */
export function readInference(fields: Fields): InferenceRequest {
  const { think, options, logprobs, top_logprobs: top = 0 } = fields;
  checkThink(think);
  const keepAlive = parseKeepAlive(fields['keep_alive']);
  if (typeof top === 'number' && (top < 0 || top > 20))
    throw badRequest('top_logprobs must be between 0 and 20');
  return {
    name: textOf(fields['model']),
    stream: fields['stream'] !== false,
    think,
    keepAlive,
    truncate: fields['truncate'] !== false,
    shift: fields['shift'] !== false,
    format: fields['format'],
    options: isRecord(options) ? options : {},
    ...(logprobs === true && typeof top === 'number' ? { topLogprobs: top } : {}),
  };
}

/** @throws {ApiFailure} 404 if the model is not installed, 502 if only ollama.com has it. */
export function findModel({ runner }: Exchange, name: string, path: string): InstalledModel {
  if (!tryModelName(name)) throw badRequest('invalid model name');
  const model = runner.store.find(name);
  if (model) return model;
  if (isCloudName(name)) throw new ApiFailure(502, `Post "https://ollama.com:443${path}": ${noSuchHost}`);
  throw modelNotFound(name);
}

/**
 * @throws {ApiFailure} 400 with the recorded texts. The model itself is checked first, then thinking, then the other
 * capabilities together.
 */
export function requireCapabilities(
  { name, think }: InferenceRequest,
  model: InstalledModel,
  { use, needed }: { readonly use: 'chat' | 'generate'; readonly needed: readonly Capability[] },
): void {
  const has = capabilitiesOf(model);
  if (!has.includes('completion')) throw badRequest(`${quoted(name)} does not support ${use}`);
  const missing = needed.filter((one) => !has.includes(one));
  const parsed = tryModelName(model.name);
  const wants = think !== undefined && think !== false;
  if (wants && !has.includes('thinking')) throw badRequest(`${quoted(name)} does not support thinking`);
  if (missing.length > 0 && parsed)
    throw badRequest(`${fullName(parsed)} does not support ${missing.join('\n')}`);
}

export type LoadedOptions = ModelOptions & { readonly window: number };

/** Loads the model for the requested time. The window comes from the request, the model or the default. */
export function loadModel(
  { runner }: Exchange,
  model: InstalledModel,
  { options, keepAlive }: InferenceRequest,
): LoadedOptions {
  const read = readOptions(model.parameters ?? {}, options);
  const window = Math.min(read.window ?? 4096, contextLengthOf(model));
  runner.loaded.load(model, window, keepAlive);
  return { ...read, window };
}

/** @throws {ApiFailure} 500, as a real runner does. */
export function checkFormat(format: unknown): void {
  if (format === undefined || format === '' || format === 'json' || isRecord(format)) return;
  const text = `invalid format: ${quoted(JSON.stringify(format))}; expected "json" or a valid JSON Schema object`;
  throw new ApiFailure(500, text);
}

/** A thinking model thinks unless the request says otherwise. */
export function thinks({ think }: InferenceRequest, model: InstalledModel): boolean {
  return capabilitiesOf(model).includes('thinking') && think !== false;
}

const noSuchHost = 'dial tcp: lookup ollama.com: no such host';

function checkThink(think: unknown): void {
  if (think === undefined || typeof think === 'boolean') return;
  if (typeof think === 'string' && ['high', 'medium', 'low', 'max'].includes(think)) return;
  const shown = typeof think === 'string' ? quoted(think) : JSON.stringify(think);
  throw badRequest(`invalid think value: ${shown} (must be "high", "medium", "low", "max", true, or false)`);
}

type OptionType = 'integer' | 'float32' | 'boolean' | 'string array';

const optionTypes: Readonly<Record<string, OptionType>> = {
  ...typed('integer', 'num_ctx num_batch num_gpu main_gpu num_thread draft_num_predict num_keep seed'),
  ...typed('integer', 'num_predict top_k repeat_last_n'),
  ...typed('float32', 'temperature top_p min_p typical_p repeat_penalty presence_penalty frequency_penalty'),
  ...typed('boolean', 'use_mmap'),
  ...typed('string array', 'stop'),
};

/** The options of a model that change what a practice runner does. */
interface ModelOptions {
  /** Tokens of the window. */
  readonly window?: number;
  /** The most tokens of an answer. A value below 1 is not a limit. */
  readonly limit: number;
  readonly stop: readonly string[];
}

/**
 * The options of a request, which override those of the model. Unknown ones are silently accepted.
 * @throws {ApiFailure} 500 if one has the wrong type, as in a real runner.
 */
function readOptions(
  ofModel: Readonly<Record<string, unknown>>,
  ofRequest: Readonly<Record<string, unknown>>,
): ModelOptions {
  const options = { ...ofModel, ...ofRequest };
  for (const [name, value] of Object.entries(options)) checkOption(name, value);
  const { num_ctx: window, num_predict: limit, stop } = options;
  return {
    ...(typeof window === 'number' ? { window: Math.max(4, window) } : {}),
    limit: typeof limit === 'number' && limit > 0 ? limit : Number.POSITIVE_INFINITY,
    stop: Array.isArray(stop) ? stop.filter((one) => typeof one === 'string' && one !== '') : [],
  };
}

function checkOption(name: string, value: unknown): void {
  const type = optionTypes[name];
  if (type === undefined || value === null || isOfType(value, type)) return;
  throw new ApiFailure(500, `option "${name}" must be of type ${type === 'string array' ? 'array' : type}`);
}

function isOfType(value: unknown, type: OptionType): boolean {
  if (type === 'integer' || type === 'float32') return typeof value === 'number';
  if (type === 'boolean') return typeof value === 'boolean';
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

function typed(type: OptionType, names: string): Readonly<Record<string, OptionType>> {
  return Object.fromEntries(names.split(' ').map((name) => [name, type]));
}
