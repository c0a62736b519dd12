import { isRecord } from '../../../protocol/base/json.ts';
import { withoutUndefined } from '../../../protocol/base/withoutUndefined.ts';
import { advise, RunnerError } from '../../base/errors.ts';
import type { ListedModel, ModelList } from '../runner.ts';

/** More models than anybody has installed. Entries of a list beyond it are left out. */
const maxModels = 10_000;
/** More characters than any name has. */
const maxNameLength = 1_000;

/** An entry of `/v1/models`, with what some servers say beyond OpenAI's four fields. */
export interface ModelEntry extends ListedModel {
  readonly aliases?: readonly string[];
  /** How many requests llama.cpp answers at once with it. */
  readonly slots?: number;
  /** llama.cpp's router: whether the model is loaded. */
  readonly state?: (typeof states)[number];
  /** LM Studio: what it calls the model as often as it has loaded it. */
  readonly instances?: readonly string[];
  /** False for a model that the router did not download itself. */
  readonly isRemovable?: boolean;
}

/** Whether it is in memory. A server without a router has its only model loaded, unless it says nothing about it. */
export function isLoaded({ state, allocatedContext }: ModelEntry): boolean {
  return state === undefined ? allocatedContext !== undefined : state === 'loaded' || state === 'sleeping';
}

/** The entries of `/v1/models`. Fields that are missing or have a wrong type are left out. */
export function parseEntries(value: unknown): ModelList & { readonly models: readonly ModelEntry[] } {
  const list = isRecord(value) ? value['data'] : undefined;
  if (Array.isArray(list)) return readList(list, entryOf);
  throw new RunnerError(
    'bad-response',
    advise('The runner sent a list of models that does not have the form of the API.', 'check-address'),
  );
}

/** The entries of a list, as far as they have a name. */
export function readList(
  list: readonly unknown[],
  read: (entry: Readonly<Record<string, unknown>>) => ModelEntry | undefined,
): ModelList & { readonly models: readonly ModelEntry[] } {
  const entries = list.slice(0, maxModels).map((value) => (isRecord(value) ? read(value) : undefined));
  return { models: entries.filter(isNamed), leftOut: Math.max(0, list.length - maxModels) };
}

function isNamed(entry: ModelEntry | undefined): entry is ModelEntry {
  return entry !== undefined && entry.name !== '' && entry.name.length <= maxNameLength;
}

function entryOf(value: Readonly<Record<string, unknown>>): ModelEntry | undefined {
  const { id, aliases, meta, max_model_len: window, status, architecture, can_remove: removable } = value;
  if (typeof id !== 'string') return undefined;
  const said = isRecord(meta) ? meta : {};
  const state = isRecord(status) ? states.find((one) => one === status['value']) : undefined;
  const { input_modalities: inputs, output_modalities: outputs } = isRecord(architecture) ? architecture : {};
  const seesImages = Array.isArray(inputs) && inputs.includes('image');
  return withoutUndefined<ModelEntry>({
    name: id,
    aliases: Array.isArray(aliases) ? aliases.filter((alias) => typeof alias === 'string') : undefined,
    size: countOf(said['size']),
    allocatedContext: countOf(said['n_ctx']) ?? countOf(window),
    maximumContext: countOf(said['n_ctx_train']) ?? countOf(window),
    parameterSize: parametersIn(said['n_params']),
    quantization: typeof said['ftype'] === 'string' ? said['ftype'].slice(0, 32) : undefined,
    capabilities: seesImages ? ['completion', 'vision'] : undefined,
    lacks: Array.isArray(outputs) && !outputs.includes('text') ? ['completion'] : undefined,
    isRemovable: typeof removable === 'boolean' ? removable : undefined,
    state,
  });
}

const states = ['unloaded', 'loading', 'loaded', 'sleeping', 'downloading', 'downloaded'] as const;

/** A count that is not 0. */
export function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}

/** Such as `134.5M` or `7.6B`. */
function parametersIn(value: unknown): string | undefined {
  const count = countOf(value);
  if (count === undefined) return undefined;
  const [unit, divisor] = count >= 1e9 ? ['B', 1e9] : ['M', 1e6];
  return `${(count / divisor).toFixed(1).replace(/\.0$/, '')}${unit}`;
}
