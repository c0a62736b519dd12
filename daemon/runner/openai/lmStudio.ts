import { setTimeout as wait } from 'node:timers/promises';
import { isRecord } from '../../../protocol/base/json.ts';
import { withoutUndefined } from '../../../protocol/base/withoutUndefined.ts';
import { durationSeconds } from '../../base/duration.ts';
import { RunnerError } from '../../base/errors.ts';
import { detailsOf, isKind } from '../http/answerFailure.ts';
import type { Look, Transport } from '../http/transport.ts';
import type { ChatRequest, ModelList, Runner, WorkStep } from '../runner.ts';
import { failureOfEvent } from './errorTexts.ts';
import { countOf, isLoaded, type ModelEntry, parseEntries, readList } from './modelList.ts';

type Entries = ModelList & { readonly models: readonly ModelEntry[] };

/** What LM Studio says about its models. Old versions have a shorter list, and the oldest only OpenAI's. */
export async function listLmStudio(transport: Transport, signal: AbortSignal): Promise<Entries> {
  for (const [path, field, read] of [
    ['/api/v1/models', 'models', entryOf],
    ['/api/v0/models', 'data', oldEntryOf],
  ] as const) {
    // It answers an unknown path with status 200, so only the field counts.
    const answer = await transport
      .json({ method: 'GET', path, signal })
      .catch((error) => (isKind(error, 'not-supported') ? undefined : Promise.reject(error)));
    if (isRecord(answer) && Array.isArray(answer[field])) return readList(answer[field], read);
  }
  return parseEntries(await transport.json({ method: 'GET', path: '/v1/models', signal }));
}

/** Whether an answer to a path that LM Studio does not know is its own. */
export function isLmStudio({ header, text }: Look): boolean {
  return /express/i.test(header('x-powered-by') ?? '') || /Unexpected endpoint or method/.test(text);
}

/** How long LM Studio keeps a model that a chat has loaded, in seconds. It knows no time for ever. */
export function lifetimeOf({ keepAlive }: Pick<ChatRequest, 'keepAlive'>): { readonly ttl?: number } {
  const seconds = Math.ceil(durationSeconds(keepAlive) ?? 0);
  return seconds > 0 ? { ttl: seconds } : {};
}

/** An entry of `/api/v1/models`. */
function entryOf(value: Readonly<Record<string, unknown>>): ModelEntry | undefined {
  const { key, type, quantization, params_string: parameters, loaded_instances: loaded } = value;
  if (typeof key !== 'string') return undefined;
  const instances = Array.isArray(loaded) ? loaded.filter(isRecord) : [];
  const config = instances.map((instance) => instance['config']).find(isRecord);
  return withoutUndefined<ModelEntry>({
    name: key,
    size: countOf(value['size_bytes']),
    family: textOf(value['architecture']),
    parameterSize: textOf(parameters),
    quantization: textOf(isRecord(quantization) ? quantization['name'] : quantization),
    maximumContext: countOf(value['max_context_length']),
    allocatedContext: countOf(config?.['context_length']),
    instances: instances.map(({ id }) => id).filter((id) => typeof id === 'string'),
    state: instances.length > 0 ? 'loaded' : 'unloaded',
    ...abilitiesOf(type === 'embedding', value['capabilities']),
  });
}

function abilitiesOf(isEmbedding: boolean, said: unknown): Pick<ModelEntry, 'capabilities' | 'lacks'> {
  if (isEmbedding) return { capabilities: ['embedding'], lacks: ['completion'] };
  const { vision, trained_for_tool_use: tools } = isRecord(said) ? said : {};
  const flags = [
    ['vision', vision],
    ['tools', tools],
  ] as const;
  const named = (flag: boolean) => flags.filter(([, value]) => value === flag).map(([name]) => name);
  return { capabilities: ['completion', ...named(true)], lacks: ['embedding', ...named(false)] };
}

/** An entry of `/api/v0/models`. */
function oldEntryOf(value: Readonly<Record<string, unknown>>): ModelEntry | undefined {
  const { id, type, state, capabilities } = value;
  if (typeof id !== 'string') return undefined;
  const usesTools = Array.isArray(capabilities) ? capabilities.includes('tool_use') : undefined;
  return withoutUndefined<ModelEntry>({
    name: id,
    family: textOf(value['arch']),
    quantization: textOf(value['quantization']),
    maximumContext: countOf(value['max_context_length']),
    allocatedContext: countOf(value['loaded_context_length']),
    state: state === 'loaded' ? 'loaded' : 'unloaded',
    ...abilitiesOf(type === 'embeddings', { vision: type === 'vlm', trained_for_tool_use: usesTools }),
  });
}

/** How often a download is asked how far it has come, in ms. */
const askEvery = 500;

/** What LM Studio does with its models on request. */
export function lmStudioOperations(
  transport: Transport,
  find: (model: string, signal: AbortSignal) => Promise<ModelEntry>,
): Required<Pick<Runner, 'load' | 'unload' | 'pull'>> {
  const ask = async (
    method: 'GET' | 'POST',
    path: string,
    about: { readonly body?: object; readonly model: string; readonly signal: AbortSignal },
  ) => {
    const { body, model, signal } = about;
    const answer = await transport.json({ method, path, body, model, wait: 'work', signal });
    const value = isRecord(answer) ? answer : {};
    if ('error' in value && value['error'] !== null) throw failureOfEvent(value, transport.subject(model));
    return value;
  };
  return {
    async load(model, { contextLength }, signal) {
      const entry = await find(model, signal);
      // It would load the model a second time.
      if (isLoaded(entry)) return;
      const window = contextLength === undefined ? {} : { context_length: contextLength };
      await ask('POST', '/api/v1/models/load', { body: { model: entry.name, ...window }, model, signal });
    },
    async unload(model, signal) {
      const { instances = [] } = await find(model, signal);
      for (const instance of instances)
        await ask('POST', '/api/v1/models/unload', { body: { instance_id: instance }, model, signal });
    },
    async *pull(model, signal): AsyncGenerator<readonly WorkStep[]> {
      let state = await ask('POST', '/api/v1/models/download', { body: { model }, model, signal });
      const path = `/api/v1/models/download/status/${encodeURIComponent(String(state['job_id']))}`;
      for (;;) {
        const { status, total_size_bytes: total, downloaded_bytes: completed } = state;
        if (status === 'completed' || status === 'already_downloaded') break;
        if (status !== 'downloading' && status !== 'paused')
          throw failedDownload(model).with(detailsOf(transport.subject(model)));
        const bytes = { total: countOf(total) ?? 0, completed: countOf(completed) ?? 0 };
        yield [{ status: `pulling ${model}`, digest: model, ...bytes }];
        await wait(askEvery, undefined, { signal });
        state = await ask('GET', path, { model, signal });
      }
      yield [{ status: 'success' }];
    },
  };
}

function failedDownload(model: string): RunnerError {
  return new RunnerError(
    'runner-failed',
    `LM Studio could not download ${model}. Look at its downloads, and try again.`,
  );
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, 100) : undefined;
}
