import { isRecord, withoutUndefined } from '../../../protocol/base/json.ts';
import { advise, RunnerError } from '../../base/errors.ts';
import { endsInOpenThinking } from '../chatTemplate.ts';
import { readModels } from '../http/answerBody.ts';
import type { ListedModel, ModelList } from '../runner.ts';

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

export interface Entries extends ModelList {
  readonly models: readonly ModelEntry[];
}

/** Whether it is in memory. A server without a router has its only model loaded, unless it says nothing about it. */
export function isLoaded({ state, allocatedContext }: ModelEntry): boolean {
  return state === undefined ? allocatedContext !== undefined : state === 'loaded' || state === 'sleeping';
}

/** The entries of `/v1/models`. Fields that are missing or have a wrong type are left out. */
export function parseEntries(value: unknown): Entries {
  const list = isRecord(value) ? value['data'] : undefined;
  if (Array.isArray(list)) return readModels(list, entryOf);
  throw new RunnerError(
    'bad-response',
    advise('The runner sent a list of models that does not have the form of the API.', 'check-address'),
  );
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

/** What llama.cpp's `/props` says about its model. */
export interface Props {
  /** Tokens of the window of one slot. */
  readonly window?: number;
  /** How many requests it answers at once. */
  readonly slots?: number;
  readonly template?: string;
  readonly capabilities: readonly string[];
  readonly opensThinking: boolean;
  /** Only our own engine says so. */
  readonly leavesCalls?: true;
  readonly isRouter: boolean;
  /** Its model was unloaded after a time without requests. The next one loads it again. */
  readonly isSleeping?: true;
  readonly version?: string;
}

/** The most characters of a template that are kept. */
const maxTemplate = 256 * 1024;

export function parseProps(value: unknown): Props {
  const props = isRecord(value) ? value : {};
  const settings = isRecord(props['default_generation_settings']) ? props['default_generation_settings'] : {};
  const caps = isRecord(props['chat_template_caps']) ? props['chat_template_caps'] : {};
  const modalities = isRecord(props['modalities']) ? props['modalities'] : {};
  const { chat_template: text, build_info: version } = props;
  const template = typeof text === 'string' && text.length <= maxTemplate ? text : undefined;
  const { total_slots: slots } = props;
  const window = settings['n_ctx'];
  const thinks = template !== undefined && /<think(?:ing)?>|reasoning_content/i.test(template);
  return withoutUndefined<Props>({
    window: typeof window === 'number' && window > 0 ? window : undefined,
    slots: typeof slots === 'number' && slots > 0 ? slots : undefined,
    template,
    capabilities: [
      'completion',
      ...(caps['supports_tools'] === true ? ['tools'] : []),
      ...(modalities['vision'] === true ? ['vision'] : []),
      ...(thinks ? ['thinking'] : []),
    ],
    // The server splits what it knows as thinking; the rest begins as the template ends.
    opensThinking: !thinks && template !== undefined && endsInOpenThinking(template),
    leavesCalls: props['parses_tool_calls'] === false || undefined,
    isRouter: props['role'] === 'router',
    isSleeping: props['is_sleeping'] === true || undefined,
    version: typeof version === 'string' ? version.slice(0, 64) : undefined,
  });
}
