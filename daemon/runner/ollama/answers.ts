import { isRecord, withoutUndefined } from '../../../protocol/base/json.ts';
import { advise, RunnerError } from '../../base/errors.ts';
import { opensThinking, turnsOf } from '../chatTemplate.ts';
import { readModels, refuseExcess } from '../http/answerBody.ts';
import type {
  CallPart,
  ChatPart,
  FillPart,
  ListedModel,
  ModelList,
  ShownModel,
  WorkStep,
} from '../runner.ts';

/** The most characters of a model's parameters, far more than any Modelfile has. */
const maxParameters = 1024 * 1024;

/** A line of a stream. An error is the last one. */
export type OrError<T> = T & { readonly error?: string };

const noToolCalls: readonly CallPart[] = [];

/** A line of `/api/chat`. */
export function parseChatLine(value: unknown): OrError<ChatPart> {
  const line = asRecord(value);
  const message = isRecord(line['message']) ? line['message'] : {};
  const error = errorOf(line);
  const doneReason = asString(line['done_reason']);
  return withoutUndefined({
    content: asString(message['content']) ?? '',
    thinking: asString(message['thinking']) ?? '',
    toolCalls: Array.isArray(message['tool_calls']) ? message['tool_calls'].flatMap(toolCallOf) : noToolCalls,
    done: line['done'] === true,
    doneReason,
    promptTokens: asCount(line['prompt_eval_count']) ?? 0,
    completionTokens: asCount(line['eval_count']) ?? 0,
    error,
  });
}

/** A line of `/api/generate`. It omits the tokens with which a client could once continue a text. */
export function parseGenerateLine(value: unknown): OrError<FillPart> {
  const line = asRecord(value);
  return withoutUndefined<OrError<FillPart>>({
    text: asString(line['response']) ?? '',
    done: line['done'] === true,
    doneReason: asString(line['done_reason']),
    error: errorOf(line),
  });
}

/** A line of `/api/pull` or `/api/create`. */
export function parseWorkLine(value: unknown): OrError<WorkStep> {
  const line = asRecord(value);
  return withoutUndefined<OrError<WorkStep>>({
    status: asString(line['status']) ?? '',
    digest: asString(line['digest']),
    total: asBytes(line['total']),
    completed: asBytes(line['completed']),
    error: errorOf(line),
  });
}

function errorOf(line: Readonly<Record<string, unknown>>): string | undefined {
  const error = line['error'];
  if (error === undefined || error === null) return undefined;
  return typeof error === 'string' ? error : JSON.stringify(error);
}

export function parseModels(value: unknown): ModelList {
  const { models } = asRecord(value);
  if (models === null || models === undefined) return { models: [], leftOut: 0 };
  if (!Array.isArray(models)) throw wrongShape();
  return readModels(models, modelOf);
}

export function parseShow(value: unknown): ShownModel {
  const show = asRecord(value);
  const details = isRecord(show['details']) ? show['details'] : {};
  const parameters = asString(show['parameters']);
  if (parameters !== undefined && parameters.length > maxParameters) throw wrongShape();
  return withoutUndefined<ShownModel>({
    ...aboutModel(show, details),
    maximumContext: maximumContextOf(show['model_info']),
    configuredContext: configuredContextOf(parameters),
    parameters,
    template: asString(show['template']),
    turns: turnsOf(show),
    opensThinking: opensThinking(show) || undefined,
    system: asString(show['system']),
    license: asString(show['license']),
    modelfile: asString(show['modelfile']),
  });
}

/** What a list and the details of a model say alike. */
function aboutModel(model: Readonly<Record<string, unknown>>, details: Readonly<Record<string, unknown>>) {
  return {
    capabilities: stringsOf(model['capabilities']),
    family: asString(details['family']),
    parameterSize: asString(details['parameter_size']),
    quantization: asString(details['quantization_level']),
    modifiedAt: isoOf(model['modified_at']),
    remoteHost: asString(model['remote_host']),
    remoteModel: asString(model['remote_model']),
  };
}

export function tryVersion(value: unknown): string | undefined {
  return asString(asRecord(value)['version'])?.slice(0, 64);
}

/** Some servers send the arguments as JSON text. */
function toolCallOf(value: unknown): CallPart[] {
  if (!isRecord(value) || !isRecord(value['function'])) return [];
  const { name, arguments: given } = value['function'];
  if (typeof name !== 'string' || name === '') return [];
  const id = asString(value['id']);
  return [{ ...(id ? { id } : {}), name, arguments: argumentsOf(given) }];
}

function argumentsOf(given: unknown): Readonly<Record<string, unknown>> {
  if (isRecord(given)) return given;
  if (typeof given !== 'string') return {};
  refuseExcess(given);
  try {
    const parsed: unknown = JSON.parse(given);
    return isRecord(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

function modelOf(value: Readonly<Record<string, unknown>>): ListedModel {
  const details = isRecord(value['details']) ? value['details'] : {};
  // The engine for Apple's chips goes beyond the window that the server reports, so the true one is unknown.
  const isEnforced = details['format'] !== 'safetensors';
  return withoutUndefined<ListedModel>({
    name: asString(value['name']) ?? asString(value['model']) ?? '',
    size: asCount(value['size']),
    digest: asString(value['digest'])?.replace(/^sha256:/, '') || undefined,
    expiresAt: isoOf(value['expires_at']),
    sizeVram: asCount(value['size_vram']),
    allocatedContext: isEnforced ? asCount(value['context_length']) : undefined,
    maximumContext: asCount(details['context_length']),
    ...aboutModel(value, details),
  });
}

/** The window that the Modelfile asks for. */
function configuredContextOf(parameters = ''): number | undefined {
  const configured = /^num_ctx\s+(\d+)\s*$/m.exec(parameters)?.[1];
  return configured ? Number(configured) : undefined;
}

/** `<architecture>.context_length` of the model's own metadata. */
function maximumContextOf(info: unknown): number | undefined {
  if (!isRecord(info)) return undefined;
  const architecture = asString(info['general.architecture']);
  return architecture === undefined ? undefined : asCount(info[`${architecture}.context_length`]);
}

/** The runner writes local offsets and nine fractional digits. This returns UTC with three. */
function isoOf(value: unknown): string | undefined {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  if (isRecord(value)) return value;
  throw wrongShape();
}

function wrongShape(): RunnerError {
  return new RunnerError(
    'bad-response',
    advise('The runner sent an answer that does not have the form of the API.', 'check-address'),
  );
}

function asString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function asCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}

function asBytes(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function stringsOf(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : undefined;
}
