import { setTimeout as wait } from 'node:timers/promises';
import { isRecord, withoutUndefined } from '../../../protocol/base/json.ts';
import { durationSeconds } from '../../base/duration.ts';
import { isKind, RunnerError } from '../../base/errors.ts';
import { readModels } from '../http/answerBody.ts';
import { detailsOf } from '../http/answerFailure.ts';
import type { ChatRequest, FillRequest, LoadOptions, WorkStep } from '../runner.ts';
import { failureOfEvent } from './errorTexts.ts';
import { countOf, type Entries, isLoaded, type ModelEntry } from './modelList.ts';
import { OpenaiRunner } from './openaiRunner.ts';

/** LM Studio, which says more about its models than OpenAI's API does. */
export class LmStudioRunner extends OpenaiRunner {
  /** Old versions have a shorter list, and the oldest only OpenAI's. */
  protected override async entries(signal: AbortSignal): Promise<Entries> {
    for (const [path, field, read] of [
      ['/api/v1/models', 'models', entryOf],
      ['/api/v0/models', 'data', oldEntryOf],
    ] as const) {
      // It answers an unknown path with status 200, so only the field counts.
      const answer = await this.get(path, signal).catch((error) =>
        isKind(error, 'not-supported') ? undefined : Promise.reject(error),
      );
      if (isRecord(answer) && Array.isArray(answer[field])) return readModels(answer[field], read);
    }
    return super.entries(signal);
  }

  /** How long it keeps a model that a chat has loaded, in seconds. It knows no time for ever. */
  protected override async fieldsOf(use: 'chat' | 'fill', { keepAlive }: ChatRequest | FillRequest) {
    const seconds = use === 'chat' ? Math.ceil(durationSeconds(keepAlive) ?? 0) : 0;
    return seconds > 0 ? { ttl: seconds } : {};
  }
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

/** LM Studio since version 0.4, which loads and fetches models on request. */
export class LmStudioLoader extends LmStudioRunner {
  async load(model: string, { contextLength }: LoadOptions, signal: AbortSignal): Promise<void> {
    const entry = await this.find(model, signal);
    // It would load the model a second time.
    if (isLoaded(entry)) return;
    const window = contextLength === undefined ? {} : { context_length: contextLength };
    const body = { model: entry.name, ...window };
    await this.#ask('POST', '/api/v1/models/load', { body, model, signal });
  }

  async unload(model: string, signal: AbortSignal): Promise<void> {
    const { instances = [] } = await this.find(model, signal);
    for (const instance of instances)
      await this.#ask('POST', '/api/v1/models/unload', { body: { instance_id: instance }, model, signal });
  }

  async *pull(model: string, signal: AbortSignal): AsyncGenerator<readonly WorkStep[]> {
    let state = await this.#ask('POST', '/api/v1/models/download', { body: { model }, model, signal });
    const path = `/api/v1/models/download/status/${encodeURIComponent(String(state['job_id']))}`;
    for (;;) {
      const { status, total_size_bytes: total, downloaded_bytes: completed } = state;
      if (status === 'completed' || status === 'already_downloaded') break;
      if (status !== 'downloading' && status !== 'paused')
        throw failedDownload(model).with(detailsOf(this.transport.subject(model)));
      const bytes = { total: countOf(total) ?? 0, completed: countOf(completed) ?? 0 };
      yield [{ status: `pulling ${model}`, digest: model, ...bytes }];
      await wait(askEvery, undefined, { signal });
      state = await this.#ask('GET', path, { model, signal });
    }
    yield [{ status: 'success' }];
  }

  async #ask(
    method: 'GET' | 'POST',
    path: string,
    about: { readonly body?: object; readonly model: string; readonly signal: AbortSignal },
  ) {
    const answer = await this.transport.json({ ...about, method, path, wait: 'work' });
    const value = isRecord(answer) ? answer : {};
    if ('error' in value && value['error'] !== null)
      throw failureOfEvent(value, this.transport.subject(about.model));
    return value;
  }
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
