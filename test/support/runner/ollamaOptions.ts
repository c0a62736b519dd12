import { ApiFailure, badRequest, type Fields, recordOf } from '../../../daemon/practice/exchange.ts';

/** @throws {ApiFailure} for a value that a real runner does not accept, with its text and status. */
export function checkInference(fields: Fields): void {
  const { think, options, top_logprobs: top = 0 } = fields;
  checkThink(think);
  checkKeepAlive(fields['keep_alive']);
  if (typeof top === 'number' && (top < 0 || top > 20))
    throw badRequest('top_logprobs must be between 0 and 20');
  for (const [name, value] of Object.entries(recordOf(options))) checkOption(name, value);
}

function checkThink(think: unknown): void {
  if (think === undefined || typeof think === 'boolean') return;
  if (typeof think === 'string' && ['high', 'medium', 'low', 'max'].includes(think)) return;
  throw badRequest(
    `invalid think value: ${JSON.stringify(think)} (must be "high", "medium", "low", "max", true, or false)`,
  );
}

/** The texts of Go's `time.ParseDuration`. */
function checkKeepAlive(value: unknown): void {
  if (value === undefined || typeof value === 'number') return;
  if (typeof value !== 'string') throw badRequest(`Unsupported type: '${goType(value)}'`);
  const rest = value.replace(/^[+-]/, '');
  if (rest === '0') return;
  if (!/^[\d.]/.test(rest)) throw badRequest(`time: invalid duration ${JSON.stringify(value)}`);
  for (const [, unit = ''] of rest.matchAll(/[\d.]+([^\d.]*)/g)) {
    if (unit === '') throw badRequest(`time: missing unit in duration ${JSON.stringify(value)}`);
    if (!/^(?:ns|us|µs|ms|[smh])$/.test(unit))
      throw badRequest(`time: unknown unit "${unit}" in duration "${value}"`);
  }
}

function goType(value: unknown): string {
  if (typeof value === 'boolean') return 'bool';
  return Array.isArray(value) ? '[]interface {}' : 'map[string]interface {}';
}

type OptionType = 'integer' | 'float32' | 'boolean' | 'array';

const optionTypes: Readonly<Record<string, OptionType>> = {
  ...typed('integer', 'num_ctx num_batch num_gpu main_gpu num_thread draft_num_predict num_keep seed'),
  ...typed('integer', 'num_predict top_k repeat_last_n'),
  ...typed('float32', 'temperature top_p min_p typical_p repeat_penalty presence_penalty frequency_penalty'),
  ...typed('boolean', 'use_mmap'),
  ...typed('array', 'stop'),
};

function typed(type: OptionType, names: string): Readonly<Record<string, OptionType>> {
  return Object.fromEntries(names.split(' ').map((name) => [name, type]));
}

/** Unknown options are silently accepted. */
function checkOption(name: string, value: unknown): void {
  const type = optionTypes[name];
  if (type === undefined || value === null || isOfType(value, type)) return;
  throw new ApiFailure(500, `option "${name}" must be of type ${type}`);
}

function isOfType(value: unknown, type: OptionType): boolean {
  if (type === 'integer' || type === 'float32') return typeof value === 'number';
  if (type === 'boolean') return typeof value === 'boolean';
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}
