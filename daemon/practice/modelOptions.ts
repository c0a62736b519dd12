import { ApiFailure } from './failure.ts';

type OptionType = 'integer' | 'float32' | 'boolean' | 'string array';

const optionTypes: Readonly<Record<string, OptionType>> = {
  ...typed('integer', 'num_ctx num_batch num_gpu main_gpu num_thread draft_num_predict num_keep seed'),
  ...typed('integer', 'num_predict top_k repeat_last_n'),
  ...typed('float32', 'temperature top_p min_p typical_p repeat_penalty presence_penalty frequency_penalty'),
  ...typed('boolean', 'use_mmap'),
  ...typed('string array', 'stop'),
};

/** The options of a model that change what a practice runner does. */
export interface ModelOptions {
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
export function readOptions(
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
