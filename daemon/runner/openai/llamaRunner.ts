import { createHash } from 'node:crypto';
import { withTimeLimit } from '../../../protocol/base/abort.ts';
import { withoutUndefined } from '../../../protocol/base/json.ts';
import { RunnerError } from '../../base/errors.ts';
import type { ChatRequest, FillRequest, Identity, ShownModel } from '../runner.ts';
import { type Entries, type ModelEntry, type Props, parseProps } from './modelList.ts';
import { OpenaiRunner, type StreamRequest, shownModel } from './openaiRunner.ts';
import { infillBody } from './requests.ts';

/** A `llama-server` with one model, or what speaks as it does, such as our own engine. */
export class LlamaRunner extends OpenaiRunner {
  // A router would load the model to count.
  protected override readonly countPath = '/v1/chat/completions/input_tokens?autoload=false';
  /** llama.cpp answers under any name, so the name is looked up first; once, as long as the connection holds. */
  readonly #known = new Set<string>();
  readonly #slots = new Slots();

  override async identify(signal: AbortSignal): Promise<Identity> {
    return withoutUndefined({ version: (await this.propsOf(signal))?.version });
  }

  override async show(model: string, signal: AbortSignal): Promise<ShownModel> {
    return this.describe(await this.find(model, signal), model, signal);
  }

  protected async describe(entry: ModelEntry, model: string, signal: AbortSignal): Promise<ShownModel> {
    const props = await this.propsOf(signal, model);
    const insert = props !== undefined && (await this.#canInfill(model, signal));
    return shownModel(entry, props, insert);
  }

  protected override async entries(signal: AbortSignal): Promise<Entries> {
    const [{ models, leftOut }, props] = await Promise.all([super.entries(signal), this.propsOf(signal)]);
    const [only] = models;
    const isSingle = only && models.length === 1 && props && !props.isRouter;
    return { models: isSingle ? [withProps(only, props)] : models, leftOut };
  }

  protected override async fieldsOf(
    use: 'chat' | 'fill',
    { model }: ChatRequest | FillRequest,
    signal: AbortSignal,
  ): Promise<object> {
    const entry = this.#known.has(model) ? undefined : await this.find(model, signal);
    this.#known.add(model);
    if (!this.#slots.totals.has(model)) {
      const total = entry?.slots ?? (await this.propsOf(signal, model))?.slots;
      if (total !== undefined) this.#slots.totals.set(model, total);
    }
    return use === 'chat' ? this.#slots.forChat(model) : this.#slots.forCompletion(model);
  }

  protected override fillRequest(request: FillRequest): StreamRequest {
    const { text } = request;
    return 'prompt' in text
      ? super.fillRequest(request)
      : { path: '/infill', body: infillBody(request, text) };
  }

  /** Of a router, the properties of a model are known while it is loaded. Asking must not load it. */
  protected async propsOf(signal: AbortSignal, model?: string): Promise<Props | undefined> {
    const query = model === undefined ? '' : `?model=${encodeURIComponent(model)}&autoload=false`;
    try {
      return parseProps(await this.get(`/props${query}`, signal));
    } catch (error) {
      // Whoever must have a token for these has none for a chat either.
      if (error instanceof RunnerError && !error.data.retryable && error.status !== 401) return undefined;
      throw error;
    }
  }

  /** Whether llama.cpp fills gaps with this model's own tokens. It refuses before it does any work. */
  async #canInfill(model: string, signal: AbortSignal): Promise<boolean> {
    const body = { model, input_prefix: '', input_suffix: '', n_predict: 0 };
    const limit = { limit: refusesWithin, reason: waitsForSlot, signal };
    try {
      await withTimeLimit(limit, (inTime) => this.post('/infill', body, inTime));
      return true;
    } catch (error) {
      if (error === waitsForSlot) return true;
      if (error instanceof RunnerError && !error.data.retryable) return false;
      throw error;
    }
  }
}

/**
 * A model that cannot fill gaps is refused at once. A request that is still open after so many ms waits for a slot, so
 * the model can.
 */
const refusesWithin = 1_000;
const waitsForSlot = new Error('All slots are busy.');

/** What the only model of a server can do. The server may be started again with other files and the same name. */
function withProps(entry: ModelEntry, props: Props): ModelEntry {
  const { window, slots, capabilities, template, isSleeping } = props;
  const identity = [entry.size, entry.parameterSize, entry.quantization, capabilities, template];
  return withoutUndefined<ModelEntry>({
    ...entry,
    mark: createHash('sha256').update(JSON.stringify(identity)).digest('hex'),
    slots,
    capabilities,
    lacks: (['tools', 'vision'] as const).filter((name) => !capabilities.includes(name)),
    allocatedContext: window ?? entry.allocatedContext,
    state: isSleeping ? 'sleeping' : entry.state,
  });
}

/**
 * Which slots of a llama.cpp server the requests for a model ask for. A slot keeps the last prompt that it has read.
 * All completions share the last slot, so each of them finds the one before it there. A chat takes any other: with two
 * slots it asks for the first one as soon as there are completions, with more the server chooses the one that was
 * unused longest.
 */
class Slots {
  /** By the name of the model. */
  readonly totals = new Map<string, number>();
  readonly #completing = new Set<string>();

  forCompletion(model: string): { readonly id_slot?: number } {
    const total = this.totals.get(model) ?? 1;
    if (total < 2) return {};
    this.#completing.add(model);
    return { id_slot: total - 1 };
  }

  forChat(model: string): { readonly id_slot?: number } {
    return this.totals.get(model) === 2 && this.#completing.has(model) ? { id_slot: 0 } : {};
  }
}
