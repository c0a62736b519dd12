import { isRecord } from '../../protocol/base/json.ts';
import { withoutUndefined } from '../../protocol/base/withoutUndefined.ts';
import { advise, RunnerError } from '../base/errors.ts';
import { opensThinking, type Turns, turnsOf } from './chatTemplate.ts';
import { refuseExcess } from './jsonLines.ts';

/** A line of `/api/chat`, validated. Absent counts are 0. */
export interface ChatLine {
  readonly content: string;
  readonly thinking: string;
  readonly toolCalls: readonly WireToolCall[];
  readonly done: boolean;
  readonly doneReason?: string;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Only in an error line, after which nothing comes. */
  readonly error?: string;
}

/** A line of `/api/generate`, validated. It omits the tokens with which a client could once continue a text. */
export interface GenerateLine {
  readonly text: string;
  readonly done: boolean;
  readonly doneReason?: string;
  /** Only in an error line, after which nothing comes. */
  readonly error?: string;
}

export interface WireToolCall {
  readonly id?: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** An installed or loaded model as the runner lists it. Fields that are missing or have a wrong type are left out. */
export interface WireModel {
  readonly name: string;
  readonly size?: number;
  readonly digest?: string;
  readonly modifiedAt?: string;
  readonly expiresAt?: string;
  readonly sizeVram?: number;
  /** For a loaded model: the allocated window. */
  readonly allocatedContext?: number;
  readonly maximumContext?: number;
  readonly family?: string;
  readonly parameterSize?: string;
  readonly quantization?: string;
  readonly capabilities?: readonly string[];
  readonly remoteHost?: string;
  readonly remoteModel?: string;
}

/** The part of a runner's list that is used. */
export interface WireList {
  readonly models: readonly WireModel[];
  /** The number of entries beyond {@link maxModels}. */
  readonly leftOut: number;
}

/** More models than anybody has installed. Entries of a list beyond it are left out. */
const maxModels = 10_000;
/** More characters than the grammar allows in the name of a model. */
const maxNameLength = 1_000;
/** The most characters of a model's parameters, far more than any Modelfile has. */
const maxParameters = 1024 * 1024;

export interface WireShow {
  readonly capabilities?: readonly string[];
  readonly maximumContext?: number;
  /** Text with one parameter on each line. */
  readonly parameters?: string;
  readonly template?: string;
  readonly turns?: Turns;
  /** True if its template ends in an open thinking tag, and the runner leaves the thinking in the text. */
  readonly opensThinking?: true;
  readonly system?: string;
  readonly license?: string;
  readonly modelfile?: string;
  readonly family?: string;
  readonly parameterSize?: string;
  readonly quantization?: string;
  readonly modifiedAt?: string;
  readonly remoteHost?: string;
  readonly remoteModel?: string;
}

/** A line of `/api/pull` or `/api/create`, validated. */
export interface WorkLine {
  readonly status: string;
  /** In a line about one layer. */
  readonly digest?: string;
  /** Bytes. */
  readonly total?: number;
  readonly completed?: number;
  /** In an error line. */
  readonly error?: string;
}

const noToolCalls: readonly WireToolCall[] = [];

export function parseChatLine(value: unknown): ChatLine {
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

export function parseGenerateLine(value: unknown): GenerateLine {
  const line = asRecord(value);
  return withoutUndefined<GenerateLine>({
    text: asString(line['response']) ?? '',
    done: line['done'] === true,
    doneReason: asString(line['done_reason']),
    error: errorOf(line),
  });
}

export function parseWorkLine(value: unknown): WorkLine {
  const line = asRecord(value);
  return withoutUndefined<WorkLine>({
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

export function parseModels(value: unknown): WireList {
  const { models } = asRecord(value);
  if (models === null || models === undefined) return { models: [], leftOut: 0 };
  if (!Array.isArray(models)) throw wrongShape();
  return {
    models: models.slice(0, maxModels).flatMap(modelOf),
    leftOut: Math.max(0, models.length - maxModels),
  };
}

export function parseShow(value: unknown): WireShow {
  const show = asRecord(value);
  const details = isRecord(show['details']) ? show['details'] : {};
  const capabilities = stringsOf(show['capabilities']);
  const parameters = asString(show['parameters']);
  if (parameters !== undefined && parameters.length > maxParameters) throw wrongShape();
  return withoutUndefined<WireShow>({
    capabilities,
    maximumContext: maximumContextOf(show['model_info']),
    parameters,
    template: asString(show['template']),
    turns: turnsOf(show),
    opensThinking: opensThinking(show) || undefined,
    system: asString(show['system']),
    license: asString(show['license']),
    modelfile: asString(show['modelfile']),
    family: asString(details['family']),
    parameterSize: asString(details['parameter_size']),
    quantization: asString(details['quantization_level']),
    modifiedAt: isoOf(show['modified_at']),
    remoteHost: asString(show['remote_host']),
    remoteModel: asString(show['remote_model']),
  });
}

export function tryVersion(value: unknown): string | undefined {
  return asString(asRecord(value)['version'])?.slice(0, 64);
}

/** Some servers send the arguments as JSON text. */
function toolCallOf(value: unknown): WireToolCall[] {
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

function modelOf(value: unknown): WireModel[] {
  if (!isRecord(value)) return [];
  const name = asString(value['name']) ?? asString(value['model']);
  if (name === undefined || name === '' || name.length > maxNameLength) return [];
  const details = isRecord(value['details']) ? value['details'] : {};
  return [
    withoutUndefined<WireModel>({
      name,
      size: asCount(value['size']),
      digest: asString(value['digest'])?.replace(/^sha256:/, ''),
      modifiedAt: isoOf(value['modified_at']),
      expiresAt: isoOf(value['expires_at']),
      sizeVram: asCount(value['size_vram']),
      allocatedContext: asCount(value['context_length']),
      maximumContext: asCount(details['context_length']),
      family: asString(details['family']),
      parameterSize: asString(details['parameter_size']),
      quantization: asString(details['quantization_level']),
      capabilities: stringsOf(value['capabilities']),
      remoteHost: asString(value['remote_host']),
      remoteModel: asString(value['remote_model']),
    }),
  ];
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

/** `keep_alive` in a form that the runner accepts. Numbers are seconds, and the runner refuses text without a unit. */
export function keepAliveToWire(keepAlive: string | number): string | number {
  return typeof keepAlive === 'string' && /^-?\d+$/.test(keepAlive) ? Number(keepAlive) : keepAlive;
}
