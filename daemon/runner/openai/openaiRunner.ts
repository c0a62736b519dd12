import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { withTimeLimit } from '../../../protocol/base/abort.ts';
import { isRecord } from '../../../protocol/base/json.ts';
import { withoutUndefined } from '../../../protocol/base/withoutUndefined.ts';
import type { Tool } from '../../../protocol/messages/chat.ts';
import { RunnerError } from '../../base/errors.ts';
import { detailsOf, notSupported } from '../http/answerFailure.ts';
import type { Transport } from '../http/transport.ts';
import type { ChatRequest, FillRequest, Runner, Server, ServerFacts, ShownModel } from '../runner.ts';
import { ChatAnswer, createFillReader, endedEarly, nothing } from './chatAnswer.ts';
import { isSchemaRefusal, noSuchModel, openaiErrors } from './errorTexts.ts';
import { readEvents, type ServerSentEvent } from './eventStream.ts';
import { lifetimeOf, listLmStudio, lmStudioOperations } from './lmStudio.ts';
import { isLoaded, type ModelEntry, parseEntries } from './modelList.ts';
import { type Props, parseProps } from './props.ts';
import { versionOf } from './recognise.ts';
import { chatBody, completionBody, infillBody, type ModelBody, withSimpleSchema } from './requests.ts';
import { createRouter } from './router.ts';
import { RouterEvents } from './routerEvents.ts';
import { reasonToWait, sayingWhy } from './waiting.ts';

/** A server that speaks OpenAI's API, with what its product has beyond that. */
export function createOpenaiRunner(server: Server, connection: Transport, facts: ServerFacts): Runner {
  const transport = connection.speaking(openaiErrors);
  const isLlama = facts.product === 'llama.cpp';
  const isRouter = isLlama && facts.can.includes('load');
  const events = new RouterEvents(transport);
  const isStudio = facts.product === 'lmstudio';
  const isVllm = facts.product === 'vllm';
  const get = (path: string, signal: AbortSignal) => transport.json({ method: 'GET', path, signal });
  const post = (path: string, body: ModelBody, signal: AbortSignal) =>
    transport.json({ method: 'POST', path, body, model: body.model, signal });

  /** Of a router, the properties of a model are known while it is loaded. Asking must not load it. */
  const propsOf = async (signal: AbortSignal, model?: string): Promise<Props | undefined> => {
    if (!isLlama) return undefined;
    const query = model === undefined ? '' : `?model=${encodeURIComponent(model)}&autoload=false`;
    try {
      return parseProps(await get(`/props${query}`, signal));
    } catch (error) {
      // Whoever must have a token for these has none for a chat either.
      if (error instanceof RunnerError && !error.data.retryable && error.status !== 401) return undefined;
      throw error;
    }
  };

  const entries = async (signal: AbortSignal) => {
    const [{ models, leftOut }, props] = await Promise.all([
      isStudio ? listLmStudio(transport, signal) : get('/v1/models', signal).then(parseEntries),
      isRouter ? undefined : propsOf(signal),
    ]);
    if (isRouter) return { models: routed(models, events), leftOut };
    const [only] = models;
    const isSingle = only && models.length === 1 && props && !props.isRouter;
    return { models: isSingle ? [withProps(only, props)] : models, leftOut };
  };

  const tryFind = async (model: string, signal: AbortSignal): Promise<ModelEntry | undefined> =>
    (await entries(signal)).models.find((entry) => isNamed(entry, model));

  const find = async (model: string, signal: AbortSignal): Promise<ModelEntry> => {
    const found = await tryFind(model, signal);
    if (!found) throw noSuchModel(transport.subject(model)).with(detailsOf(transport.subject(model)));
    return found;
  };

  /** llama.cpp answers under any name, so the name is looked up first; once, as long as the connection holds. */
  const known = new Set<string>();
  const slots = new Slots();
  const requireModel = async (model: string, signal: AbortSignal) => {
    if (!isLlama) return;
    const entry = known.has(model) ? undefined : await find(model, signal);
    known.add(model);
    if (slots.totals.has(model)) return;
    const total = entry?.slots ?? (await propsOf(signal, model))?.slots;
    if (total !== undefined) slots.totals.set(model, total);
  };

  /** Whether llama.cpp fills gaps with this model's own tokens. It refuses before it does any work. */
  const canInfill = async (model: string, signal: AbortSignal): Promise<boolean> => {
    const body = { model, input_prefix: '', input_suffix: '', n_predict: 0 };
    const limit = { limit: refusesWithin, reason: waitsForSlot, signal };
    try {
      await withTimeLimit(limit, (inTime) => post('/infill', body, inTime));
      return true;
    } catch (error) {
      if (error === waitsForSlot) return true;
      if (error instanceof RunnerError && !error.data.retryable) return false;
      throw error;
    }
  };

  async function* partsUntilDone<T extends { readonly done: boolean }>(
    { path, body, slotFor }: StreamRequest,
    read: (event: ServerSentEvent) => T | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<readonly T[]> {
    const { model } = body;
    await requireModel(model, signal);
    const whole = { ...body, ...slotFor(model), stream: true };
    const request = { method: 'POST', path, body: whole, model, signal } as const;
    for await (const events of transport.stream({ ...request, wait: 'firstByte' }, readEvents)) {
      const { parts, failure } = readAll(events, read);
      yield parts;
      if (failure !== undefined) throw failure;
      if (parts.at(-1)?.done) return;
    }
    throw endedEarly(transport.subject(model));
  }

  /** The tools of whose schemas the server could make no grammar. It does not say which one it was. */
  const refused = new Set<string>();
  const refuseSchemas = (tools: readonly Tool[]): readonly string[] => {
    const odd = tools.filter(
      (tool) => !refused.has(tool.name) && !isDeepStrictEqual(withSimpleSchema(tool), tool),
    );
    for (const { name } of odd) refused.add(name);
    return odd.map(({ name }) => name);
  };
  const bodyOf = (request: ChatRequest): ModelBody => {
    const tools = request.tools.map((tool) => (refused.has(tool.name) ? withSimpleSchema(tool) : tool));
    return chatBody({ ...request, tools });
  };

  const chat = (request: ChatRequest, signal: AbortSignal) => {
    const answer = new ChatAnswer(transport.subject(request.model));
    const lifetime = isStudio ? lifetimeOf(request) : {};
    const body = { ...bodyOf(request), ...lifetime, stream_options: { include_usage: true } };
    const asked = { path: '/v1/chat/completions', body, slotFor: (model: string) => slots.forChat(model) };
    const parts = partsUntilDone(asked, (event) => answer.read(event), signal);
    if (!isLlama && !isStudio) return parts;
    return sayingWhy(parts, async () => reasonToWait(transport, await find(request.model, signal), signal));
  };

  return {
    server,
    facts,
    async identify(signal) {
      if (isLlama) return withoutUndefined({ version: (await propsOf(signal))?.version });
      await get('/v1/models', signal);
      return withoutUndefined({ version: isVllm ? await versionOf(transport, signal) : undefined });
    },
    async list(signal) {
      const { models, leftOut } = await entries(signal);
      return { models: models.filter(({ state }) => state !== 'downloading'), leftOut };
    },
    async running(signal) {
      const { models } = await entries(signal);
      const running = models.filter((model) => isLoaded(model) && model.state !== 'sleeping');
      return running.map(({ size: _, ...model }) => ({ ...model, expiresAt: never }));
    },
    async show(model, signal) {
      const entry = await find(model, signal);
      if (isRouter && !isLoaded(entry)) return { ...shownModel(entry, undefined, false), isPartial: true };
      const props = await propsOf(signal, model);
      const insert = props !== undefined && (await canInfill(model, signal));
      return shownModel(entry, props, insert);
    },
    async *chat(request, signal) {
      try {
        yield* chat(request, signal);
      } catch (error) {
        const names = isSchemaRefusal(error) ? refuseSchemas(request.tools) : [];
        if (names.length === 0) throw error;
        yield [{ ...nothing, simplified: names }];
        yield* chat(request, signal);
      }
    },
    fill(request, signal) {
      const read = createFillReader(transport.subject(request.model));
      const asked = fillBody(request, isLlama, transport);
      const slotFor = (model: string) => slots.forCompletion(model);
      return partsUntilDone({ ...asked, slotFor }, read, signal);
    },
    ...(facts.can.includes('count') && { count: (request, signal) => count(request, signal) }),
    ...(isRouter && createRouter({ transport, events, find: tryFind, require: find })),
    ...(isStudio && facts.can.includes('load') && lmStudioOperations(transport, find)),
    close: () => transport.close(),
  };

  async function count(request: ChatRequest, signal: AbortSignal): Promise<number> {
    // A router would load the model to count.
    const path = isLlama ? '/v1/chat/completions/input_tokens?autoload=false' : '/tokenize';
    const said = await post(path, bodyOf(request), signal);
    const counted = isRecord(said) ? (said['input_tokens'] ?? said['count']) : undefined;
    if (typeof counted === 'number' && counted > 0) return counted;
    throw new RunnerError('bad-response', 'The runner did not say how long the prompt is. Ask again.');
  }
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

/** A request whose answer is streamed. */
interface StreamRequest {
  readonly path: string;
  readonly body: ModelBody;
  /** The field for the slot, once the server is known to have the model. */
  readonly slotFor: (model: string) => object;
}

/** The parts of one read, up to the one that ends the answer or to a failure. */
function readAll<T extends { readonly done: boolean }>(
  events: readonly ServerSentEvent[],
  read: (event: ServerSentEvent) => T | undefined,
): { readonly parts: readonly T[]; readonly failure?: unknown } {
  const parts: T[] = [];
  try {
    for (const event of events) {
      const part = read(event);
      if (part) parts.push(part);
      if (part?.done) break;
    }
    return { parts };
  } catch (failure) {
    return { parts, failure };
  }
}

function fillBody(request: FillRequest, isLlama: boolean, transport: Transport) {
  const { text, model } = request;
  if ('prompt' in text) return { path: '/v1/completions', body: completionBody(request, text.prompt) };
  // The suffix of `/v1/completions` is ignored in silence by llama.cpp, and most others do not know it.
  if (!isLlama) throw notSupported('insert', transport.subject(model));
  return { path: '/infill', body: infillBody(request, text) };
}

/**
 * A model that cannot fill gaps is refused at once. A request that is still open after so many ms waits for a slot, so
 * the model can.
 */
const refusesWithin = 1_000;
const waitsForSlot = new Error('All slots are busy.');

/** A model of a server without a router stays loaded as long as the server runs. */
const never = '9999-12-31T23:59:59.000Z';

/** How far the models of a router have come that it loads. What an unloaded one can do is known in part. */
function routed(models: readonly ModelEntry[], events: RouterEvents): readonly ModelEntry[] {
  const isLoading = ({ state }: ModelEntry) => state === 'loading';
  const states = events.loadingStates(models.filter(isLoading).map(({ name }) => name));
  return models.map((entry) => {
    const { capabilities, ...rest } = entry;
    if (isLoaded(entry)) return rest;
    const loading = isLoading(entry) ? { loading: states.get(entry.name) ?? {} } : {};
    return { ...entry, capabilities: capabilities ?? ['completion'], ...loading };
  });
}

function isNamed({ name, aliases = [] }: ModelEntry, asked: string): boolean {
  return [name, ...aliases].some((known) => known.toLowerCase() === asked.toLowerCase());
}

/** What the only model of a server can do. The server may be started again with other files and the same name. */
function withProps(entry: ModelEntry, props: Props): ModelEntry {
  const { window, slots, capabilities, template, isSleeping } = props;
  const identity = [entry.size, entry.parameterSize, entry.quantization, capabilities, template];
  const mark = createHash('sha256').update(JSON.stringify(identity)).digest('hex');
  const allocatedContext = window ?? entry.allocatedContext;
  const lacks = (['tools', 'vision'] as const).filter((name) => !capabilities.includes(name));
  const state = isSleeping ? 'sleeping' : entry.state;
  return withoutUndefined<ModelEntry>({
    ...entry,
    mark,
    slots,
    capabilities,
    lacks,
    allocatedContext,
    state,
  });
}

function shownModel(entry: ModelEntry, props: Props | undefined, insert: boolean): ShownModel {
  const { maximumContext, parameterSize, quantization } = entry;
  return withoutUndefined<ShownModel>({
    maximumContext,
    parameterSize,
    quantization,
    turns: 'written',
    capabilities: props && [...props.capabilities, ...(insert ? ['insert'] : [])],
    template: props?.template,
    opensThinking: props?.opensThinking || undefined,
    leavesCalls: props?.leavesCalls,
  });
}
